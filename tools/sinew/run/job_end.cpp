// SPDX-License-Identifier: BSD-3-Clause
// Which ranks end when one has failed, and by which signals.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/run/job.hpp"

namespace sinew::tool {
namespace {

// Ranks that have finalized need nobody any more, and may still write their results.
constexpr int finish_grace_s = 10;
// A rank fails while others leave its world by MPI_Comm_disconnect: they come out of it within this
// time, or they wait for one that has failed.
constexpr std::int64_t parting_patience_ns = 5 * second_ns;

/// "the other rank" or "the other 3 ranks".
std::string others_text(int count) {
  return count == 1 ? "the other rank" : "the other " + std::to_string(count) + " ranks";
}

}  // namespace

void job::end_when(int bell, int code, std::function<std::string()> why) {
  loop_.watch_input(bell, [this, bell, code, why = std::move(why)] {
    fail(code, -1, why());
    loop_.forget(bell);
  });
}

void job::fail(int code, int rank, const std::string& text) {
  // Others may have said already that they have nothing to do with this rank any more.
  if (worlds_.size() > 1 && !std::exchange(catching_up_, true)) {
    holder_->read_all();
    catching_up_ = false;
  }
  const bool known = std::any_of(failures_.begin(), failures_.end(),
                                 [rank](const failure& each) { return each.rank == rank; });
  if (!known) {
    failures_.push_back({code, rank, text, now_ns() + parting_patience_ns});
    judge_failures();
  }
}

void job::judge_failures(bool patient) {
  std::erase_if(failures_, [&](const failure& each) { return is_over(each, patient); });
}

/// Ends those who end with the rank that has failed, once it is known who they are.
bool job::is_over(const failure& f, bool patient) {
  std::vector<world*> with;
  if (f.rank < 0) {
    with = all_worlds();
    if (ending()) {
      return true;
    }
  } else {
    const rank_state& failed = state_of(f.rank);
    SINEW_EXPECT(failed.in != nullptr);  // forget_ended_worlds()
    const bool at_once = !patient || now_ns() >= f.give_up_ns;
    connected_worlds found = connected_to(worlds_, *failed.in, failed.number, at_once);
    if (failed.in->ending || found.undecided) {
      return failed.in->ending;
    }
    with = std::move(found.all);
  }
  if (std::find(with.begin(), with.end(), worlds_.front().get()) != with.end()) {
    exit_code_ = exit_code_.value_or(f.code);
  }
  report_.fail(f.rank, f.text);
  say(std::string(as_clause(f.text)) + consequences(f, with));
  end(with, SIGTERM, failure_grace_s, &f);
  return true;
}

bool job::runs(const rank_state& rank) {
  return rank.in != nullptr && (rank.alive || !rank.settled);
}

/// Whether the rank has nothing left to do with the one that has failed. MPI_Finalize ends nowhere
/// before it has begun on all ranks of a world.
bool job::may_finish(const rank_state& rank, const failure& f) const {
  const auto finalized = [](const rank_state& r) {
    return r.in != nullptr && r.in->pmi->finalized(r.number);
  };
  if (f.rank < 0) {
    return finalized(rank);
  }
  const rank_state& failed = state_of(f.rank);
  const bool after_finalize = failed.in == rank.in && finalized(failed);
  return !failed.alive && (finalized(rank) || after_finalize);
}

std::string job::consequences(const failure& f, const std::vector<world*>& with) const {
  int ended = 0;
  int finishing = 0;
  int going_on = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const rank_state& each = ranks_[rank];
    const bool counts = runs(each) && (each.alive || (holder_->starts_unheard() && alive_ > 0));
    if (!counts || static_cast<int>(rank) == f.rank) {
      continue;
    }
    const bool ends = std::find(with.begin(), with.end(), each.in) != with.end();
    ended += ends ? 1 : 0;
    finishing += ends && may_finish(each, f) ? 1 : 0;
    going_on += ends ? 0 : 1;
  }
  std::string text;
  if (ended != 0) {
    text = finishing == ended
               ? "; " + others_text(ended) + " in or after MPI_Finalize " +
                     (ended == 1 ? "has " : "have ") + std::to_string(finish_grace_s) + " s to end"
               : "; ending " + others_text(ended);
  }
  if (going_on != 0) {
    text += going_on == 1 ? "; the rank that has disconnected from it goes on"
                          : "; the " + std::to_string(going_on) +
                                " ranks that have disconnected from it go on";
  }
  return text;
}

std::vector<world*> job::all_worlds() const {
  std::vector<world*> all;
  for (const auto& each : worlds_) {
    all.push_back(each.get());
  }
  return all;
}

bool job::ending() const {
  return std::all_of(worlds_.begin(), worlds_.end(), [](const auto& each) { return each->ending; });
}

/// There are ranks that no signal has been sent to yet, for which the job has time.
bool job::goes_on() const {
  return !ending() || std::any_of(ranks_.begin(), ranks_.end(), [](const rank_state& each) {
    return runs(each) && each.next_signal != SIGKILL;
  });
}

/// `signal`, and SIGKILL `grace_s` later; after a failure those who may finish have time for that.
void job::end(const std::vector<world*>& which, int signal, double grace_s,
              const failure* because) {
  const std::int64_t now = now_ns();
  for (world* const w : which) {
    w->ending = true;
    for (const int rank : w->ranks) {
      rank_state& state = state_of(rank);
      if (runs(state) && state.next_signal != SIGKILL) {
        const bool has_time = because != nullptr && may_finish(state, *because);
        state.next_signal = signal;
        state.signal_at_ns = now + (has_time ? finish_grace_s * second_ns : 0);
        state.grace_ns = static_cast<std::int64_t>(grace_s * 1e9);
      }
    }
  }
  send_signals(now);
}

void job::send_signals(std::int64_t now) {
  std::map<int, std::vector<int>> due;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (const rank_state& state = ranks_[rank];
        runs(state) && state.next_signal != 0 && state.signal_at_ns <= now) {
      due[state.next_signal].push_back(static_cast<int>(rank));
    }
  }
  for (const auto& [signal, ranks] : due) {
    std::vector<int> spared;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (runs(ranks_[rank]) &&
          !std::binary_search(ranks.begin(), ranks.end(), static_cast<int>(rank))) {
        spared.push_back(static_cast<int>(rank));
      }
    }
    holder_->signal_all(signal, spared);
    if (signal != SIGKILL) {
      holder_->signal_all(SIGCONT, spared);  // a stopped rank would not see it
    }
    for (const int rank : ranks) {
      rank_state& state = state_of(rank);
      // Once more for what was started meanwhile.
      state.signal_at_ns = now + (signal == SIGKILL ? second_ns : state.grace_ns);
      state.next_signal = SIGKILL;
    }
  }
  next_signals_ns_ = 0;
  for (const rank_state& state : ranks_) {
    if (runs(state) && state.next_signal != 0 &&
        (next_signals_ns_ == 0 || state.signal_at_ns < next_signals_ns_)) {
      next_signals_ns_ = state.signal_at_ns;
    }
  }
}

}  // namespace sinew::tool
