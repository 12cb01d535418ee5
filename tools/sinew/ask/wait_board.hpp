// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a job wait for, as they tell it, and whether that can ever end.
//
// A rank that waits for long tells so once by itself, then whenever it is asked and waits again. A
// round is over when all ranks that run have answered its question. If all answers of a round have
// the same states as those of the round before, nobody goes on for ever:
//   - Between the last answer of the round before and the first question of this one there is a
//     moment. In that moment no rank was doing anything, nor did one until its answer: its state
//     says so (boot/wait_report.hpp).
//   - Each has looked after that moment at all that it waits for, and found nothing.
//   - No message was under way in that moment. What goes by memory is there at once, and would have
//     been found; over networks as many had been received as were sent.
// So nobody will do anything for which another one could wait.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sinew/boot/wait_report.hpp"

namespace sinew::tool {

/// The launcher's thread only. Cold.
class wait_board {
 public:
  /// Sends a rank that question. It answers each one once.
  using asker = std::function<void(int rank, int turn)>;
  explicit wait_board(asker ask) : ask_(std::move(ask)) {}

  /// `running`: all ranks of the job that have not ended; empty: others may come, and it is not
  /// judged. True: these wait for ever; told once.
  [[nodiscard]] bool take(int rank, boot::wait_report told, const std::vector<int>& running);
  /// It has ended. It was running in the moment of the round that is not over: that one proves
  /// nothing, and another begins.
  void leave(int rank);
  /// What it has told last; null: nothing.
  [[nodiscard]] const boot::wait_report* last_of(int rank) const {
    const auto found = ranks_.find(rank);
    return found != ranks_.end() ? &found->second.last : nullptr;
  }
  /// All that have ever waited for long are asked again; these are they.
  std::set<int> ask_again();

 private:
  struct entry {
    boot::wait_report last;
    std::string before;  ///< its state in the round before
    bool asked = false;  ///< and it has not answered yet
  };
  void ask(int rank, entry& of);
  void begin_round();
  [[nodiscard]] bool judge(const std::vector<int>& running);
  [[nodiscard]] bool nothing_is_under_way() const;

  asker ask_;
  std::map<int, entry> ranks_;
  int turn_ = 0;
  bool has_left_ = false;  ///< a rank, with its counts of messages
  bool told_ = false;
};

}  // namespace sinew::tool
