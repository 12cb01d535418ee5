// SPDX-License-Identifier: BSD-3-Clause
// Experiments of one process, without MPI: parts of Sinew beside libraries that do the same. Ours
// are programs of the build, peers are compiled when their headers are found.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/bench/experiment.hpp"
#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> find_in(const std::vector<std::string>& folders,
                                   const std::string& name) {
  for (const std::string& folder : folders) {
    std::error_code ignored;
    if (!folder.empty() && fs::exists(fs::path(folder) / name, ignored)) {
      return (fs::path(folder) / name).string();
    }
  }
  return std::nullopt;
}

std::optional<std::string> header_path(std::string_view name) {
  std::vector<std::string> folders = {"/usr/include", "/usr/local/include"};
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    for (const std::string& folder : stats::split(environment(variable), ':')) {
      folders.push_back(folder);
    }
  }
  return find_in(folders, std::string(name));
}

std::optional<std::string> cxx_compiler() {
  std::string chosen = environment("CXX");
  if (chosen.find('/') != std::string::npos) {
    return chosen;
  }
  return program_in_path(chosen.empty() ? "c++" : chosen);
}

/// A peer that is there: with its compiler and version.
std::optional<subject> found_peer(const library_peer& peer) {
  const std::string name(peer.name);
  if (peer.name == "go") {
    const auto go = find_go();
    return go ? std::optional(subject{name, go->path, "", go->version}) : std::nullopt;
  }
  if (peer.name == "java") {
    const auto java = find_java();
    return java ? std::optional(subject{name, java->path, "", java->version}) : std::nullopt;
  }
  std::string version;
  if (!peer.cmake.empty()) {
    version = find_cmake_package(std::string(peer.cmake)).value_or("");
  } else if (!peer.package.empty()) {
    const auto package = find_package(std::string(peer.package));
    version = package ? package->version : "";
  } else if (const auto header = header_path(peer.header)) {
    version = packaged_version(*header);
  }
  if (version.empty()) {
    return std::nullopt;
  }
  return subject{name, cxx_compiler().value_or(""), "", version};
}

// What was looked for, for a peer that was not found.
std::string looked_for(const library_peer& peer) {
  if (peer.name == "go") {
    return "no go in PATH";
  }
  if (peer.name == "java") {
    return "no java of version 21 or later in JAVA_HOME or PATH";
  }
  if (!peer.cmake.empty()) {
    return "no CMake package " + std::string(peer.cmake) + " (set CMAKE_PREFIX_PATH)";
  }
  if (!peer.package.empty()) {
    return "pkg-config knows no " + std::string(peer.package);
  }
  return "no header " + std::string(peer.header);
}

// Where only CMake knows how to compile: a project of one program, made for it in the cache. Once
// in a process, and anew in the next: the package may be another by then.
std::optional<std::string> built_by_cmake(const std::string& package, const std::string& version,
                                          const fs::path& source, std::string& failure) {
  const auto cache = programs_folder();
  if (!cache) {
    failure = "no folder for compiled programs (set XDG_CACHE_HOME)";
    return std::nullopt;
  }
  const fs::path folder = fs::path(*cache) / (source.parent_path().filename().string() + '-' +
                                              source.stem().string() + '-' + version);
  const fs::path build = folder / "build";
  static std::set<fs::path> done_before;
  if (done_before.contains(build)) {
    return (build / "peer").string();
  }
  std::error_code failed;
  fs::remove_all(build, failed);
  fs::create_directories(folder, failed);
  std::ofstream project(folder / "CMakeLists.txt");
  project << "cmake_minimum_required(VERSION 3.16)\nproject(peer CXX)\nfind_package(" << package
          << " CONFIG REQUIRED)\nadd_executable(peer [==[" << source.string()
          << "]==])\ntarget_compile_features(peer PRIVATE cxx_std_20)\n"
          << "target_link_libraries(peer PRIVATE " << package << "::" << package << ")\n";
  project.close();
  const std::string cmake = program_in_path("cmake").value_or("cmake");
  const std::vector<std::vector<std::string>> steps = {
      {cmake, "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release"}, {cmake, "--build", build}};
  for (const auto& words : steps) {
    const command_result done = run_command({words, {}, 120});
    if (!done.ok()) {
      failure = "cannot compile " + source.filename().string() + ": " +
                stats::last_line(done.errors.empty() ? done.output : done.errors);
      return std::nullopt;
    }
  }
  done_before.insert(build);
  return (build / "peer").string();
}

