// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/coll/communicators.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "coll/agreement.hpp"
#include "coll/collective_messages.hpp"
#include "coll/contexts.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/coll/connections.hpp"

namespace sinew::coll {
namespace {

/// Takes part in an agreement while it lives.
class participation {
 public:
  participation(shared_state& state, context_ledger::key k) : state_(state), key_(k) {
    state_.ledger.enter(key_);
  }
  ~participation() {
    if (proposed_) {
      state_.ledger.abandon(said_);
    }
    state_.ledger.leave(key_);
    // One that is alone, without messages to wake it, may have waited for the ledger.
    (void)state_.running.advance();
  }
  participation(const participation&) = delete;
  participation& operator=(const participation&) = delete;

  /// A context new to all ranks of `t`; see contexts.hpp. `t` is used for every round: the
  /// messages of one round cannot be taken for another's, since they stay in order.
  std::uint32_t agree(collective_messages& t) {
    std::uint32_t from = context_ledger::first_free;
    for (int rounds = 0;; ++rounds) {
      if (t.size() == 1) {
        wait_for_ledger(t.runtime());
      }
      said_ = state_.ledger.propose(key_, from, rounds);
      proposed_ = true;
      const extremes heard = hear(t, {said_, ~said_});
      proposed_ = false;
      if (state_.ledger.settle(said_, heard.lowest(), heard.highest, from)) {
        return from;
      }
    }
  }

  /// Of who will be no member: hears the others' rounds, and names nothing.
  static void stand_by(collective_messages& t) {
    for (;;) {
      const extremes heard = hear(t, {0, 0});
      if (heard.highest != context_ledger::refused && heard.lowest() >= heard.highest) {
        return;
      }
    }
  }

 private:
  struct extremes {
    std::uint64_t highest, highest_complement;  ///< the latter is the lowest's
    [[nodiscard]] std::uint64_t lowest() const noexcept { return ~highest_complement; }
  };
  /// Of what all say.
  static extremes hear(collective_messages& t, extremes said) {
    const op max{.kind = op_kind::max};
    std::uint64_t words[2] = {said.highest, said.highest_complement};
    if (t.size() > 1) {
      run_among(t, {collective::allreduce, operand(in_place),
                    buffer{words, 2, &layout::of(layout::element::u64)}, -1, borrowed(max)});
    }
    throw_faults(t);
    return {words[0], words[1]};
  }

  /// Who has to do with a dead rank knows it; where others may live on all get to know it, so that
  /// nobody begins another round alone. (One that dies just now may be news to some only.)
  static void throw_faults(collective_messages& t) {
    const bool lives_on = t.runtime().session().survivors() != nullptr || t.spans_jobs();
    std::uint64_t failed = t.outcome() != fault::none ? 1 : 0;
    if (lives_on && t.size() > 1) {
      const op max{.kind = op_kind::max};
      run_among(t, {collective::allreduce, operand(in_place),
                    buffer{&failed, 1, &layout::of(layout::element::u64)}, -1, borrowed(max)});
    }
    if (failed != 0 || t.outcome() != fault::none) {
      throw not_made(t.outcome() != fault::none ? t.outcome() : fault::peer_failed);
    }
  }

  /// Alone there are no messages to wait for, and whoever owns the ledger may need our progress.
  void wait_for_ledger(core::runtime& rt) {
    rt.wait_until(
        [](void* p) {
          const auto& self = *static_cast<participation*>(p);
          return self.state_.ledger.open_to(self.key_);
        },
        this);
  }

