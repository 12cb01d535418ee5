// SPDX-License-Identifier: BSD-3-Clause
// What `sinew run` was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/options.hpp"
#include "sinew/p2p/steering.hpp"
#include "sinew/sim/faults.hpp"

namespace sinew::tool {

/// One program of the job; several are joined by ':'.
struct application {
  int ranks = 0;          ///< 0: not said, until place_ranks()
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
  double silence_s = 60;      ///< ranks that all wait so long are told of; 0: never
  bool silence_ends = false;  ///< and the job ends
  /// A job whose ranks wait for each other for ever ends; not said: if it checks its calls.
  std::optional<bool> deadlock_ends;
  std::string trace;    ///< file for the trace of all ranks; empty: none
  std::string profile;  ///< file or page for the profile; empty: none
  std::string report;   ///< file that says how the job has ended; empty: none
  binding_policy binding = binding_policy::automatic;
  bool survive = false;  ///< a rank's death does not end the job
  bool report_bindings = false;
  stdin_target input = stdin_target::one_rank;
  int input_rank = 0;
  bool threads_as_fibers = false;
  std::string hosts;           ///< as given: "h1:2,h2"; empty: not given
  std::string host_file;       ///< empty: none
  int per_node = 0;            ///< ranks on each host; 0: what the list of hosts says
  bool by_node = false;        ///< ranks go round the hosts one by one
  std::string agent;           ///< how a command is started on another host; empty: chosen by us
  bool through_agent = false;  ///< daemons speak through it alone: the launcher does not listen
  int tree_width = 32;         ///< daemons that the launcher, and each daemon, starts itself
  double host_timeout_s = 4;   ///< a host that is not heard of for so long is lost; 0: never
  bool simulate = false;       ///< in virtual time; what follows is of that
  std::string calibrate;       ///< a file to write speeds of hosts to; empty: run a program
  std::string network;         ///< sim::parse_network; empty: not given
  std::uint64_t seed = 0;
  double compute = 0;  ///< virtual time for each of the processor's
  int ranks_per_node = 1;
  std::string picture;       ///< file for what the links have carried; empty: none
  int runs = 0;              ///< by sinew explore, each with another seed; 0: one run
  bool same_output = false;  ///< of these runs: they are to print the same
  std::string draws;         ///< of these runs: sim::draw_faults; empty: nothing
  std::vector<sim::fault> faults;
  std::vector<p2p::source_match> matches;  ///< that are forced
  int facts_file = -1;          ///< descriptor that gets what sinew explore goes by; -1: none
  std::int64_t longest_ns = 0;  ///< of virtual time; 0: no limit
  bool preempt = false;         ///< a rank that computes for long holds nobody up
  bool dry_run = false;
  bool verbose = false;
  bool help = false;

  [[nodiscard]] int ranks() const noexcept;
};

/// Words behind "run". How many ranks there are may still be open: see place_ranks() (hosts.hpp).
/// Throws usage_failure.
[[nodiscard]] run_options parse_run(std::span<const std::string_view> words);
/// The same words without those options that are named (by their first names), wherever they stand
/// before a program's name; the programs' own arguments stay as they are. parse_run() takes them.
[[nodiscard]] std::vector<std::string> words_without(std::span<const std::string_view> words,
                                                     std::span<const std::string_view> dropped);
/// What can be checked when the number of ranks is known. Throws usage_failure.
void check_ranks(const run_options& options);
/// Ranks of a program of which nothing is said: SINEW_IMAGES, or 1. Throws usage_failure.
[[nodiscard]] int standard_ranks();

}  // namespace sinew::tool
