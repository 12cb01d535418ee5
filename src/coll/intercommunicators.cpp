#include "sinew/coll/intercommunicators.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "coll/collective_messages.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coll {
namespace {

core::group part_of(const core::group& g, int begin, int end) {
  const auto all = g.members();
  return core::group(std::vector<job_rank>(all.begin() + begin, all.begin() + end));
}

/// What a leader tells the other one, and then its group: followed by the members of its group.
struct introduction {
  std::int32_t present = 0;  ///< 0: it could not
  std::int32_t size = 0;
  std::uint32_t context = 0;  ///< of its local communicator
  std::int32_t leader = 0;    ///< its rank in the job
};

struct other_group {
  introduction about;
  core::group members;
};

/// What the remote leader says of its group. At the leader only.
other_group introduce(participant local, const leaders_link& link) {
  SINEW_EXPECT(link.remote_leader.below(link.peer.size()));
  local.engine.meet(link.peer.job_rank(link.remote_leader));
  const int pair[] = {link.peer.rank().value(), link.remote_leader.value()};
  collective_messages t({local.engine, link.peer}, pair, 0, group_tag(link.tag));
  const introduction own{1, local.comm.size(), local.comm.context().value(),
                         local.engine.runtime().rank().value()};
  other_group other;
  t.exchange(buffer::of_bytes(&own, sizeof own), 1,
             buffer::of_bytes(&other.about, sizeof other.about), 1);
  SINEW_ASSERT(other.about.size > 0);
  const auto mine = local.comm.members().members();
  std::vector<job_rank> theirs(static_cast<std::size_t>(other.about.size));
  t.exchange(buffer::of_bytes(mine.data(), mine.size_bytes()), 1,
             buffer::of_bytes(theirs.data(), theirs.size() * sizeof(job_rank)), 1);
  other.members = core::group(std::move(theirs));
  return other;
}

/// The same on all ranks of `local`.
other_group tell_group(participant local, comm_rank leader, other_group known) {
  SINEW_EXPECT(leader.below(local.comm.size()));
  (void)bcast(local, buffer::of_bytes(&known.about, sizeof known.about), leader);
  std::vector<job_rank> theirs(known.members.members().begin(), known.members.members().end());
  theirs.resize(static_cast<std::size_t>(known.about.size));
  (void)bcast(local, buffer::of_bytes(theirs.data(), theirs.size() * sizeof(job_rank)), leader);
  for (const job_rank each : theirs) {
    local.engine.meet(each);
  }
  known.members = core::group(std::move(theirs));
  return known;
}

/// A tag for the making of the communicator of both groups: other such makings that overlap with
/// it at the same time have another local communicator, leader or tag, so by (nearly) all chances
/// another number. Both groups compute it from the same words.
message_tag tag_for(std::span<const std::uint32_t> words) {
  std::uint64_t mixed = 0xcbf29ce484222325;  // FNV-1a, a word at a time
  for (const std::uint32_t w : words) {
    mixed = (mixed ^ w) * 0x100000001b3;
    mixed ^= mixed >> 29;
  }
  return message_tag{static_cast<int>((mixed ^ mixed >> 32) & 0x7fffffff)};
}

}  // namespace

intercommunicator::intercommunicator(p2p::engine& engine, communicator_ref all, int first)
    : all_(std::move(all)), first_(first) {
  SINEW_EXPECT(first > 0 && first < all_->size());
  const core::group& members = all_->members();
  const core::group one = part_of(members, 0, first);
  const core::group two = part_of(members, first, all_->size());
  local_ = in_first() ? one : two;
  const comm_rank rank{all_->rank().value() - (in_first() ? 0 : first)};
  auto view = std::make_unique<core::communicator>(all_->context(), in_first() ? two : one, rank);
  engine.attach_as(*view, *all_);
  across_ = {view.release(), [keep = all_](core::communicator* c) { delete c; }};
  SINEW_ENSURE(local_[rank] == members[all_->rank()]);
}

