// SPDX-License-Identifier: BSD-3-Clause
// What `sinew bench` knows of an experiment. Each has a folder bench/<name>/ with its programs, the
// figures of the paper it repeats (paper.txt) and one experiment.cpp, which defines a descriptor
// and lists it; that folder is all that an experiment consists of. The tool knows none by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/bench/placement.hpp"
#include "sinew/bench/process.hpp"
#include "sinew/bench/stats.hpp"
#include "sinew/bench/subjects.hpp"

namespace sinew::tool {

enum class effort { quick, usual, full };

/// What the user asked for.
struct request {
  effort how = effort::usual;
  bool sweep = false;            ///< --sweep
  bool thread_multiple = false;  ///< --threads multiple
  std::string shape = {};        ///< --shape: "4x2x2"

  /// Of three values, the one for quick, usual or full.
  template <class T, std::size_t N>
  [[nodiscard]] const T& choose(const T (&of)[N]) const {
    static_assert(N == 3);
    return of[static_cast<std::size_t>(how)];
  }
};

/// One start of one program.
struct start {
  int ranks = 2;
  std::vector<std::string> words;  ///< its arguments
  std::string program = {};        ///< one of several in the folder; empty: the only one
  std::shared_ptr<const placement> over = {};  ///< the hosts of its ranks; null: this machine
};

/// Whether and how an experiment runs over hosts.
enum class between_hosts : unsigned char {
  no,
  pair,  ///< two ranks, on two hosts
  all,   ///< as many ranks as the hosts take
  each,  ///< one rank a host: on one of them, on two, four and so on, and on all
  torus  ///< one rank a host, on all of them, which the cables of request::shape join
};

/// What ucx_perftest measures, as the floor over hosts.
enum class ucx_floor : unsigned char { none, latency, bandwidth, rate };

/// A library that does the same as a part of Sinew: its program is <name>.cpp in the folder. The
/// ones named "go" and "java" are go.go and java.java, and take part where the compiler of Go is,
/// or a Java with virtual threads.
struct library_peer {
  std::string_view name;
  std::string_view header;  ///< where this is installed, the peer takes part
  std::vector<std::string> options;
  std::string_view package = {};  ///< in the header's place: what pkg-config calls it
  std::string_view cmake = {};    ///< in the header's place: the CMake package NAME, of NAME::NAME
};

/// A column of the table that only one experiment has.
struct extra_column {
  std::string_view heading;
  std::string (*cell)(const stats::row&, std::optional<double> floor);
};

class runner;

/// A descriptor. Null functions stand for what their comment says.
struct experiment {
  std::string_view name;   ///< of the folder, in rows and on the command line
  std::string_view about;  ///< one line for --help
  const runner& by;
  std::vector<start> (*starts)(const request&);

  /// What the floor probe measures (floor_probe.hpp). Null: nothing.
  std::vector<std::string> (*floor_words)(const request&) = nullptr;
  /// The bound of a row, from the rows of the subject "floor". Null: the floor's own row of this
  /// key.
  std::optional<double> (*floor_of)(const stats::result_set&, const stats::row_key&) = nullptr;
  /// The columns, made of the subjects that were found. Null: these themselves.
  std::vector<subject> (*columns)(std::vector<subject> found) = nullptr;
  /// Whether a subject runs this start. Null: all do.
  bool (*takes_part)(const subject&, const start&) = nullptr;
  /// Where the wall time is the result: `run` starts the program once and returns its seconds, or
  /// nothing if it failed. Null: the program prints what it measures.
  std::vector<stats::measurement> (*timed)(
      const start&, const std::function<std::optional<double>()>& run) = nullptr;
  /// The text on the screen. Null: experiment_table() of report.hpp.
  std::string (*table)(const experiment&, const stats::result_set&, const request&,
                       const std::vector<std::string>& columns) = nullptr;
  std::optional<extra_column> extra = std::nullopt;

  bool all_transports = false;           ///< peers take part in every way that is known of them
  std::vector<library_peer> peers = {};  ///< of library_programs()
  std::vector<std::string> compile_with = {};  ///< more words for compilers, of coarray_programs()
  std::string_view module_source = {};         ///< Fortran that the programs use; compiled first
  int usual_rounds = 5;                        ///< unless --repeat says how many
  /// One round is enough: every one would have the same numbers. Null: never.
  bool (*one_round)(const request&) = nullptr;
  between_hosts hosts = between_hosts::no;
  /// Of between_hosts::each and torus: the starts on so many hosts. Programs of each get the word
  /// over=hosts, too, and end the parameters of their rows with it, as the paper's rows of ranks
  /// that were nodes are repeated with it.
  std::vector<start> (*starts_on)(const request&, int hosts) = nullptr;
  ucx_floor over_hosts = ucx_floor::none;
  std::vector<std::string_view> cases = {};  ///< those that can be named in the experiment's place
};

/// Lists `e`, which lives as long as the program. A static object in experiment.cpp.
class listed {
 public:
  explicit listed(const experiment& e) noexcept;
};

/// All that are listed, by name. Cold.
[[nodiscard]] const std::vector<const experiment*>& all_experiments();

/// The MPI implementations of the machine, Sinew first if it is there.
struct machine {
  std::vector<subject> mpi;
};

/// How an experiment's programs are made and started.
class runner {
 public:
  virtual ~runner() = default;
  /// Who can take part, Sinew first.
  [[nodiscard]] virtual std::vector<subject> subjects(const experiment&, const machine&) const = 0;
  /// The command of one start, its program compiled if need be; on failure nothing, and `failure`
  /// says why. Suspends.
  [[nodiscard]] virtual std::optional<command> prepare(const experiment&, const subject&,
                                                       const start&,
                                                       std::string& failure) const = 0;
  /// The commands that measure the floor. Unless overridden: the floor probe with floor_words.
  [[nodiscard]] virtual std::vector<command> floors(const experiment&, const request&) const;
  /// The same on the hosts of these starts. Unless overridden: nothing.
  [[nodiscard]] virtual std::vector<command> floors_over(const experiment&,
                                                         const std::vector<start>&) const {
    return {};
  }
  /// Peers that are not on this machine, and a sentence on what was looked for. Suspends.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> absent(
      const experiment&) const {
    return {};
  }
  /// Whether it needs the MPI implementations to be looked for.
  [[nodiscard]] virtual bool over_mpi() const { return false; }
};

/// C programs <name>.c (or <program>.c), compiled with each MPI's wrapper, on several ranks.
[[nodiscard]] const runner& mpi_programs();
/// Coarray programs *.f90 on Sinew and OpenCoarrays, C programs beside them on each MPI.
[[nodiscard]] const runner& coarray_programs();
/// MPI programs *.f90 in Fortran, and *.c beside them, on the implementations that have modules.
[[nodiscard]] const runner& fortran_programs();
/// Ours is the build's program bench-<name>; peers are libraries (experiment::peers).
[[nodiscard]] const runner& library_programs();
/// Ours is the build's program bench-<name>, started by `sinew run`. They have no peers.
[[nodiscard]] const runner& job_programs();
/// C programs <name>.c in virtual time, by `sinew simulate` and by SimGrid's SMPI; words[0] of a
/// start is its torus.
[[nodiscard]] const runner& simulated_programs();
/// Starts of this binary itself; words[0] names the command. They have no peers.
[[nodiscard]] const runner& own_commands();

}  // namespace sinew::tool
