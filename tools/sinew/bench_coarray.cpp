#include "bench_coarray.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "bench_stats.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : stats::split(path != nullptr ? path : "", ':')) {
    const fs::path found = fs::path(folder) / name;
    if (access(found.c_str(), X_OK) == 0) return found.string();
  }
  return std::nullopt;
}

std::optional<std::string> fortran_compiler() {
  const char* chosen = std::getenv("FC");
  if (chosen != nullptr && std::string_view(chosen).find('/') != std::string_view::npos) {
    return chosen;
  }
  return in_path(chosen != nullptr ? chosen : "gfortran");
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

bool is_fortran(std::string_view source) { return source.ends_with(".f90"); }

}  // namespace

bool has_coarrays(std::string_view experiment) {
  return experiment == "coarray" || experiment == "himeno";
}

std::vector<coarray_start> coarray_starts(std::string_view experiment, std::size_t level) {
  static constexpr std::array<const char*, 3> budgets = {"budget_ms=10", "budget_ms=25",
                                                         "budget_ms=100"};
  static constexpr std::array<const char*, 3> sizes = {
      "sizes=8,4096,32768,1048576", "sizes=8,64,512,4096,32768,262144,1048576,8388608,33554432",
      "sizes=8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,"
      "1048576,2097152,4194304,8388608,16777216,33554432"};
  if (experiment == "coarray") {
    const std::vector<std::string> words = {sizes[level], budgets[level]};
    return {{2, words, "coarray.f90"}, {2, words, "mpi.c"}};
  }
  static constexpr std::array<const char*, 3> grids = {"sizes=XS,S", "sizes=XS,S,M",
                                                       "sizes=XS,S,M"};
  static constexpr std::array<const char*, 3> spans = {"budget_ms=200", "budget_ms=200",
                                                       "budget_ms=2000"};
  const std::vector<std::string> words = {grids[level], spans[level]};
  return {{2, words, "coarray.f90"}, {2, words, "mpi.c"}, {1, words, "serial.f90"}};
}

std::optional<subject> find_opencoarrays() {
  const auto compiler = fortran_compiler();
  const auto launcher = in_path("mpirun.openmpi");
  if (!compiler || !launcher || !find_files()) return std::nullopt;
  std::string version = "unknown";
  if (const auto asked = in_path("dpkg-query")) {
    const command_result said =
        run_command({{*asked, "-W", "-f=${Version}", "libcoarrays-openmpi-dev"}, {}, 10});
    if (said.ok() && !said.output.empty()) version = said.output;
  }
  return subject{"opencoarrays", *compiler, *launcher, version, true, ""};
}

bool takes_part(const subject& who, std::string_view experiment, std::string_view source) {
  if (source == "coarray.f90") return who.name == "sinew" || who.name == "opencoarrays";
  if (source == "serial.f90") return who.name == "sinew";
  if (who.name == "sinew") return experiment == "himeno";
  return who.name != "opencoarrays";
}

std::optional<std::string> coarray_program(const subject& who, const std::string& experiment,
                                           const std::string& source, std::string& failure) {
  const auto sources = bench_sources();
  const auto fortran = fortran_compiler();
  if (!sources) {
    failure = "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  const fs::path folder = fs::path(*sources) / experiment;
  const bool with_kernel = experiment == "himeno";
  if (!fortran && (is_fortran(source) || with_kernel)) {
    failure = "there is no gfortran (./bootstrap --dev installs it)";
    return std::nullopt;
  }
  std::vector<std::string> words = {who.compiler, "-O2"};
  if (is_fortran(source) && who.name == "sinew") {
    words.front() = source == "serial.f90" ? *fortran : own_folder() + "/caf.sinew";
  }
  std::vector<std::string> inputs = {fs::path(*sources) / "common" / "measure.h"};
  fs::path main = folder / source;
  if (with_kernel) {
    // The kernel's module must be compiled first, so it stands where the source does.
    const fs::path kernel = folder / "kernel.f90";
    words.insert(words.end(), {"-O3", "-ffast-math", "-march=native"});
    if (is_fortran(source)) {
      words.push_back(main);
      inputs.push_back(main);
      main = kernel;
    } else {
      words.insert(words.end(), {kernel, "-lgfortran", "-lm"});
      inputs.push_back(kernel);
    }
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
                        experiment + '-' + fs::path(source).stem().string() + '-' +
                            who.name.substr(0, who.name.find('-')),
                        failure, is_fortran(source) || with_kernel ? "-J" : "");
}

command coarray_command(const subject& who, const coarray_start& how, const std::string& program) {
  // The newest package aborts where a pointer component is read.
  std::vector<std::string> words = how.words;
  if (who.name == "opencoarrays") words.emplace_back("halo=no");
  return launch_command(who, how.images, program, words, who.name == "opencoarrays");
}

}  // namespace sinew::tool
