// What `sinew run` was asked to do.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/options.hpp"

namespace sinew::tool {

/// One program of the job; several are joined by ':'.
struct application {
  int ranks = 1;
  std::string directory;  ///< empty: where the launcher is
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> arguments;  ///< the program's name first
};

/// automatic: to cores if there is exactly one for each of several ranks, else none.
enum class binding_policy { automatic, none, core, numa };
enum class stdin_target { one_rank, none, all };

struct run_options {
  std::vector<application> applications;
  bool label = false;
  std::string output_pattern;  ///< %r is the rank; both streams; empty: the launcher's own streams
  std::string output_directory;
  double timeout_s = 0;     ///< 0: none
  bool statistics = false;  ///< ranks tell what matching has cost
  std::string hang_timeout;
  std::string trace;  ///< file for the trace of all ranks; empty: none
  binding_policy binding = binding_policy::automatic;
  bool report_bindings = false;
  stdin_target input = stdin_target::one_rank;
  int input_rank = 0;
  bool threads_as_fibers = false;
  bool dry_run = false;
  bool verbose = false;
  bool help = false;

  [[nodiscard]] int ranks() const noexcept;
};

/// Words behind "run". Throws usage_failure.
[[nodiscard]] run_options parse_run(std::span<const std::string_view> words);

}  // namespace sinew::tool
