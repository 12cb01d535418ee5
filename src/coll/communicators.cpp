#include "sinew/coll/communicators.hpp"

#include <algorithm>
#include <vector>

#include "coll/contexts.hpp"
#include "coll/talk.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

constexpr int no_tag = -1;

context_ledger& ledger_of(core::runtime& rt) {
  if (rt.contexts == nullptr) rt.contexts = std::make_shared<context_ledger>();
  return *static_cast<context_ledger*>(rt.contexts.get());
}

/// The communicator goes with its last reference, and its channels with it.
communicator_ref make(p2p::engine& engine, std::uint32_t context, core::group members) {
  const int rank = members.find(engine.runtime().rank());
  SINEW_ASSERT(rank >= 0);
  auto made = std::make_unique<core::communicator>(context, std::move(members), rank);
  engine.attach(*made);
  return {made.release(), [&engine](core::communicator* c) {
            const std::uint32_t number = c->context();
            const bool unused = engine.detach(*c);
            delete c;
            if (unused) ledger_of(engine.runtime()).release(number);
          }};
}

/// Takes part in an agreement while it lives.
class participation {
 public:
  participation(context_ledger& ledger, context_ledger::key k) : ledger_(ledger), key_(k) {
    ledger_.enter(key_);
  }
  ~participation() { ledger_.leave(key_); }
  participation(const participation&) = delete;
  participation& operator=(const participation&) = delete;

  /// A context new to all that `t` talks to; see contexts.hpp. `t` is used for every round: the
  /// messages of one round cannot be taken for another's, since they stay in order.
  std::uint32_t agree(talk& t) {
    const op max{.kind = op_kind::max};
    const layout::type& word = layout::of(layout::element::u64);
    std::uint32_t from = context_ledger::first_free;
    for (;;) {
      const std::uint64_t said = ledger_.propose(key_, from);
      std::uint64_t extremes[2] = {said, ~said};  // the largest complement is the smallest's
      if (t.size() > 1) allreduce_any(t, extremes, {extremes, 2, &word}, max);
      if (ledger_.settle(said, ~extremes[1], extremes[0], from)) return from;
    }
  }

 private:
  context_ledger& ledger_;
  context_ledger::key key_;
};

std::uint32_t agree_on_context(site at) {
  talk t(at, "the making of a communicator");
  barrier_any(t);
  return participation(ledger_of(at.engine.runtime()), {at.comm.context(), no_tag}).agree(t);
}

}  // namespace

communicator_ref world(p2p::engine& engine) {
  (void)ledger_of(engine.runtime());
  return make(engine, context_ledger::world, core::group::range(engine.runtime().size()));
}

communicator_ref self(p2p::engine& engine) {
  (void)ledger_of(engine.runtime());
  return make(engine, context_ledger::self, core::group(std::vector<int>{engine.runtime().rank()}));
}

communicator_ref duplicate(site at) {
  return make(at.engine, agree_on_context(at), at.comm.members());
}

communicator_ref split(site at, int color, int key) {
  struct choice {
    std::int32_t color, key, rank;
  };
  const choice own{color, key, at.comm.rank()};
  std::vector<choice> all(static_cast<std::size_t>(at.comm.size()));
  const fault f =
      allgather(at, buffer::of_bytes(&own, sizeof own), buffer::of_bytes(all.data(), sizeof own));
  SINEW_ASSERT(f == fault::none);
  (void)f;
  // The groups of different colours do not overlap, so one context serves them all.
  const std::uint32_t context = agree_on_context(at);
  if (color < 0) {
    ledger_of(at.engine.runtime()).release(context);
    return nullptr;
  }
  std::erase_if(all, [&](const choice& c) { return c.color != color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const choice& a, const choice& b) { return a.key < b.key; });
  std::vector<int> members(all.size());
  std::transform(all.begin(), all.end(), members.begin(),
                 [&](const choice& c) { return at.comm.job_rank(c.rank); });
  return make(at.engine, context, core::group(std::move(members)));
}

communicator_ref create(site at, const core::group& members) {
  const std::uint32_t context = agree_on_context(at);
  if (members.find(at.engine.runtime().rank()) < 0) {
    ledger_of(at.engine.runtime()).release(context);
    return nullptr;
  }
  return make(at.engine, context, members);
}

communicator_ref create_group(site at, const core::group& members, int tag) {
  const int rank = members.find(at.engine.runtime().rank());
  if (rank < 0) return nullptr;
  std::vector<int> ranks(static_cast<std::size_t>(members.size()));
  for (int r = 0; r < members.size(); ++r) {
    ranks[static_cast<std::size_t>(r)] = at.comm.members().find(members[r]);
  }
  // Above the tags of the collectives. Two tags of the user fall together only if they differ by
  // max_tag + 1 - call_tags, and even that harms only if their groups create at the same time.
  constexpr auto room = static_cast<std::uint32_t>(p2p::max_tag) - call_tags + 1;
  const std::uint32_t own_tag = call_tags + static_cast<std::uint32_t>(tag) % room;
  talk t(at, ranks, rank, static_cast<int>(own_tag));
  barrier_any(t);
  context_ledger& ledger = ledger_of(at.engine.runtime());
  const std::uint32_t context = participation(ledger, {at.comm.context(), tag}).agree(t);
  return make(at.engine, context, members);
}

communicator_ref split_node(site at, int key) {
  const boot::place& place = at.engine.runtime().session().where();
  return split(at, place.local_ranks.front(), key);
}

}  // namespace sinew::coll
