// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/coll/intercommunicators.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "coll/collective_messages.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/core/outside.hpp"

namespace sinew::coll {
namespace {

core::group part_of(const core::group& g, int begin, int end) {
  const auto all = g.members();
  return core::group(std::vector<job_rank>(all.begin() + begin, all.begin() + end));
}

/// What a leader tells the other one, and then its group.
struct introduction {
  std::int32_t present = 0;  ///< 0: it could not
  std::int32_t size = 0;
  std::uint32_t context = 0;  ///< of its local communicator
  std::int32_t leader = 0;    ///< its rank in the group
  std::uint64_t job = 0;      ///< its job, if all of the group are of that; else 0
  std::int32_t first = 0;     ///< 1: its group comes first, where the groups are of several jobs
  std::int32_t unused = 0;
};

/// How two leaders talk.
class leaders_talk {
 public:
  leaders_talk(participant local, const leaders_link& link)
      : pair_{link.peer.rank().value(), link.remote_leader.value()},
        messages_({local.engine, link.peer}, pair_, 0, group_tag(link.tag)) {
    SINEW_EXPECT(link.remote_leader.below(link.peer.size()));
  }
  /// False if the other leader has died: then `other` is unchanged or incomplete.
  [[nodiscard]] bool exchange(const void* own, std::size_t own_bytes, void* other,
                              std::size_t other_bytes) {
    messages_.exchange(buffer::of_bytes(own, own_bytes), 1, buffer::of_bytes(other, other_bytes),
                       1);
    return messages_.outcome() == fault::none;
  }

 private:
  int pair_[2];
  collective_messages messages_;
};

/// The other group's leader has to be alive.
void check_alive(bool leader_lives) {
  if (!leader_lives) {
    throw not_made(fault::peer_failed);
  }
}

/// What both groups are told of each other.
struct both_groups {
  introduction own, other;

