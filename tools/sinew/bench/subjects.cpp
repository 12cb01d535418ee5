// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/subjects.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sinew/base/settings.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/bench/installed.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

setting<std::string> peers_setting(
    "bench", "peers", "", "",
    "folders, separated by ':', in which `bench` looks for other MPI implementations first");

// Open MPI over UCX in three ways, for which one is best depends on the host and the size: shared
// memory alone, with copies through the kernel, and what UCX chooses.
constexpr std::pair<const char*, const char*> ucx_ways[] = {
    {"openmpi-ucx", "posix,self"}, {"openmpi-ucx-cma", "posix,cma,self"}, {"openmpi-ucx-auto", ""}};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool runnable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// "…<after>5.0.2 …" gives "5.0.2".
std::string word_after(const std::string& text, const std::string& after) {
  const std::size_t at = text.find(after);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = text.find_first_not_of(" \t", at + after.size());
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_first_of(" \t\r\n,", begin) - begin);
}

std::string ask(const std::string& program, const std::string& word) {
  const command_result answer = run_command({{program, word}, {}, 10});
  return answer.output + answer.errors;
}

// What a wrapper and a launcher are. Two wheels in one folder overwrite each other's mpicc but not
// each other's mpiexec, so both are asked and must agree.
std::optional<subject> identify(const fs::path& compiler, const fs::path& launcher) {
  if (!runnable(compiler) || !runnable(launcher)) {
    return std::nullopt;
  }
  const std::string runs = ask(launcher, "--version");
  if (runs.find("HYDRA") != std::string::npos) {
    const std::string compiles = ask(compiler, "-v");
    const std::string version = word_after(compiles, "MPICH version");
    if (version.empty()) {
      return std::nullopt;
    }
    return subject{"mpich", compiler, launcher, version};
  }
  // Its launcher of versions before 5 has a name of its own.
  if (runs.find("Open MPI") != std::string::npos || runs.find("OpenRTE") != std::string::npos) {
    const std::string version = word_after(ask(compiler, "--showme:version"), "Open MPI");
    if (version.empty()) {
      return std::nullopt;
    }
    return subject{"openmpi", compiler, launcher, version};
  }
  return std::nullopt;
}

std::vector<fs::path> peer_folders() {
  std::vector<fs::path> roots;
  for (const std::string& root : stats::split(peers_setting(), ':')) {
    roots.emplace_back(root);
  }
  roots.push_back(fs::path(own_folder()).parent_path() / "peers");
  if (const std::string env = environment("VIRTUAL_ENV"); !env.empty()) {
    roots.emplace_back(env);
  }
  roots.emplace_back(".venv");
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    for (const char* below : {"bin", "mpich/bin", "openmpi/bin"}) {
      folders.push_back(root / below);
    }
  }
  for (const std::string& folder : stats::split(environment("PATH"), ':')) {
    folders.emplace_back(folder);
  }
  return folders;
}

std::uint64_t fnv(std::uint64_t hash, const std::string& text) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

// In a build tree the cache lies in the tree, so that removing the tree removes it.
std::optional<std::string> programs_folder() {
  const fs::path tree = fs::path(own_folder()).parent_path();
  fs::path folder;
  if (fs::exists(tree / "CMakeCache.txt")) {
    folder = tree / "bench-cache";
  } else if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) {
    folder = fs::path(xdg) / "sinew-bench";
  } else if (const std::string home = environment("HOME"); !home.empty()) {
    folder = fs::path(home) / ".cache" / "sinew-bench";
  } else {
    return std::nullopt;
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    return std::nullopt;
  }
  return folder.string();
}

std::string own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::optional<std::string> bench_sources() {
  // The build tree has a link there, the installed tree a folder.
  const fs::path sources = fs::path(own_folder()).parent_path() / "share" / "sinew" / "bench";
  if (fs::exists(sources / "common" / "measure.h")) {
    return sources.string();
  }
  return std::nullopt;
}

std::optional<c_sources> find_c_sources(std::string_view experiment, std::string& failure) {
  const auto sources = bench_sources();
  const auto compiler = program_in_path("cc");
  if (!sources || !compiler) {
    failure = sources ? "no C compiler (cc) in PATH"
                      : "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  return c_sources{*compiler, (fs::path(*sources) / experiment).string()};
}

std::optional<subject> find_ours() {
  const fs::path compiler = fs::path(own_folder()) / "mpicc.sinew";
  if (!runnable(compiler)) {
    return std::nullopt;
  }
  return subject{"sinew", compiler, fs::path(own_folder()) / "sinew"};
}

std::vector<subject> find_peers(const std::string& wrapper,
                                const std::function<bool(const subject&)>& works) {
  std::vector<subject> found;
  const auto known = [&found](const std::string& name) {
    return std::any_of(found.begin(), found.end(),
                       [&name](const subject& s) { return s.name == name; });
  };
  for (const fs::path& folder : peer_folders()) {
    for (const char* suffix : {"", ".mpich", ".openmpi"}) {
      if (known("mpich") && known("openmpi")) {
        break;
      }
      const auto one =
          identify(folder / (wrapper + suffix), folder / ("mpiexec" + std::string(suffix)));
      if (one && !known(one->name) && (!works || works(*one))) {
        found.push_back(*one);
      }
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].name != "openmpi") {
      continue;
    }
    subject over_ucx = found[i];
    over_ucx.default_transport = false;
    for (const auto& [name, transports] : ucx_ways) {
      over_ucx.name = name;
      over_ucx.ucx_transports = transports;
      over_ucx.variant = name != ucx_ways[0].first;
      found.push_back(over_ucx);
    }
    break;
  }
  return found;
}