intercommunicator_ref connect(participant local, comm_rank leader, const leaders_link* link,
                              core::communicator& job) {
  other_group other;
  if (local.comm.rank() == leader && link != nullptr) {
    other = introduce(local, *link);
  }
  message_tag tag = link != nullptr ? link->tag : message_tag{0};
  other = tell_group(local, leader, std::move(other));
  SINEW_CHECK(other.about.present != 0, "there is no intercommunicator",
              "the arguments of the group's leader were wrong", "see what the leader says");
  (void)bcast(local, buffer::of_bytes(&tag, sizeof tag), leader);
  const core::group& mine = local.comm.members();
  if (core::group::intersect(mine, other.members).size() != 0) {
    return nullptr;
  }
  // Disjoint groups, so that one of them has the lower first member.
  const bool first = mine[0] < other.members[0];
  const auto own_leader = static_cast<std::uint32_t>(mine[leader].value());
  const auto their_leader = static_cast<std::uint32_t>(other.about.leader);
  const std::uint32_t own[] = {local.comm.context().value(), own_leader};
  const std::uint32_t theirs[] = {other.about.context, their_leader};
  const auto& [a, b] = first ? std::tie(own, theirs) : std::tie(theirs, own);
  const std::uint32_t words[] = {a[0], a[1], b[0], b[1], static_cast<std::uint32_t>(tag.value())};
  const core::group both =
      first ? core::group::unite(mine, other.members) : core::group::unite(other.members, mine);
  return std::make_shared<intercommunicator>(
      local.engine, create_group({local.engine, job}, both, tag_for(words)),
      first ? mine.size() : other.members.size());
}

intercommunicator_ref duplicate(p2p::engine& engine, const intercommunicator& i) {
  return std::make_shared<intercommunicator>(engine, duplicate(participant{engine, *i.all()}),
                                             i.first_size());
}

intercommunicator_ref split(p2p::engine& engine, const intercommunicator& i, int color, int key) {
  struct choice {
    std::int32_t color, second, key, rank;
  };
  const participant at{engine, *i.all()};
  const choice own{color, i.in_first() ? 0 : 1, key, i.all()->rank().value()};
  std::vector<choice> all(static_cast<std::size_t>(at.comm.size()));
  [[maybe_unused]] const fault f =
      allgather(at, buffer::of_bytes(&own, sizeof own), buffer::of_bytes(all.data(), sizeof own));
  SINEW_ASSERT(f == fault::none);
  std::erase_if(all, [&](const choice& c) { return c.color != color; });
  std::sort(all.begin(), all.end(), [](const choice& a, const choice& b) {
    return std::tie(a.second, a.key, a.rank) < std::tie(b.second, b.key, b.rank);
  });
  const auto first =
      std::count_if(all.begin(), all.end(), [](const choice& c) { return c.second == 0; });
  const bool both = first != 0 && first != static_cast<std::ptrdiff_t>(all.size());
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const choice& c) { return c.rank == own.rank; });
  communicator_ref made = split(at, both ? color : -1, static_cast<int>(place - all.begin()));
  SINEW_ENSURE((made != nullptr) == (both && color >= 0));
  return made == nullptr ? nullptr
                         : std::make_shared<intercommunicator>(engine, std::move(made),
                                                               static_cast<int>(first));
}

communicator_ref merge(p2p::engine& engine, const intercommunicator& i, bool high) {
  const participant at{engine, *i.all()};
  const char own = high ? 1 : 0;
  std::vector<char> all(static_cast<std::size_t>(at.comm.size()));
  [[maybe_unused]] const fault f =
      allgather(at, buffer::of_bytes(&own, 1), buffer::of_bytes(all.data(), 1));
  SINEW_ASSERT(f == fault::none);
  // A group's lowest rank speaks for it; if both say the same, the first group comes first.
  const bool swapped = all.front() > all[static_cast<std::size_t>(i.first_size())];
  const int n = at.comm.size();
  const int rank = at.comm.rank().value();
  return split(at, 0, swapped ? (rank - i.first_size() + n) % n : rank);
}

}  // namespace sinew::coll
