// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/agreement/agreement.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::agreement {
namespace {

boot::survival& survivors_of(p2p::engine& engine) noexcept {
  SINEW_EXPECT(ranks_survive(engine));
  return *engine.runtime().session().survivors();
}

/// What ranks agree for. All have to say the same: others' votes are not counted.
enum class purpose : std::uint8_t { agree, shrink };
constexpr std::uint16_t shrink_bit = 1U << 14;

std::uint16_t key_of(const core::group& members, purpose why) {
  std::uint32_t key = 2166136261U;  // FNV-1a
  for (const job_rank r : members.members()) {
    key = (key ^ static_cast<std::uint32_t>(r.value())) * 16777619U;
  }
  const std::uint32_t group = (key ^ key >> 16) & (shrink_bit - 1U);
  return static_cast<std::uint16_t>(group | (why == purpose::shrink ? shrink_bit : 0U));
}

const char* name_of(std::uint16_t key) {
  return (key & shrink_bit) != 0 ? "MPIX_Comm_shrink" : "MPIX_Comm_agree";
}

/// A communicator by the slot of its ballots: contexts 0 and 2 are the first ones of a job.
std::string name_of_slot(std::uint32_t slot) {
  return slot == 0   ? "MPI_COMM_WORLD"
         : slot == 1 ? "MPI_COMM_SELF"
                     : "communicator " + std::to_string(slot);
}

/// One agreement, of both groups if there are two; then each hears what the other one has
/// contributed.
struct election {
  coll::communicator_ref all;
  purpose why;
  core::group heard;  ///< whose flags count
  std::uint32_t flag;
  boot::ballot ballot{};  ///< turn 0: it has not voted yet
  boot::decision result{};
};

/// One that nobody waits for.
struct started_election {
  election it;
  ended_function ended;
  void* context;
};

/// The agreements of a rank.
class elections {
 public:
  explicit elections(p2p::engine& engine) : engine_(engine) {
    chore_ = engine.runtime().add_chore(
        [](void* self) { return static_cast<elections*>(self)->end_started(); }, this,
        core::chore_place::anywhere,
        core::losses::ring_for(engine.runtime(), [](void*, bool) { return true; }));
    engine.runtime().add_diagnosis([](void* self) { static_cast<elections*>(self)->report(); },
                                   this);
  }
  elections(const elections&) = delete;
  elections& operator=(const elections&) = delete;

  /// Those of the process's one engine; made by the first agreement.
  static elections& of(p2p::engine& engine);

  void start(started_election e) {
    const std::lock_guard held(lock_);
    started_.push_back(std::move(e));
    engine_.runtime().want_chore(chore_, true);
  }
  boot::decision wait(election e);

 private:
  using iterator = std::vector<started_election>::iterator;
  static bool is_among(iterator begin, iterator end, const core::communicator& comm) {
    return std::any_of(begin, end,
                       [&](const started_election& e) { return e.it.all.get() == &comm; });
  }
  [[nodiscard]] boot::ballot next_ballot(const core::communicator& comm, purpose why);
  [[nodiscard]] bool over(election& e);
  int end_started() noexcept;
  void report();
  void describe(const election& e, std::string& text) const;

  /// The last ballot of a context, and who took part.
  struct last_ballot {
    boot::ballot ballot;
    core::group members;
  };

