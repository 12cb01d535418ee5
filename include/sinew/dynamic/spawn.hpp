// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are started at run time (MPI-5.0 section 11.8). The root asks the launcher, which
// starts the processes in places that the node's memory has for them; or, where the launcher does
// not do that, the root starts another one. Then both groups meet as at a port.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/boot/spawn.hpp"
#include "sinew/coll/intercommunicators.hpp"
#include "sinew/dynamic/failure.hpp"
#include "sinew/dynamic/leaders.hpp"

namespace sinew::dynamic {

/// One program of a spawn, as it is asked for.
struct command {
  std::vector<std::string> arguments;  ///< the program's name first
  int ranks;                           ///< so many, or fewer if the hint "soft" allows it
  /// Keys and values: "host", "wdir" or "wd", "path", "env" and "soft" mean something.
  std::vector<std::pair<std::string, std::string>> hints;
};

/// MPI-5.0 section 11.8.1: "soft" has a:b:c, a:b and a, joined by commas. The numbers from 1 to
/// `most` that it allows, descending. Throws failure if there are none.
[[nodiscard]] std::vector<int> soft_counts(const std::string& soft, int most);

/// Ranks that are being started. Collective over `at`: each rank makes it, calls connect() if there
/// is no problem, and destroys it. `job`: all ranks of the job (coll::job).
class spawning {
 public:
  using commands = std::function<std::vector<command>()>;
  /// `what` is called at the root alone. What it throws as failure is the problem on all ranks.
  spawning(coll::participant job, coll::participant at, comm_rank root, const commands& what);
  /// The same on all ranks.
  [[nodiscard]] const std::optional<failure>& problem() const noexcept { return problem_; }
  /// Of each command: how many ranks it was to have, and how many it has.
  [[nodiscard]] const std::vector<int>& wanted() const noexcept { return wanted_; }
  [[nodiscard]] const std::vector<int>& started() const noexcept { return answer_.counts; }
  /// Collective, with the new ranks, which call parent().
  [[nodiscard]] coll::intercommunicator_ref connect();

 private:
  struct request;
  void start(const commands& what);
  void ask_launcher(request wanted);
  void start_job(request wanted);
  void tell_all();

  coll::participant job_;
  coll::participant at_;
  comm_rank root_;
  bool in_job_;
  std::optional<failure> problem_;
  std::vector<int> wanted_;
  boot::spawn_answer answer_;
  int tag_ = 0;  ///< at the root, in the job
  leaders_way way_;
  std::optional<coll::leaders_link> link_;  ///< at the root, of another job
};

/// To whoever has spawned this rank; null if nobody has. Collective over `world`, the ranks that
/// were spawned together. `timeout_s`: how long a port is tried, 0 for ever. Once.
[[nodiscard]] coll::intercommunicator_ref parent(coll::participant job, coll::participant world,
                                                 std::int64_t timeout_s);

}  // namespace sinew::dynamic
