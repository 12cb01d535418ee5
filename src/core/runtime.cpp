// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/runtime.hpp"

#include <sched.h>

#include <algorithm>
#include <new>

#include "core/fibers.hpp"
#include "core/helper.hpp"
#include "core/idler.hpp"
#include "core/nodes.hpp"
#include "core/runtime_impl.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/outside.hpp"
#include "sinew/core/uncaught.hpp"
#include "sinew/fabric/disturbed.hpp"

namespace sinew::core {
namespace {

constexpr int round_budget = 64;
/// Polls in a row at which nothing happened that make a loop: single ones may be far apart.
constexpr int least_polls = 16;
constexpr const char* polling =
    "has tested, probed or looked for SINEW_CORE_HANG_TIMEOUT, and nothing has come";

}  // namespace

std::unique_ptr<runtime> runtime::open(std::unique_ptr<boot::session> session, threading threads) {
  return open(std::move(session), threads, fabric::wanted_back_ends());
}

std::unique_ptr<runtime> runtime::open(std::unique_ptr<boot::session> session, threading threads,
                                       std::span<const fabric::back_end> from) {
  session = pretend_nodes(std::move(session));
  const progress how = chosen_progress();
  if (may_have_helper(session->where(), how, service::messages)) {
    threads = threading::many;  // what the program's threads use, the helper uses too
  }
  trace::start(session->where().rank);
  opened over_nodes = open_endpoint(*session, threads, from);
  if (session->where().rank == 0) {
    SINEW_LOG(info, describe(session->where(), over_nodes));
  }
  if (const std::uint64_t seed = fabric::disturbance_seed(); seed != 0) {
    over_nodes.endpoint = fabric::disturb(std::move(over_nodes.endpoint), {.seed = seed});
  }
  report_uncaught(*session);
  std::unique_ptr<runtime> made =
      std::make_unique<impl>(std::move(session), std::move(over_nodes.endpoint), threads,
                             std::vector<fabric::back_end>(from.begin(), from.end()));
  made->progress_ = how;
  made->crowded_ = over_nodes.crowded;
  made->leaves_together_ = over_nodes.by_network_alone;
  if (!made->session().where().spawned()) {
    made->crowded_at_start_ = made->crowded_;
  }
  return made;
}

std::unique_ptr<runtime> runtime::over(std::unique_ptr<boot::session> session,
                                       std::unique_ptr<fabric::endpoint> endpoint,
                                       threading threads, progress how) {
  auto made = std::make_unique<impl>(std::move(session), std::move(endpoint), threads);
  made->progress_ = how;
  return made;
}

runtime::runtime(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
                 threading threads)
    : session_(std::move(session)),
      endpoint_(std::move(endpoint)),
      threads_(threads),
      size_(session_ != nullptr ? session_->where().size : endpoint_->size()),
      crowded_(session_ != nullptr && is_crowded(session_->where())),
      crowded_at_start_(session_ != nullptr && was_crowded(session_->where())) {
  SINEW_EXPECT(endpoint_ != nullptr);
  SINEW_EXPECT(endpoint_->rank().below(endpoint_->size()));
  SINEW_EXPECT(session_ == nullptr || session_->where().rank == endpoint_->rank());
}

runtime::~runtime() = default;

void runtime::leave() {
  SINEW_EXPECT(session_ != nullptr);
  impl::of(*this).end_helper();
  if (outside* const others = outside::of(*this); others != nullptr) {
    others->leave();
  }
  endpoint_->leave();
  if (leaves_together_ || session_->where().local_size != session_->where().size) {
    // A rank whose process ends closes its connections, which others must not take for its death.
    session_->fence();
  }
  session_->finalize();
}

runtime::impl::impl(std::unique_ptr<boot::session> session,
                    std::unique_ptr<fabric::endpoint> endpoint, threading threads,
                    std::vector<fabric::back_end> back_ends)
    : runtime(std::move(session), std::move(endpoint), threads),
      waiting_(topology::usable_cpus(), crowded(), usual_waits),
      back_ends_(std::move(back_ends)),
      teller_(std::make_unique<wait_teller>(*this)),
      losses_(*this, session_ != nullptr ? session_->survivors() : nullptr) {
  endpoint_->set_handler(handlers::rma, early_messages::keep, &early_);
  endpoint_->tell_distance({[](void* self, bool far) noexcept {
                              static_cast<impl*>(self)->waiting_.go_by(far ? waits_between_nodes
                                                                           : usual_waits);
                            },
                            this});
  fiber_poller::add(*this);
}

runtime::impl::~impl() {
  end_helper();
  fiber_poller::remove(*this);
  forget_uncaught(session_.get());
  SINEW_EXPECT(!is_watched());
}

void runtime::set_chore(int (*run)(void*), void* context) noexcept {
  impl::of(*this).chores_[0] = {run, context};
}

int runtime::add_chore(int (*run)(void*), void* context, chore_place where,
                       bool (*sleep)(void*, bool)) {
  SINEW_EXPECT(run != nullptr);
  static base::lock
      adding;  // modules add theirs at first use, perhaps by several threads at a time
  const base::guard held(adding, true);
  impl& self = impl::of(*this);
  auto& chores = self.chores_;
  for (int which = 1; which < impl::most_chores; ++which) {
    if (chores[which].run == nullptr) {
      chores[which] = {run, context, sleep};
      const std::uint32_t bit = 1u << which;
      if (sleep != nullptr) {
        self.chores_told_.fetch_or(bit, std::memory_order_relaxed);
      } else {
        self.chores_told_.fetch_and(~bit, std::memory_order_relaxed);
      }
      if (where == chore_place::in_calls) {
        self.chores_in_calls_.fetch_or(bit, std::memory_order_relaxed);
      } else {
        self.chores_in_calls_.fetch_and(~bit, std::memory_order_relaxed);
      }
      return which;
    }
  }
  SINEW_CHECK(false, "cannot add one more progress function",
              "a runtime takes " + std::to_string(impl::most_chores - 1) + " besides p2p's",
              "raise most_chores");
  return -1;
}

void runtime::want_chore(int which, bool wanted) noexcept {
  impl& self = impl::of(*this);
  SINEW_EXPECT(which >= 0 && which < impl::most_chores);
  SINEW_EXPECT(!wanted || self.chores_[which].run != nullptr);
  const std::uint32_t bit = 1u << which;
  if (wanted) {
    self.chores_wanted_.fetch_or(bit, std::memory_order_release);
    if (threaded() && self.chores_[which].sleep != nullptr) {
      // Another thread may be about to sleep: it looks at the wanted ones after saying that it
      // rests.
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (self.waiting_.is_resting()) {
        endpoint_->wake();
      }
    }
  } else {
    self.chores_wanted_.fetch_and(~bit, std::memory_order_relaxed);
  }
}

void runtime::serve_late(fabric::handler_id id, fabric::handler function, void* context) {
  SINEW_EXPECT(id == handlers::rma);
  const without_helper still(*this);  // it calls handlers
  impl& self = impl::of(*this);
  self.early_.set_handler(function, context);
  endpoint_->set_handler(id, function, context);
  if (self.early_chore_ < 0) {
    self.early_chore_ = add_chore(
        [](void* rt) {
          impl& home = *static_cast<impl*>(rt);
          if (home.early_.hand_over()) {
            home.want_chore(home.early_chore_, false);
          }
          return 1;
        },
        &self);
  }
  want_chore(self.early_chore_, true);
}

void runtime::drop_chore(int which) noexcept {
  want_chore(which, false);
  outlast_rounds();  // one that began before may still run it
  impl::of(*this).chores_[which] = {};
}

void runtime::impl::do_chores(std::uint32_t wanted, int& happened) {
  static_assert(most_chores <= 32, "a bit each of chores_wanted_");
  SINEW_EXPECT(wanted >> most_chores == 0);
  for (int which = 0; which < most_chores; ++which) {
    if ((wanted >> which & 1) != 0) {
      happened += chores_[which].run(chores_[which].context);
    }
  }
}

bool runtime::impl::tell_of_sleep(std::uint32_t chores, bool begins) {
  SINEW_EXPECT(chores >> most_chores == 0);
  bool may_sleep = true;
  for (int which = 0; which < most_chores; ++which) {
    if ((chores >> which & 1) != 0) {
      may_sleep = chores_[which].sleep(chores_[which].context, begins) && may_sleep;
    }
  }
  return may_sleep;
}

void runtime::set_diagnosis(void (*print)(void*), void* context, explainer explain) noexcept {
  impl::of(*this).diagnoses_[0] = {print, context, explain};
}

void runtime::add_diagnosis(void (*print)(void*), void* context, explainer explain) {
  SINEW_EXPECT(print != nullptr || explain != nullptr);
  auto& diagnoses = impl::of(*this).diagnoses_;
  for (int which = 1; which < impl::most_chores; ++which) {
    if (diagnoses[which].print == nullptr && diagnoses[which].explain == nullptr) {
      diagnoses[which] = {print, context, explain};
      return;
    }
  }
  SINEW_CHECK(false, "cannot take on one more diagnosis",
              "a runtime takes " + std::to_string(impl::most_chores - 1) + " besides p2p's",
              "raise most_chores");
}

awaits_outside::awaits_outside(runtime& rt) noexcept : rt_(rt) {
  runtime::impl::of(rt_).note_outside(+1);
}

awaits_outside::~awaits_outside() { runtime::impl::of(rt_).note_outside(-1); }

void runtime::drop_diagnosis(void* context) noexcept {
  auto& diagnoses = impl::of(*this).diagnoses_;
  for (int which = 1; which < impl::most_chores; ++which) {
    if (diagnoses[which].print != nullptr && diagnoses[which].context == context) {
      diagnoses[which] = {};
    }
  }
}

void runtime::impl::note_outside(int more) noexcept { teller_->note_outside(more); }

bool runtime::impl::report_hang(bool hangs, const char* how) noexcept {
  if (hangs) {
    report(how);
    return true;
  }
  if (time_is_up_ns != 0 && now_ns() >= time_is_up_ns &&
      !time_reported_.exchange(true, std::memory_order_relaxed)) {
    report("waits now that the job's time is up (--timeout)");
    return true;
  }
  return false;
}

void runtime::impl::report(const char* how) const noexcept {
  base::last_words()
      .add("sinew: rank ")
      .add_number(rank().index())
      .add(" ")
      .add(how)
      .add(":\n")
      .write();
  diagnose();
}

void runtime::impl::diagnose() const noexcept try {
  std::string absent;
  if (session_ != nullptr) {
    for (const job_rank each : session_->absent()) {
      absent += (absent.empty() ? " " : ", ") + to_string(each);
    }
  }
  if (!absent.empty()) {
    base::last_words()
        .add("sinew: rank ")
        .add_number(session_->where().rank.index())
        .add(" has waited for SINEW_CORE_HANG_TIMEOUT; these have not called MPI_Init: rank")
        .add(absent)
        .add(".\n")
        .write();
  }
  for (const diagnosis& d : diagnoses_) {
    if (d.print != nullptr) {
      d.print(d.context);
    }
  }
} catch (const std::bad_alloc&) {
  base::last_words().add("sinew: no memory to say more about what is waited for.\n").write();
}

// `chores`: which of them it may run.
inline int runtime::impl::round(std::uint32_t chores) {
  int happened = endpoint_->progress(round_budget);
  SINEW_ASSERT(happened >= 0);
  const std::uint32_t wanted = chores_wanted_.load(std::memory_order_acquire) & chores;
  if (wanted != 0) [[unlikely]] {
    do_chores(wanted, happened);
  }
  if (polled_since_.load(std::memory_order_relaxed) != 0 && happened != 0) [[unlikely]] {
    polled_since_.store(0, std::memory_order_relaxed);
  }
  return happened;
}

int runtime::impl::lead_round() {
  const int happened = round(~std::uint32_t{0});
  if (happened != 0 && is_watched()) [[unlikely]] {
    look_for_watchers();
  }
  return happened;
}

int runtime::impl::helper_round() {
  const int happened = round(~chores_in_calls_.load(std::memory_order_relaxed));
  if (happened != 0 && is_watched()) {
    look_for_watchers();
  }
  return happened;
}

// For one round, or for a sleep. From the helper, not at once: the caller comes again.
bool runtime::impl::takes_lead(lead& mine) {
  SINEW_EXPECT(threaded());
  waiting_.note_poll();
  if (mine.take(waiting_)) {
    return true;
  }
  bell_of bell{*endpoint_};
  waiting_.evict(bell);
  return false;
}

inline int runtime::impl::poll_once() {
  int happened = 0;
  if (!threaded()) {
    happened = lead_round();
  } else {
    lead mine;
    happened = takes_lead(mine) ? lead_round() : 0;
  }
  if (happened == 0 && fiber::self() != nullptr) {
    // Wait: none, one turn for others; the poller watches fibers.
    fiber::yield();
  }
  return happened;
}

int runtime::poll() {
  impl& self = impl::of(*this);
  const int happened = self.poll_once();
  if (happened == 0 && (crowded() || watches_hangs())) [[unlikely]] {
    self.count_quiet_poll();
  }
  return happened;
}

int runtime::poll_before_wait() { return impl::of(*this).poll_once(); }

// Threads may mistake each other's polls for their own: they are of one rank.
void runtime::impl::count_quiet_poll() {
  const std::int64_t now = now_ns();
  const std::int64_t since = polled_since_.load(std::memory_order_relaxed);
  if (since == 0) {
    polled_since_.store(now, std::memory_order_relaxed);
    quiet_polls_.store(0, std::memory_order_relaxed);
    return;
  }
  const int polls = quiet_polls_.load(std::memory_order_relaxed);
  if (polls < least_polls) {
    quiet_polls_.store(polls + 1, std::memory_order_relaxed);
    return;
  }
  // Another thread may have set `since` after this one read the clock.
  const std::int64_t waited_ns = std::max<std::int64_t>(now - since, 0);
  if (polls == least_polls && report_hang(is_hang(waited_ns), polling)) {
    quiet_polls_.store(least_polls + 1, std::memory_order_relaxed);
  }
  if (crowded()) {
    // Wait: none, one turn for the rank that the loop waits for; the loop is the program's own.
    sched_yield();
  }
}

void runtime::wait(completion& c) {
  if (c.done()) {
    return;
  }
  const trace::wait here;
  impl& self = impl::of(*this);
  if (self.in_fiber()) {
    self.wait_as_fiber(c);
  } else if (threaded()) {
    self.wait_among_threads(c);
  } else {
    self.poll_until(&c, [&c] { return c.done(); });
  }
}

void runtime::wait_until(bool (*ready)(void*), void* context) {
  SINEW_EXPECT(ready != nullptr);
  const trace::wait here;
  impl& self = impl::of(*this);
  if (threaded() || self.in_fiber()) {
    self.wait_as_watcher(ready, context);
  } else {
    self.poll_until(context, [=] { return ready(context); });
  }
}

void runtime::meet(job_rank peer, std::uint32_t tenant) {
  SINEW_EXPECT(peer.below(reach()));
  struct meeting {
    fabric::endpoint& net;
    job_rank peer;
    std::uint32_t tenant;
  } wanted{*endpoint_, peer, tenant};
  wait_until(
      [](void* w) {
        const auto& m = *static_cast<meeting*>(w);
        return m.net.meet(m.peer, m.tenant);
      },
      &wanted);
}

template <class Ready>
void runtime::impl::poll_until(const void* waited, Ready ready) {
  idler idle(*this, waited);
  idle_pace pace(usual_waits, crowded());
  while (!ready()) {
    if (round(~std::uint32_t{0}) != 0) {
      pace.busy();
      continue;
    }
    const wait_order next =
        endpoint_->bounds().sleeps_at_once ? wait_order::rest : pace.quiet(idle);
    if (next == wait_order::yield) {
      // Wait: the idler watches it once it sleeps.
      sched_yield();
    } else if (next == wait_order::rest) {
      idle.sleep(pace.quiet_since());
    }
  }
}

}  // namespace sinew::core
