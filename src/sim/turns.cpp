// SPDX-License-Identifier: BSD-3-Clause
#include "sim/turns.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>

#include "sim/process_state.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/futex.hpp"

namespace sinew::sim {
namespace {

/// While ranks run: how often it is looked whether they still do.
constexpr std::uint64_t look_at_processes_ns = 10'000'000;
constexpr std::int64_t long_computing_ns = 10 * second_ns;
/// Until all know of a death; a seed makes it up to twice as long.
constexpr std::int64_t death_ns = 100'000;

constexpr auto simulators_turn = static_cast<std::uint32_t>(vw::turn::simulator);
constexpr auto ranks_turn = static_cast<std::uint32_t>(vw::turn::rank);

bool has_turn(const vw::port& p) { return p.state.load(std::memory_order_seq_cst) == ranks_turn; }

}  // namespace

turns::turns(job_state& job, event_queue& events, messages& mail)
    : job_(job), events_(events), mail_(mail) {
  job_.head.running.store(static_cast<std::uint32_t>(job_.size()));
  for (int r = 0; r < job_.size(); ++r) {
    job_.port(r).state.store(ranks_turn);
    running_.push_back(r);
  }
}

bool turns::await_ranks(const listeners& told) {
  const choices& chosen = job_.chosen;
  std::int64_t quiet_since = 0;
  while (const std::uint32_t now = job_.head.running.load(std::memory_order_seq_cst)) {
    if (stopped_.load()) {
      return false;
    }
    take_ended();
    // Wait: a short one; ranks compute, which is told once it is long, and stop() ends it.
    base::futex_wait(job_.head.running, now,
                     std::min(look_at_processes_ns, static_cast<std::uint64_t>(chosen.patience_ns)),
                     base::within::machine);
    if (job_.head.running.load(std::memory_order_seq_cst) != now) {
      quiet_since = 0;
      continue;
    }
    drop_ended();
    const std::int64_t here = now_ns();
    quiet_since = quiet_since == 0 ? here : quiet_since;
    if (here - quiet_since >= chosen.patience_ns && (!some_rank_computes() || chosen.preempt)) {
      return true;
    }
    if (here - quiet_since >= long_computing_ns && all_have_joined() &&
        !std::exchange(told_of_computing_, true)) {
      told.on_long_computing(running_.empty() ? 0 : running_.front(),
                             static_cast<double>(here - quiet_since) / second_ns);
    }
  }
  return !stopped_.load();
}

bool turns::all_have_joined() const {
  return std::all_of(running_.begin(), running_.end(), [this](int r) {
    return job_.port(r).joined.load(std::memory_order_acquire) != 0;
  });
}

/// Of those that have the turn. One that has not called MPI_Init yet may; the launcher sees to
/// those that never do.
bool turns::some_rank_computes() const {
  return std::any_of(running_.begin(), running_.end(), [this](int r) {
    const vw::port& p = job_.port(r);
    if (!has_turn(p)) {
      return false;
    }
    if (p.joined.load(std::memory_order_acquire) == 0) {
      return true;
    }
    const char now = process_state(p.process);
    return computes(now) || (job_.chosen.survive && has_ended(now));
  });
}

void turns::drop_ended() {
  for (const int r : running_) {
    const vw::port& p = job_.port(r);
    if (!job_.chosen.survive && p.joined.load(std::memory_order_acquire) != 0 &&
        ::kill(p.process, 0) != 0 && errno == ESRCH) {
      drop(r);
    }
  }
}

void turns::drop(int rank) {
  auto expected = ranks_turn;
  if (job_.port(rank).state.compare_exchange_strong(expected, simulators_turn,
                                                    std::memory_order_seq_cst)) {
    job_.head.running.fetch_sub(1, std::memory_order_seq_cst);
  }
  job_.of(rank).left = true;
  job_.of(rank).runs = false;
}

// A rank has died when it has sent the last of its messages, which still come; or when its last
// turn began.
void turns::take_ended() {
  if (!any_ended_.exchange(false)) {
    return;
  }
  std::vector<std::pair<int, bool>> all;
  {
    const std::lock_guard held(ending_);
    all.swap(ended_);
  }
  for (const auto& [rank, died] : all) {
    rank_state& r = job_.of(rank);
    const bool had_left = r.left;
    mail_.take_sent(rank);
    drop(rank);
    if (died && !std::exchange(r.died, true)) {
      const std::int64_t last = std::max(r.local, r.sent);
      events_.add_notice(had_left ? std::max(last, job_.now) : last, death_ns,
                         {rank, notice_kind::death, {}});
    }
  }
}

void turns::collect() {
  const std::uint32_t woken = job_.head.woken.load(std::memory_order_seq_cst);
  if (woken != woken_) {
    woken_ = woken;  // somebody has taken a turn by itself: look at all
    running_.clear();
    for (int r = 0; r < job_.size(); ++r) {
      running_.push_back(r);
    }
  }
  std::sort(running_.begin(), running_.end());
  running_.erase(std::unique(running_.begin(), running_.end()), running_.end());
  std::vector<int> still;
  for (const int r : running_) {
    if (has_turn(job_.port(r))) {
      still.push_back(r);
      job_.of(r).runs = true;
      mail_.take_sent(r);  // it may wait for room, in a loop of its own
      mail_.count_taken(r);
    } else if (job_.port(r).hand_overs.load(std::memory_order_acquire) != job_.of(r).hand_overs) {
      collect(r);
    }
  }
  running_.swap(still);
}

void turns::collect(int rank) {
  vw::port& p = job_.port(rank);
  rank_state& r = job_.of(rank);
  r.hand_overs = p.hand_overs.load(std::memory_order_acquire);
  mail_.take_sent(rank);
  mail_.count_taken(rank);
  r.runs = false;
  r.local = std::max(p.local.load(std::memory_order_relaxed), r.local);
  r.until = std::min(p.until.load(std::memory_order_relaxed), p.dies_at);
  r.refused = p.refused.exchange(0, std::memory_order_relaxed) != 0;
  const bool was_full = p.full.exchange(0, std::memory_order_relaxed) != 0;  // and no longer is
  const vw::reason why = p.why.load(std::memory_order_relaxed);
  r.left = r.died || why == vw::reason::leaves;
  r.sleeps = why == vw::reason::sleeps;
  r.returns = why == vw::reason::returns;
  job_.some_return = job_.some_return || r.returns;
  if (r.left || r.returns) {
    return;
  }
  if (r.sleeps) {
    events_.add_turn(rank, r.until);
    return;
  }
  if (was_full || !r.handed.empty() || (r.refused && !r.credits.empty())) {
    events_.add_turn(rank, r.local);
  } else if (!r.arrived.empty()) {
    events_.add_turn(rank, mail_.first_arrival(rank));
  }
  if (r.until != vw::never) {
    events_.add_turn(rank, r.until);
  }
}

void turns::give(const std::vector<int>& ranks) {
  if (ranks.empty()) {
    return;
  }
  job_.head.running.fetch_add(static_cast<std::uint32_t>(ranks.size()), std::memory_order_seq_cst);
  for (const int r : ranks) {
    mail_.fill_ring(r);
    vw::port& p = job_.port(r);
    p.now.store(job_.of(r).local, std::memory_order_relaxed);
    auto expected = simulators_turn;
    if (!p.state.compare_exchange_strong(expected, ranks_turn, std::memory_order_seq_cst)) {
      job_.head.running.fetch_sub(1, std::memory_order_seq_cst);  // it has woken by itself
    }
    base::futex_wake(p.state, INT_MAX, base::within::machine);  // other threads nap on it, too
    running_.push_back(r);
  }
}

void turns::nap(std::uint64_t longest_ns) {
  // Wait: a short one, whose length the caller has chosen.
  base::futex_wait(job_.head.running, 0, longest_ns, base::within::machine);
}

void turns::stop() noexcept {
  stopped_.store(true);
  base::futex_wake(job_.head.running, 1, base::within::machine);
}

void turns::ended(int rank, bool died) noexcept {
  {
    const std::lock_guard held(ending_);
    ended_.emplace_back(rank, died);
  }
  any_ended_.store(true);
  base::futex_wake(job_.head.running, 1, base::within::machine);
}

}  // namespace sinew::sim
