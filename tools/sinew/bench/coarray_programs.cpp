// SPDX-License-Identifier: BSD-3-Clause
// Experiments that are written with coarrays: several programs in one folder, in Fortran and in C,
// of which every subject runs those that it can.

#include <cstdlib>
#include <filesystem>

#include "sinew/bench/experiment.hpp"
#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> fortran_compiler() {
  const char* chosen = std::getenv("FC");
  if (chosen != nullptr && std::string_view(chosen).find('/') != std::string_view::npos) {
    return chosen;
  }
  return program_in_path(chosen != nullptr ? chosen : "gfortran");
}

// Debian's OpenCoarrays lies in a folder of its own below the architecture's, and calls the
// Open MPI beside it, whose development files need not be installed.
struct opencoarrays_files {
  fs::path folder;
  fs::path mpi;
};

std::optional<opencoarrays_files> find_files() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib", ignored)) {
    const fs::path folder = entry.path() / "open-coarrays" / "openmpi" / "lib";
    const fs::path mpi = entry.path() / "libmpi.so.40";
    if (fs::exists(folder / "libcaf_openmpi.so", ignored) && fs::exists(mpi, ignored)) {
      return opencoarrays_files{folder, mpi};
    }
  }
  return std::nullopt;
}

std::optional<subject> find_opencoarrays() {
  const auto compiler = fortran_compiler();
  const auto launcher = program_in_path("mpirun.openmpi");
  const auto files = find_files();
  if (!compiler || !launcher || !files) {
    return std::nullopt;
  }
  return subject{"opencoarrays", *compiler, *launcher,
                 packaged_version(files->folder / "libcaf_openmpi.so")};
}

std::optional<std::string> coarray_program(const experiment& e, const subject& who,
                                           const std::string& source, std::string& failure) {
  const auto sources = bench_sources();
  const auto fortran = fortran_compiler();
  if (!sources) {
    failure = "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  const fs::path folder = fs::path(*sources) / std::string(e.name);
  const bool with_kernel = !e.module_source.empty();
  if (!fortran && (is_fortran(source) || with_kernel)) {
    failure = "there is no gfortran (./bootstrap --dev installs it)";
    return std::nullopt;
  }
  std::vector<std::string> words = {who.compiler, "-O2"};
  if (is_fortran(source) && who.name == "sinew") {
    words.front() = source == "serial.f90" ? *fortran : own_folder() + "/caf.sinew";
  }
  std::vector<std::string> inputs = common_sources(*sources);
  fs::path main = folder / source;
  if (with_kernel) {
    // The kernel's module must be compiled first, so it stands where the source does.
    const fs::path kernel = folder / std::string(e.module_source);
    words.insert(words.end(), e.compile_with.begin(), e.compile_with.end());
    if (is_fortran(source)) {
      words.push_back(main);
      inputs.push_back(main);
      main = kernel;
    } else {
      words.insert(words.end(), {kernel, "-lgfortran", "-lm"});
      inputs.push_back(kernel);
    }
  }
  if (is_fortran(source)) {
    words.push_back(fs::path(*sources) / "common" / "trip.c");
  }
  if (who.name == "opencoarrays") {
    const auto files = find_files();
    if (!files) {
      failure = "OpenCoarrays is no longer there";
      return std::nullopt;
    }
    words.insert(words.end(),
                 {"-fcoarray=lib", "-L" + files->folder.string(),
                  "-Wl,-rpath," + files->folder.string(), "-lcaf_openmpi", files->mpi.string()});
  }
  // Module files are of no use once the program is linked.
  return compile_cached(words, main, inputs,
                        std::string(e.name) + '-' + fs::path(source).stem().string() + '-' +
                            who.name.substr(0, who.name.find('-')),
                        failure, is_fortran(source) || with_kernel ? "-J" : "");
}

class coarray_runner final : public runner {
 public:
  [[nodiscard]] bool over_mpi() const override { return true; }
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine& m) const override {
    std::vector<subject> found = m.mpi;
    std::erase_if(found, [](const subject& s) { return !s.default_transport; });
    if (const auto peer = find_opencoarrays()) {
      found.push_back(*peer);
    }
    return found;
  }
  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = coarray_program(e, who, how.program, failure);
    if (!program) {
      return std::nullopt;
    }
    const bool plain = who.name == "opencoarrays";
    return how.over != nullptr ? launch_over(*how.over, who, *program, how.words, plain)
                               : launch_command(who, how.ranks, *program, how.words, plain);
  }
};

}  // namespace

const runner& coarray_programs() {
  static const coarray_runner one;
  return one;
}

}  // namespace sinew::tool
