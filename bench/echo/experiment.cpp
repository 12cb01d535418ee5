// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

#include <filesystem>

#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

/// The servers: the file of threads runs twice, with the system's threads and as fibers.
std::optional<std::string> server_program(const subject& who, const fs::path& folder,
                                          std::string& failure) {
  if (who.name == "go") {
    return compile_cached({who.compiler}, folder / "go.go", {}, "echo-go", failure, "", "build");
  }
  std::vector<std::string> words = {who.compiler, "-O2", "-pthread"};
  if (who.name == "libuv") {
    const auto libuv = find_package("libuv");
    if (!libuv) {
      failure = "libuv is no longer there";
      return std::nullopt;
    }
    words.insert(words.end(), libuv->flags.begin(), libuv->flags.end());
  }
  const std::string source = who.name == "libuv" ? "libuv" : "threads";
  return compile_cached(words, folder / (source + ".c"), {}, "echo-" + source, failure);
}

class echo_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine&) const override {
    const std::string cc = program_in_path("cc").value_or("");
    std::vector<subject> found = {{"sinew", cc, ""}, {"pthread", cc, "", "of the system"}};
    if (const auto libuv = find_package("libuv")) {
      found.push_back({"libuv", cc, "", libuv->version});
    }
    if (const auto go = find_go()) {
      found.push_back({"go", go->path, "", go->version});
    }
    return found;
  }

  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto here = find_c_sources(e.name, failure);
    if (!here) {
      return std::nullopt;
    }
    const fs::path folder = here->folder;
    const auto load =
        compile_cached({here->compiler, "-O2"}, folder / "echo.c", {}, "echo-load", failure);
    const auto server = load ? server_program(who, folder, failure) : std::nullopt;
    if (!server) {
      return std::nullopt;
    }
    command c{{*load}, {}, 0};
    c.words.insert(c.words.end(), how.words.begin(), how.words.end());
    c.words.emplace_back("--");
    if (who.name == "sinew") {
      c.words.insert(c.words.end(), {own_folder() + "/sinew", "run", "--threads-as-fibers"});
    }
    c.words.push_back(*server);
    return c;
  }
};

const runner& echo_servers() {
  static const echo_runner one;
  return one;
}

// A start for each number of connections, since memory is told of what was never used.
std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> counts[] = {
      {"100", "1000"}, {"1000", "10000", "100000"}, {"100", "1000", "10000", "100000"}};
  static constexpr const char* budgets[] = {"budget_ms=150", "budget_ms=1000", "budget_ms=3000"};
  std::vector<start> all;
  for (const std::string& connections : asked.choose(counts)) {
    all.push_back({1, {"connections=" + connections, "bytes=64", asked.choose(budgets)}});
  }
  return all;
}

const experiment self{
    .name = "echo",
    .about = "an echo server, a thread for each of up to 100,000 connections; 1/s, us, B",
    .by = echo_servers(),
    .starts = starts};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