std::optional<std::string> compile_cached(const std::vector<std::string>& words,
                                          const std::string& source,
                                          const std::vector<std::string>& inputs,
                                          const std::string& tag, std::string& failure,
                                          const std::string& scratch_option,
                                          const std::string& verb) {
  const auto cache = programs_folder();
  if (!cache) {
    failure = "no folder for compiled programs (set XDG_CACHE_HOME)";
    return std::nullopt;
  }
  struct stat compiler{};
  (void)stat(words.front().c_str(), &compiler);
  std::uint64_t key = fnv(0xcbf29ce484222325u, std::to_string(compiler.st_mtime));
  for (const std::string& word : words) {
    key = fnv(key, word + '\n');
  }
  key = fnv(key, read_file(source));
  for (const std::string& input : inputs) {
    key = fnv(key, read_file(input));
  }
  char name[64];
  std::snprintf(name, sizeof name, "-%016llx", static_cast<unsigned long long>(key));
  const fs::path program = fs::path(*cache) / (tag + name);
  if (runnable(program)) {
    return program.string();
  }
  // Compiled beside and renamed, so that two runs at once never see half a program.
  const fs::path partial = program.string() + '.' + std::to_string(getpid());
  std::vector<std::string> all = {words.front()};
  if (!verb.empty()) {
    all.push_back(verb);
  }
  all.insert(all.end(), {"-o", partial, source});
  all.insert(all.end(), words.begin() + 1, words.end());
  const fs::path scratch = partial.string() + ".scratch";
  std::error_code failed;
  if (!scratch_option.empty()) {
    fs::create_directories(scratch, failed);
    all.push_back(scratch_option + scratch.string());
  }
  const command_result compiled = run_command({all, {}, 120});
  fs::remove_all(scratch, failed);
  failed.clear();
  if (compiled.ok()) {
    fs::rename(partial, program, failed);
  }
  if (!compiled.ok() || failed) {
    fs::remove(partial, failed);
    failure = "cannot compile " + fs::path(source).filename().string() + ": " +
              stats::last_line(compiled.errors);
    return std::nullopt;
  }
  return program.string();
}

std::optional<std::string> build_program(const subject& who, const std::string& experiment,
                                         const std::string& program, std::string& failure) {
  const auto sources = bench_sources();
  if (!sources) {
    failure = "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  const fs::path folder = fs::path(*sources) / experiment;
  const fs::path source = folder / ((program.empty() ? experiment : program) + ".c");
  std::vector<std::string> words = {who.compiler, "-O2", "-pthread"};
  if (read_file(source).find("<sinew.h>") != std::string::npos) {
    words.emplace_back("-lsinew");
  }
  const std::string kind = program.empty() ? who.name.substr(0, who.name.find('-')) : program;
  std::vector<std::string> inputs = common_sources(*sources);
  inputs.insert(inputs.end(), {folder / "bounce.h", folder / "crowd.h"});
  return compile_cached(words, source, inputs, experiment + '-' + kind, failure);
}

command launch_command(const subject& who, int ranks, const std::string& program,
                       const std::vector<std::string>& words, bool plain) {
  command c;
  c.words = {who.launcher};
  const auto add = [&c](std::initializer_list<const char*> more) {
    c.words.insert(c.words.end(), more.begin(), more.end());
  };
  if (who.name == "sinew") {
    add({who.network.empty() ? "run" : "simulate"});
    if (!who.network.empty()) {
      add({"--network", who.network.c_str()});
    }
  }
  if (!who.engine.empty()) {
    c.environment = {{"SINEW_MATCH_ENGINE", who.engine}};
  }
  if (who.name.rfind("openmpi", 0) == 0 || who.name == "opencoarrays") {
    // It refuses to run as root, or with more ranks than cores, unless told so.
    c.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    if (ranks > topology::usable_cpus()) {
      add({"--oversubscribe"});
    }
    if (!who.default_transport) {
      if (!who.ucx_transports.empty()) {
        c.environment.emplace_back("UCX_TLS", who.ucx_transports);
      }
      add({"--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices",
           "any"});
    } else if (!plain) {
      add({"--mca", "pml", "ob1"});
    }
  }
  if (!plain && who.name != "sinew") {
    const bool each_its_core = ranks == topology::usable_cpus();
    add({who.name == "mpich" ? "-bind-to" : "--bind-to", each_its_core ? "core" : "none"});
  }
  c.words.insert(c.words.end(), who.options.begin(), who.options.end());
  c.words.insert(c.words.end(), {"-n", std::to_string(ranks), program});
  c.words.insert(c.words.end(), words.begin(), words.end());
  c.words.insert(c.words.end(), who.arguments.begin(), who.arguments.end());
  return c;
}

}  // namespace sinew::tool
