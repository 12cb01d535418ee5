// SPDX-License-Identifier: BSD-3-Clause
// The jobs of this machine that can be asked: those of `sinew run`, by its socket, and those that
// another launcher has started, rank by rank.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "sinew/ask/job_socket.hpp"
#include "sinew/ask/rank_numbers.hpp"

namespace sinew::tool {

/// Ranks of one job that are on this machine, and not `sinew run`'s. A process that nobody has
/// started as a rank is a job of its own.
struct other_job {
  std::string launcher;
  int size = 0;
  std::map<int, pid_t> ranks;
};

class asked_job {
 public:
  explicit asked_job(pid_t launcher) : number_(launcher) {}
  explicit asked_job(other_job job);

  /// What names it: the process of its `sinew run`, or of its first rank here.
  [[nodiscard]] pid_t number() const noexcept { return number_; }
  /// "job 4711: sinew run -n 4 ./solver". Text of others: see terminal_text().
  [[nodiscard]] std::string title() const;
  /// Not numbers. Waits for it. Throws sinew::error: it has ended.
  [[nodiscard]] std::string answer(question what) const;
  /// By rank, ascending. Likewise.
  [[nodiscard]] std::vector<numbered_rank> numbers() const;

 private:
  pid_t number_;
  other_job other_ = {};  ///< has no ranks if it is a `sinew run`
};

/// All of this user's that can be asked; or those that these processes are, the `sinew run` or a
/// rank. Throws sinew::error: there is none, or one of them is none. Cold.
[[nodiscard]] std::vector<asked_job> jobs_to_ask(const std::vector<pid_t>& named);

/// The one that is meant. Throws sinew::error also where several are.
[[nodiscard]] asked_job the_job(const std::vector<pid_t>& named, const std::string& command);

}  // namespace sinew::tool
