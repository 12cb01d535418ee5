// SPDX-License-Identifier: BSD-3-Clause
// Who is measured: Sinew beside this binary, and the MPI implementations found on the machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/bench/process.hpp"

namespace sinew::tool {

/// One implementation with one way to run it. "openmpi" and "openmpi-ucx..." share a compiler.
struct subject {
  std::string name;                 ///< as in the JSON: sinew, mpich, openmpi, openmpi-ucx-cma ...
  std::string compiler;             ///< its wrapper for C
  std::string launcher;             ///< mpiexec, or this binary
  std::string version = {};         ///< "5.0.2"; of Sinew: empty until a program has told
  bool default_transport = true;    ///< whether it runs with the implementation's own defaults
  std::string ucx_transports = {};  ///< otherwise: over UCX, with these; empty: UCX chooses
  bool variant = false;      ///< one more way of another subject: where transports are compared
  std::string engine = {};   ///< of ours: how it matches; empty: the default
  std::string network = {};  ///< of ours: it runs in virtual time on this one; empty: really
  std::vector<std::string> options = {};    ///< more words for its launcher
  std::vector<std::string> arguments = {};  ///< more words for its programs
  bool may_tell_version = false;            ///< `version` gives way to what a program prints

  /// Its column: "mpich", or "sinew:hash" where engines are compared.
  [[nodiscard]] std::string label() const { return engine.empty() ? name : name + ':' + engine; }
};

/// Where measuring programs' sources lie, or nothing when neither the tree nor an installation has
/// them. Cold.
std::optional<std::string> bench_sources();

/// A C compiler, and where the C programs of an experiment lie. Without one of them nothing, and
/// `failure` says which. Cold.
struct c_sources {
  std::string compiler;
  std::string folder;
};
std::optional<c_sources> find_c_sources(std::string_view experiment, std::string& failure);

/// Sinew without MPI: no compiler, no launcher.
[[nodiscard]] inline subject sinew_itself() { return {"sinew", "", ""}; }

/// Sinew itself, if mpicc.sinew lies beside this binary. Cold.
std::optional<subject> find_ours();

/// Peers by asking each pair of mpicc and mpiexec what it is, in: the folders of the setting
/// SINEW_BENCH_PEERS, <build>/peers, $VIRTUAL_ENV, .venv, then PATH. The first of a kind wins.
/// Starts programs, hence suspends. Cold.
/// `wrapper`: which of their compilers is meant; those that do not pass `works` are passed over.
std::vector<subject> find_peers(const std::string& wrapper = "mpicc",
                                const std::function<bool(const subject&)>& works = {});

/// Where compiled programs are kept, made if need be; nothing where there is no such place. Cold.
std::optional<std::string> programs_folder();

/// Compiles bench/<experiment>/<program>.c (empty: named as the experiment) with the subject's
/// wrapper, unless the cache holds it. Returns the program's path; on failure nothing, and
/// `failure` says why. Cold.
std::optional<std::string> build_program(const subject& who, const std::string& experiment,
                                         const std::string& program, std::string& failure);

/// Compiles `source` with `words` (a compiler's path, then options that may follow the source)
/// unless the cache holds a program of the same words, compiler, source and `inputs` (headers it
/// includes). Returns the program's path; on failure nothing, and `failure` says why.
/// `scratch_option`, if any, is given with a folder that only this compilation has, and that is
/// gone afterwards. `verb` stands between the compiler and its options: "build" of go. Suspends.
/// Cold.
std::optional<std::string> compile_cached(const std::vector<std::string>& words,
                                          const std::string& source,
                                          const std::vector<std::string>& inputs,
                                          const std::string& tag, std::string& failure,
                                          const std::string& scratch_option = {},
                                          const std::string& verb = {});

/// The command that runs `program` on `ranks` ranks, bound to processors as ours are (to a core
/// each if there are as many). With `plain` the implementation's own choice of transport and of
/// binding is left alone.
command launch_command(const subject& who, int ranks, const std::string& program,
                       const std::vector<std::string>& words, bool plain);

/// Folder of this binary.
std::string own_folder();

}  // namespace sinew::tool