std::optional<std::string> our_program(const std::string& name, std::string& failure) {
  const fs::path tree = fs::path(own_folder()).parent_path();
  const fs::path program = tree / "libexec" / "sinew" / ("bench-" + name);
  if (fs::exists(program)) {
    return program.string();
  }
  failure = program.string() + " is not there";
  return std::nullopt;
}

std::optional<std::string> peer_program(const experiment& e, const subject& who,
                                        std::string& failure) {
  const auto sources = bench_sources();
  if (!sources || who.compiler.empty()) {
    failure = sources ? "no C++ compiler in PATH (set CXX)"
                      : "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  const std::string name(e.name);
  const fs::path folder = fs::path(*sources) / name;
  if (who.name == "go") {
    return compile_cached({who.compiler}, folder / "go.go", {}, name + "-go", failure, "", "build");
  }
  if (who.name == "java") {
    return folder / "java.java";
  }
  std::vector<std::string> words = {who.compiler, "-O2", "-std=c++20", "-pthread"};
  for (const library_peer& peer : e.peers) {
    if (peer.name == who.name) {
      if (!peer.cmake.empty()) {
        return built_by_cmake(std::string(peer.cmake), who.version, folder / (who.name + ".cpp"),
                              failure);
      }
      words.insert(words.end(), peer.options.begin(), peer.options.end());
      const auto package =
          peer.package.empty() ? std::nullopt : find_package(std::string(peer.package));
      if (package) {
        words.insert(words.end(), package->flags.begin(), package->flags.end());
      }
    }
  }
  std::vector<std::string> inputs = common_sources(*sources);
  inputs.push_back(folder / (name + "_bench.hpp"));
  return compile_cached(words, folder / (who.name + ".cpp"), inputs, name + '-' + who.name,
                        failure);
}

command launch_on_hosts(subject who, const start& how, const std::string& program) {
  SINEW_EXPECT(how.over != nullptr);
  who.launcher = own_folder() + "/sinew";
  return launch_over(*how.over, who, program, how.words, true);
}

class job_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine&) const override {
    return {sinew_itself()};
  }
  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = our_program(std::string(e.name), failure);
    if (!program) {
      return std::nullopt;
    }
    if (how.over != nullptr) {
      return launch_on_hosts(who, how, *program);
    }
    command c{{own_folder() + "/sinew", "run", "-n", std::to_string(how.ranks), *program}, {}, 0};
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    return c;
  }
};

class library_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment& e, const machine&) const override {
    std::vector<subject> found = {sinew_itself()};
    for (const library_peer& peer : e.peers) {
      if (auto s = found_peer(peer)) {
        s->may_tell_version = true;
        found.push_back(*s);
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> absent(
      const experiment& e) const override {
    std::vector<std::pair<std::string, std::string>> all;
    for (const library_peer& peer : e.peers) {
      if (!found_peer(peer)) {
        all.emplace_back(peer.name, looked_for(peer));
      }
    }
    return all;
  }

  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = who.name == "sinew" ? our_program(std::string(e.name), failure)
                                             : peer_program(e, who, failure);
    if (!program) {
      return std::nullopt;
    }
    if (how.over != nullptr) {
      return launch_on_hosts(who, how, *program);
    }
    command c{{*program}, {}, 0};
    if (who.name == "java") {  // what is to be run is a source
      c.words = {who.compiler, "-Djdk.virtualThreadScheduler.parallelism=1",
                 "-Djdk.virtualThreadScheduler.maxPoolSize=1", *program};
    }
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    return c;
  }

  // The driver of our program, without what it measures.
  [[nodiscard]] std::vector<command> floors(const experiment& e,
                                            const request& asked) const override {
    return floors_of(e, e.starts(asked));
  }
  [[nodiscard]] std::vector<command> floors_over(const experiment& e,
                                                 const std::vector<start>& starts) const override {
    return floors_of(e, starts);
  }

 private:
  [[nodiscard]] std::vector<command> floors_of(const experiment& e,
                                               const std::vector<start>& starts) const {
    std::vector<command> all;
    std::string why;
    for (const start& how : starts) {
      if (auto c = prepare(e, sinew_itself(), how, why)) {
        c->words.emplace_back("floor");
        all.push_back(*c);
      }
    }
    return all;
  }
};

}  // namespace

const runner& job_programs() {
  static const job_runner one;
  return one;
}

const runner& library_programs() {
  static const library_runner one;
  return one;
}

}  // namespace sinew::tool