  shared_state& state_;
  context_ledger::key key_;
  std::uint64_t said_ = 0;
  bool proposed_ = false;
};

/// Nothing for those who will not be members: their contexts do not matter. Throws not_made, also
/// for the fault of an earlier step.
std::optional<context_id> agree_on_context(participant at, bool member,
                                           fault before = fault::none) {
  collective_messages t(at, "the making of a communicator");
  t.note(before);
  run_among(t, {});
  if (!member) {
    participation::stand_by(t);
    return std::nullopt;
  }
  const context_ledger::key own{at.comm.context().value(), blocking_agreement.value()};
  return context_id{participation(state_of(at.engine.runtime()), own).agree(t)};
}

}  // namespace

not_made::not_made(fault f)
    : error("no communicator can be made",
            f == fault::revoked ? "that of which it is made has been revoked"
                                : "a rank of its group has died",
            "leave the dead out (MPIX_Comm_shrink)"),
      why_not(f) {
  SINEW_EXPECT(f != fault::none);
}

shared_state& state_of(core::runtime& rt) {
  constexpr core::runtime_slot<shared_state> place(core::slots::coll_state);
  shared_state* const made = rt.attached.get(place);
  return made != nullptr ? *made : rt.attached.emplace(place, rt);
}

namespace {

/// Whether some have not been started together with this rank.
bool has_strangers(p2p::engine& engine, const core::group& members) {
  const boot::place& here = engine.runtime().session().where();
  if (spans_jobs(engine, members)) {
    return true;
  }
  if (here.spawning.count == 0) {
    return false;
  }
  const core::group fellows(here.members());
  return core::group::subtract(members, fellows).size() != 0;
}

/// Calls f(outside, number) for each member of another job.
template <class F>
void each_of_other_jobs(p2p::engine& engine, const core::group& members, const F& f) {
  const int reach = engine.runtime().reach();
  for (const job_rank each : members.members()) {
    if (!each.below(reach)) {
      f(*core::outside::of(engine.runtime()), each);
    }
  }
}

/// Whoever is a member is known until it is let go of, also when it has died: what waits for it
/// must be told.
void hold_others(p2p::engine& engine, const core::group& members) {
  each_of_other_jobs(engine, members, [](core::outside& o, job_rank each) { o.hold(each); });
}
void let_go_of_others(p2p::engine& engine, const core::group& members) {
  each_of_other_jobs(engine, members, [](core::outside& o, job_rank each) { o.let_go(each); });
}

}  // namespace

bool spans_jobs(p2p::engine& engine, const core::group& members) noexcept {
  const auto all = members.members();
  return std::any_of(all.begin(), all.end(), [reach = engine.runtime().reach()](job_rank each) {
    return !each.below(reach);
  });
}

meeting::meeting(p2p::engine& engine, const core::group& members, message_tag tag)
    : engine_(engine),
      comm_(context_id{context_ledger::meeting}, members, members.find(engine.runtime().rank())) {
  comm_.spans_jobs = true;
  engine_.attach_meeting(comm_, group_tag(tag));
  hold_others(engine_, members);
}
meeting::~meeting() {
  engine_.end_meeting(comm_);
  let_go_of_others(engine_, comm_.members());
}

bool is_connected(p2p::engine& engine) {
  shared_state& state = state_of(engine.runtime());
  const std::lock_guard held(state.lock_of_strangers);
  return !state.with_strangers.empty();
}

boot::connections connections(p2p::engine& engine) {
  const boot::place& here = engine.runtime().session().where();
  const core::group fellows(here.members());
  core::group kept, leaving;
  shared_state& state = state_of(engine.runtime());
  const std::lock_guard held(state.lock_of_strangers);
  for (const auto& [comm, is_left] : state.with_strangers) {
    core::group& to = is_left ? leaving : kept;
    to = core::group::unite(to, core::group::subtract(comm->members(), fellows));
  }
  const auto sorted = [end = job_rank{engine.runtime().reach()}](const core::group& g) {
    std::vector<job_rank> all(g.members().begin(), g.members().end());
    std::sort(all.begin(), all.end());
    const auto others = std::lower_bound(all.begin(), all.end(), end);
    if (others != all.end()) {
      all.erase(others, all.end());
      all.push_back(end);
    }
    return all;
  };
  return {sorted(kept), sorted(core::group::subtract(leaving, kept))};
}

bool begin_to_leave(p2p::engine& engine, const core::communicator& comm) {
  shared_state& state = state_of(engine.runtime());
  const std::lock_guard held(state.lock_of_strangers);
  const auto found = state.with_strangers.find(&comm);
  if (found == state.with_strangers.end()) {
    return false;
  }
  found->second = true;
  return true;
}

void end_leaving(p2p::engine& engine, const core::communicator& comm) {
  shared_state& state = state_of(engine.runtime());
  const std::lock_guard held(state.lock_of_strangers);
  state.with_strangers.erase(&comm);
}

communicator_ref make_communicator(p2p::engine& engine, context_id context, core::group members) {
  const comm_rank rank = members.find(engine.runtime().rank());
  SINEW_ASSERT(rank >= 0);
  const bool foreign = context != context_ledger::job && has_strangers(engine, members);
  auto made = std::make_unique<core::communicator>(context, std::move(members), rank);
  made->spans_jobs = spans_jobs(engine, made->members());
  engine.attach(*made);
  hold_others(engine, made->members());
  if (foreign) {
    shared_state& state = state_of(engine.runtime());
    const std::lock_guard held(state.lock_of_strangers);
    state.with_strangers.emplace(made.get(), false);
  }
  return {made.release(), [&engine](core::communicator* c) {
            end_leaving(engine, *c);
            const std::uint32_t number = c->context().value();
            const bool unused = engine.detach(*c);
            let_go_of_others(engine, c->members());
            delete c;
            if (unused) {
              state_of(engine.runtime()).ledger.release(number);
            }
          }};
}

communicator_ref world(p2p::engine& engine) {
  (void)state_of(engine.runtime());
  const boot::place& here = engine.runtime().session().where();
  return make_communicator(engine, context_ledger::world,
                           here.spawned() ? core::group(here.members())  // a list of its own
                                          : core::group::range(here.size));
}

communicator_ref self(p2p::engine& engine) {
  (void)state_of(engine.runtime());
  return make_communicator(engine, context_ledger::self,
                           core::group(std::vector<job_rank>{engine.runtime().rank()}));
}

communicator_ref job(p2p::engine& engine) {
  (void)state_of(engine.runtime());
  communicator_ref made =
      make_communicator(engine, context_ledger::job, core::group::range(engine.runtime().reach()));
  made->name = "of the library's own";
  return made;
}

communicator_ref duplicate(participant at) {
  return make_communicator(at.engine, agree_on_context(at, true).value(), at.comm.members());
}

communicator_ref split(participant at, int color, int key, fault before) {
  struct choice {
    std::int32_t color, key, rank;
  };
  const choice own{color, key, at.comm.rank().value()};
  std::vector<choice> all(static_cast<std::size_t>(at.comm.size()));
  const fault f =
      allgather(at, buffer::of_bytes(&own, sizeof own), buffer::of_bytes(all.data(), sizeof own));
  // The groups of different colours do not overlap, so one context serves them all.
  const std::optional<context_id> context =
      agree_on_context(at, color >= 0, before != fault::none ? before : f);
  if (!context.has_value()) {
    return nullptr;
  }
  std::erase_if(all, [&](const choice& c) { return c.color != color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const choice& a, const choice& b) { return a.key < b.key; });
  std::vector<job_rank> members(all.size());
  std::transform(all.begin(), all.end(), members.begin(),
                 [&](const choice& c) { return at.comm.job_rank(comm_rank{c.rank}); });
  return make_communicator(at.engine, *context, core::group(std::move(members)));
}

communicator_ref create(participant at, const core::group& members) {
  const bool member = members.find(at.engine.runtime().rank()) >= 0;
  const std::optional<context_id> context = agree_on_context(at, member);
  return context.has_value() ? make_communicator(at.engine, *context, members) : nullptr;
}

communicator_ref create_group(participant at, const core::group& members, message_tag tag) {
  const comm_rank rank = members.find(at.engine.runtime().rank());
  if (rank < 0) {
    return nullptr;
  }
  std::vector<int> ranks(static_cast<std::size_t>(members.size()));
  for (comm_rank r = 0; r.below(members.size()); ++r) {
    const comm_rank there = at.comm.members().find(members[r]);
    SINEW_EXPECT(there != core::undefined_rank);
    ranks[r.index()] = there.value();
  }
  collective_messages t(at, ranks, rank.value(), group_tag(tag));
  run_among(t, {});
  const context_ledger::key own{at.comm.context().value(), tag.value()};
  const context_id context{participation(state_of(at.engine.runtime()), own).agree(t)};
  return make_communicator(at.engine, context, members);
}

std::uint32_t free_contexts(p2p::engine& engine, std::uint32_t from) {
  return state_of(engine.runtime()).ledger.free_mask(from);
}
bool take_context(p2p::engine& engine, context_id context) {
  return state_of(engine.runtime()).ledger.take(context.value());
}
void release_context(p2p::engine& engine, context_id context) {
  state_of(engine.runtime()).ledger.release(context.value());
}
communicator_ref make_agreed(p2p::engine& engine, context_id context, core::group members) {
  return make_communicator(engine, context, std::move(members));
}

communicator_ref split_node(participant at, int key) {
  const boot::place& place = at.engine.runtime().session().where();
  return split(at, place.node_leader().value(), key);
}

}  // namespace sinew::coll
