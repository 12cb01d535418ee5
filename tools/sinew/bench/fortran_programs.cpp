// SPDX-License-Identifier: BSD-3-Clause
// Experiments whose programs are MPI in Fortran, some with a twin in C in the same folder. Peers
// are implementations with modules of their own: those of distributions; wheels bring none.

#include <algorithm>
#include <filesystem>

#include "sinew/bench/experiment.hpp"
#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* probe = "common/measure.f90";

// The wrapper for C lies beside the one for Fortran: mpif90.mpich and mpicc.mpich.
std::string compiler_for(const subject& who, std::string_view source) {
  if (is_fortran(source)) {
    return who.compiler;
  }
  const fs::path path = who.compiler;
  const std::string name = path.filename();
  return path.parent_path() / ("mpicc" + name.substr(std::min(name.find('.'), name.size())));
}

// Whether its modules are there, and are this compiler's.
bool has_modules(const subject& who) {
  const auto sources = bench_sources();
  std::string failure;
  return sources && compile_cached({who.compiler, "-c"}, fs::path(*sources) / probe, {},
                                   "modules-" + who.name, failure, "-J")
                        .has_value();
}

class fortran_runner final : public runner {
 public:
  [[nodiscard]] bool over_mpi() const override { return true; }

  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine& m) const override {
    std::vector<subject> found;
    const bool with_peers = m.mpi.size() > 1;
    for (const subject& s : m.mpi) {
      if (s.name == "sinew") {
        found.push_back(s);
        found.back().compiler = own_folder() + "/mpifort.sinew";
      }
    }
    if (with_peers) {
      std::vector<subject> peers = find_peers("mpif90", has_modules);
      std::erase_if(peers, [](const subject& s) { return !s.default_transport; });
      found.insert(found.end(), peers.begin(), peers.end());
    }
    return found;
  }

  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto sources = bench_sources();
    if (!sources) {
      failure = "the sources of the measuring programs are not installed";
      return std::nullopt;
    }
    const fs::path root = *sources;
    std::vector<std::string> words = {compiler_for(who, how.program), "-O2"};
    if (is_fortran(how.program)) {
      words.push_back(root / "common" / "trip.c");
    }
    const auto program = compile_cached(
        words, root / std::string(e.name) / how.program, common_sources(*sources),
        std::string(e.name) + '-' + fs::path(how.program).stem().string() + '-' + who.name, failure,
        is_fortran(how.program) ? "-J" : "");
    if (!program) {
      return std::nullopt;
    }
    return launch_command(who, how.ranks, *program, how.words, false);
  }
};

}  // namespace

const runner& fortran_programs() {
  static const fortran_runner one;
  return one;
}

}  // namespace sinew::tool
