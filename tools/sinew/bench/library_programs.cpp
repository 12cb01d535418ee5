// Experiments of one process, without MPI: parts of Sinew beside libraries that do the same. Ours
// are programs of the build, peers are compiled when their headers are found.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

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

/// What a program of PATH prints, or nothing.
std::string answer_of(const std::string& program, std::vector<std::string> words) {
  const auto path = find_in(stats::split(environment("PATH"), ':'), program);
  if (!path) {
    return "";
  }
  words.insert(words.begin(), *path);
  const command_result result = run_command({words, {{"LC_ALL", "C"}}, 20});
  return result.ok() ? result.output.substr(0, result.output.find('\n')) : "";
}

std::optional<std::string> cxx_compiler() {
  const std::string chosen = environment("CXX");
  if (chosen.find('/') != std::string::npos) {
    return chosen;
  }
  return find_in(stats::split(environment("PATH"), ':'), chosen.empty() ? "c++" : chosen);
}

// What the system's package manager says of the package that a peer's header belongs to: for
// libraries that do not tell their version.
std::string packaged_version(const std::string& header) {
  const std::string owner = answer_of("dpkg-query", {"-S", header});  // "package[:arch]: path"
  const std::string package = owner.substr(0, owner.find_first_of(":,"));
  std::string version;
  if (!package.empty()) {
    version = answer_of("dpkg-query", {"-W", "-f=${Version}", package});
  }
  if (version.empty()) {
    version = answer_of("rpm", {"-qf", "--qf=%{VERSION}-%{RELEASE}", header});
  }
  return version.empty() ? "unknown" : version;
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
  std::vector<std::string> words = {who.compiler, "-O2", "-std=c++20", "-pthread"};
  for (const library_peer& peer : e.peers) {
    if (peer.name == who.name) {
      words.insert(words.end(), peer.options.begin(), peer.options.end());
    }
  }
  return compile_cached(
      words, folder / (who.name + ".cpp"),
      {folder / (name + "_bench.hpp"), fs::path(*sources) / "common" / "micro.hpp"},
      name + '-' + who.name, failure);
}

class library_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment& e, const machine&) const override {
    std::vector<subject> found = {sinew_itself()};
    for (const library_peer& peer : e.peers) {
      const auto header = header_path(peer.header);
      if (!header) {
        continue;
      }
      subject s{std::string(peer.name), cxx_compiler().value_or(""), "", packaged_version(*header)};
      s.may_tell_version = true;
      found.push_back(s);
    }
    return found;
  }

  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = who.name == "sinew" ? our_program(std::string(e.name), failure)
                                             : peer_program(e, who, failure);
    if (!program) {
      return std::nullopt;
    }
    command c{{*program}, {}, 0};
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    return c;
  }

  // The driver of our program, without what it measures.
  [[nodiscard]] std::vector<command> floors(const experiment& e,
                                            const request& asked) const override {
    std::vector<command> all;
    std::string why;
    for (const start& how : e.starts(asked)) {
      if (auto c = prepare(e, sinew_itself(), how, why)) {
        c->words.emplace_back("floor");
        all.push_back(*c);
      }
    }
    return all;
  }
};

}  // namespace

const runner& library_programs() {
  static const library_runner one;
  return one;
}

}  // namespace sinew::tool