  p2p::engine& engine_;
  int chore_ = -1;
  std::mutex lock_;  ///< guards what follows
  std::map<std::pair<context_id, std::uint16_t>, std::uint16_t> turns_;
  std::map<context_id, last_ballot> latest_;
  std::vector<started_election> started_;
  std::vector<election*> awaited_;  ///< those that a thread waits for
};

constexpr core::runtime_slot<elections> elections_slot(core::slots::agreements);

elections& elections::of(p2p::engine& engine) {
  static std::mutex one_makes_it;
  const std::lock_guard held(one_makes_it);
  auto& attached = engine.runtime().attached;
  elections* const found = attached.get(elections_slot);
  return found != nullptr ? *found : attached.emplace(elections_slot, engine);
}

/// The next ballot of a communicator; turn 0: not yet. A context may be used again by another
/// group or for another purpose, which then has another key, once those that live have left its
/// last ballot. The same key counts on.
boot::ballot elections::next_ballot(const core::communicator& comm, purpose why) {
  const std::uint16_t key = key_of(comm.members(), why);
  last_ballot& last = latest_[comm.context()];
  if (last.ballot.turn != 0 && last.ballot.key != key &&
      !survivors_of(engine_).is_over(last.ballot, last.members.members())) {
    return {};
  }
  std::uint16_t& turn = turns_[{comm.context(), key}];
  turn = turn == 0xfffe ? 2 : static_cast<std::uint16_t>(turn + 1);
  last = {{comm.context().value() / 2, key, turn}, comm.members()};
  return last.ballot;
}

/// Votes when it is first asked: earlier ones of the same communicator are over by then.
bool elections::over(election& e) {
  boot::survival& survivors = survivors_of(engine_);
  const job_rank self = engine_.runtime().rank();
  if (e.ballot.turn == 0) {
    e.ballot = next_ballot(*e.all, e.why);
    if (e.ballot.turn == 0) {
      return false;
    }
    survivors.vote(e.ballot, self, e.flag);
  }
  if (!survivors.decided(e.ballot, e.all->members().members(), e.heard.members(), e.result)) {
    return false;
  }
  survivors.leave(e.ballot, self);
  return true;
}

/// After those that were started before.
boot::decision elections::wait(election e) {
  {
    const std::lock_guard held(lock_);
    awaited_.push_back(&e);
  }
  struct goal {
    elections& all;
    election& own;
  } to{*this, e};
  engine_.runtime().wait_until(
      [](void* p) {
        auto& [all, own] = *static_cast<goal*>(p);
        const std::lock_guard held(all.lock_);
        const bool later =
            own.ballot.turn == 0 && is_among(all.started_.begin(), all.started_.end(), *own.all);
        return !later && all.over(own);
      },
      &to);
  const std::lock_guard held(lock_);
  std::erase(awaited_, &e);
  return e.result;
}

/// By whoever polls. Those of a communicator end in their order.
int elections::end_started() noexcept {
  const std::unique_lock held(lock_, std::try_to_lock);
  if (!held.owns_lock()) {
    return 0;
  }
  return base::must_have_memory("ending an agreement", [&] {
    const iterator begin = started_.begin();
    iterator kept = begin;
    for (iterator at = begin; at != started_.end(); ++at) {
      if (is_among(begin, kept, *at->it.all) || !over(at->it)) {
        std::iter_swap(kept++, at);
        continue;
      }
      at->ended(at->context, at->it.result);
    }
    const auto ended = static_cast<int>(started_.end() - kept);
    started_.erase(kept, started_.end());
    engine_.runtime().want_chore(chore_, !started_.empty());
    return ended;
  });
}

/// Whose votes are missing, and what those ranks agree on meanwhile.
void elections::describe(const election& e, std::string& text) const {
  constexpr int most = 8;
  const std::uint32_t slot = e.all->context().value() / 2;
  text += std::string("\n  ") + name_of(key_of(e.all->members(), e.why)) + " of " +
          (e.all->name.empty() ? name_of_slot(slot) : e.all->name);
  if (e.ballot.turn == 0) {
    text += " waits until all have left the agreement before it";
    return;
  }
  int missing = 0;
  const boot::survival& survivors = survivors_of(engine_);
  const std::uint32_t deaths_now = survivors.deaths();
  for (const job_rank r : e.all->members().members()) {
    if (survivors.has_voted(e.ballot, r) || survivors.is_dead(r, deaths_now) || ++missing > most) {
      continue;
    }
    const boot::ballot other = survivors.undecided_of(r);
    text += "\n    waits for the vote of rank " + to_string(r) + " of the job, which is in " +
            (other.turn == 0 ? "no agreement"
                             : name_of(other.key) + (" of " + name_of_slot(other.slot)));
  }
  if (missing > most) {
    text += "\n    and of " + std::to_string(missing - most) + " more";
  }
}

void elections::report() {
  std::string text;
  {
    const std::lock_guard held(lock_);
    for (const election* e : awaited_) {
      describe(*e, text);
    }
    for (const started_election& e : started_) {
      describe(e.it, text);
    }
  }
  if (!text.empty()) {
    base::raw_write(
        2, "sinew: rank " + to_string(engine_.runtime().rank()) + ", agreements:" + text + "\n");
  }
}

/// What those that live have taken together, and who does not.
struct agreed_context {
  context_id context;
  core::group dead;
};

/// Those that live agree on a context that all of them have free: first on a mask of them, then on
/// whether all could take it.
agreed_context agree_on_context(p2p::engine& engine, const coll::communicator_ref& all) {
  elections& rank = elections::of(engine);
  for (std::uint32_t from = 0;; from = (from + 64) % (most_contexts - 64)) {
    const boot::decision d =
        rank.wait({all, purpose::shrink, all->members(), coll::free_contexts(engine, from)});
    const context_id context{from + 2 * static_cast<std::uint32_t>(std::countr_zero(d.flag))};
    const bool taken = d.flag != 0 && coll::take_context(engine, context);
    if (rank.wait({all, purpose::shrink, all->members(), taken ? 1U : 0U}).flag != 0) {
      return {context, core::group(dead_members(engine, *all, d.deaths))};
    }
    if (taken) {
      coll::release_context(engine, context);
    }
  }
}

}  // namespace