  [[nodiscard]] bool of_one_job() const noexcept { return own.job != 0 && own.job == other.job; }
};

/// At the leader only.
both_groups introduce(participant local, const leaders_link& link, leaders_talk& talk) {
  SINEW_EXPECT(link.tag >= 0);
  core::runtime& rt = local.engine.runtime();
  const std::uint64_t job =
      spans_jobs(local.engine, local.comm.members()) ? 0 : core::name_of_job(rt);
  both_groups known;
  known.own = {1,
               local.comm.size(),
               local.comm.context().value(),
               local.comm.rank().value(),
               job,
               link.peer.rank() < link.remote_leader ? 1 : 0,
               0};
  if (!talk.exchange(&known.own, sizeof known.own, &known.other, sizeof known.other)) {
    known.other = {};
  }
  return known;
}

/// Whether it has more to tell than ranks of this job: the members of the other group, as ranks of
/// the job. The same on all ranks of `local`, as what follows.
core::group members_by_rank(participant local, comm_rank leader, const both_groups& known,
                            leaders_talk* talk) {
  const auto mine = local.comm.members().members();
  std::vector<job_rank> theirs(static_cast<std::size_t>(known.other.size));
  const std::size_t bytes = theirs.size() * sizeof(job_rank);
  if (talk != nullptr && !talk->exchange(mine.data(), mine.size_bytes(), theirs.data(), bytes)) {
    std::fill(theirs.begin(), theirs.end(), no_job_rank);
  }
  (void)bcast(local, buffer::of_bytes(theirs.data(), bytes), leader);
  for (const job_rank each : theirs) {
    check_alive(each.below(local.engine.runtime().reach()));
    local.engine.meet(each);
  }
  return core::group(std::move(theirs));
}

/// All that the ranks of `local` tell of themselves, one after the other; at the leader only.
std::string gather_residents(participant local, comm_rank leader) {
  std::string own;
  append(own, local.engine.outside().self());
  const std::uint64_t length = own.size();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(local.comm.size()));
  (void)allgather(local, buffer::of_bytes(&length, sizeof length),
                  buffer::of_bytes(lengths.data(), sizeof length));
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  own.resize(longest);
  std::string all(local.comm.rank() == leader ? longest * lengths.size() : 0, '\0');
  (void)gather(local, buffer::of_bytes(own.data(), longest), buffer::of_bytes(all.data(), longest),
               leader);
  std::string packed;
  for (std::size_t i = 0; i * longest < all.size(); ++i) {
    packed.append(all, i * longest, lengths[i]);
  }
  return packed;
}

/// The same of groups with ranks of several jobs: each rank has numbers of its own for the others.
core::group members_by_address(participant local, comm_rank leader, const both_groups& known,
                               leaders_talk* talk) {
  std::string mine = gather_residents(local, leader);
  std::string theirs;
  std::uint64_t length = mine.size();
  if (talk != nullptr) {
    std::uint64_t their_length = 0;
    bool lives = talk->exchange(&length, sizeof length, &their_length, sizeof their_length);
    theirs.resize(lives ? their_length : 0);
    lives = lives && talk->exchange(mine.data(), mine.size(), theirs.data(), theirs.size());
    length = lives ? their_length : 0;
  }
  (void)bcast(local, buffer::of_bytes(&length, sizeof length), leader);
  check_alive(length != 0);
  theirs.resize(length);
  (void)bcast(local, buffer::of_bytes(theirs.data(), theirs.size()), leader);
  std::vector<job_rank> numbers;
  std::string_view rest = theirs;
  for (std::int32_t i = 0; i < known.other.size; ++i) {
    const auto who = core::take_resident(rest);
    SINEW_CHECK(who.has_value(), "the groups cannot be connected",
                "what the other group's ranks tell of themselves makes no sense", "");
    const job_rank number = local.engine.outside().number_of(*who);
    if (number.below(local.engine.runtime().reach())) {
      local.engine.meet(number, who->tenant);
    }
    numbers.push_back(number);
  }
  return core::group(std::move(numbers));
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

namespace {

struct order {
  core::group both;
  int first;
  message_tag tag;
};

/// The ranks of both groups as both number them, and a tag that both compute.
order order_of(const core::group& mine, const core::group& theirs, const both_groups& known,
               message_tag tag) {
  // Disjoint groups, so that one of them has the lower first member.
  const bool first = known.of_one_job() ? mine[0] < theirs[0] : known.own.first != 0;
  const auto leader_of = [&](const introduction& about, const core::group& members) {
    // By numbers that both have alike.
    return static_cast<std::uint32_t>(known.of_one_job() ? members[comm_rank{about.leader}].value()
                                                         : about.leader);
  };
  const std::uint32_t own[] = {known.own.context, leader_of(known.own, mine)};
  const std::uint32_t others[] = {known.other.context, leader_of(known.other, theirs)};
  const auto& [a, b] = first ? std::tie(own, others) : std::tie(others, own);
  const std::uint32_t words[] = {a[0], a[1], b[0], b[1], static_cast<std::uint32_t>(tag.value())};
  return {first ? core::group::unite(mine, theirs) : core::group::unite(theirs, mine),
          first ? mine.size() : theirs.size(), tag_for(words)};
}

}  // namespace

intercommunicator_ref connect(participant local, comm_rank leader, const leaders_link* link,
                              core::communicator& job) {
  SINEW_EXPECT(leader.below(local.comm.size()));
  both_groups known;
  std::optional<leaders_talk> talk;
  if (local.comm.rank() == leader && link != nullptr) {
    local.engine.meet(link->peer.job_rank(link->remote_leader));
    talk.emplace(local, *link);
    known = introduce(local, *link, *talk);
  }
  message_tag tag = link != nullptr ? link->tag : message_tag{0};
  (void)bcast(local, buffer::of_bytes(&known, sizeof known), leader);
  SINEW_CHECK(known.own.present != 0, "there is no intercommunicator",
              "the arguments of the group's leader were wrong", "see what the leader says");
  check_alive(known.other.present != 0);
  (void)bcast(local, buffer::of_bytes(&tag, sizeof tag), leader);
  leaders_talk* const mouth = talk ? &*talk : nullptr;
  const core::group& mine = local.comm.members();
  const core::group theirs = known.of_one_job() ? members_by_rank(local, leader, known, mouth)
                                                : members_by_address(local, leader, known, mouth);
  if (core::group::intersect(mine, theirs).size() != 0) {
    return nullptr;
  }
  const order o = order_of(mine, theirs, known, tag);
  if (known.of_one_job()) {
    return std::make_shared<intercommunicator>(
        local.engine, create_group({local.engine, job}, o.both, o.tag), o.first);
  }
  meeting all(local.engine, o.both, o.tag);
  return std::make_shared<intercommunicator>(
      local.engine, create_group({local.engine, all.comm()}, o.both, o.tag), o.first);
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
  const fault f =
      allgather(at, buffer::of_bytes(&own, sizeof own), buffer::of_bytes(all.data(), sizeof own));
  std::erase_if(all, [&](const choice& c) { return c.color != color; });
  std::sort(all.begin(), all.end(), [](const choice& a, const choice& b) {
    return std::tie(a.second, a.key, a.rank) < std::tie(b.second, b.key, b.rank);
  });
  const auto first =
      std::count_if(all.begin(), all.end(), [](const choice& c) { return c.second == 0; });
  const bool both = first != 0 && first != static_cast<std::ptrdiff_t>(all.size());
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const choice& c) { return c.rank == own.rank; });
  communicator_ref made = split(at, both ? color : -1, static_cast<int>(place - all.begin()), f);
  SINEW_ENSURE((made != nullptr) == (both && color >= 0));
  return made == nullptr ? nullptr
                         : std::make_shared<intercommunicator>(engine, std::move(made),
                                                               static_cast<int>(first));
}

communicator_ref merge(p2p::engine& engine, const intercommunicator& i, bool high) {
  const participant at{engine, *i.all()};
  const char own = high ? 1 : 0;
  std::vector<char> all(static_cast<std::size_t>(at.comm.size()));
  const fault f = allgather(at, buffer::of_bytes(&own, 1), buffer::of_bytes(all.data(), 1));
  // A group's lowest rank speaks for it; if both say the same, the first group comes first.
  const bool swapped = all.front() > all[static_cast<std::size_t>(i.first_size())];
  const int n = at.comm.size();
  const int rank = at.comm.rank().value();
  return split(at, 0, swapped ? (rank - i.first_size() + n) % n : rank, f);
}

}  // namespace sinew::coll