bool ranks_survive(p2p::engine& engine) noexcept {
  return engine.runtime().session().survivors() != nullptr;
}

boot::decision agree(p2p::engine& engine, const coll::communicator_ref& all,
                     const core::group& heard, std::uint32_t flag) {
  return elections::of(engine).wait({all, purpose::agree, heard, flag});
}

void start(p2p::engine& engine, const coll::communicator_ref& all, const core::group& heard,
           std::uint32_t flag, ended_function ended, void* context) {
  SINEW_EXPECT(ended != nullptr);
  elections::of(engine).start({{all, purpose::agree, heard, flag}, ended, context});
}

coll::communicator_ref shrink(p2p::engine& engine, const coll::communicator_ref& all) {
  const agreed_context made = agree_on_context(engine, all);
  return coll::make_agreed(engine, made.context, core::group::subtract(all->members(), made.dead));
}

coll::intercommunicator_ref shrink(p2p::engine& engine, const coll::intercommunicator& sides) {
  const agreed_context made = agree_on_context(engine, sides.all());
  const core::group living = core::group::subtract(sides.all()->members(), made.dead);
  const core::group near = core::group::subtract(sides.local(), made.dead);
  const int first = sides.in_first() ? near.size() : living.size() - near.size();
  if (first == 0 || first == living.size()) {
    coll::release_context(engine, made.context);
    return nullptr;
  }
  return std::make_shared<coll::intercommunicator>(
      engine, coll::make_agreed(engine, made.context, living), first);
}

std::uint32_t deaths(p2p::engine& engine) noexcept {
  return ranks_survive(engine) ? survivors_of(engine).deaths() : 0;
}

std::vector<job_rank> dead_members(p2p::engine& engine, const core::communicator& all,
                                   std::uint32_t deaths) {
  std::vector<job_rank> result;
  for (std::uint32_t i = 0; i < deaths; ++i) {
    if (const job_rank r = survivors_of(engine).dead(i); all.members().find(r) >= 0) {
      result.push_back(r);
    }
  }
  return result;
}

job_rank unacknowledged(p2p::engine& engine, const core::communicator& all, std::uint32_t deaths) {
  const std::uint32_t known = std::min(engine.acknowledged(all), deaths);
  const std::vector<job_rank> dead = dead_members(engine, all, deaths);
  return dead.size() > dead_members(engine, all, known).size() ? dead.back() : no_job_rank;
}

int acknowledge(p2p::engine& engine, const core::communicator& all, int most) {
  std::uint32_t known = engine.acknowledged(all);
  for (; known < deaths(engine); ++known) {
    if (static_cast<int>(dead_members(engine, all, known + 1).size()) > most) {
      break;
    }
  }
  engine.acknowledge(all, known);
  return static_cast<int>(dead_members(engine, all, known).size());
}

}  // namespace sinew::agreement
