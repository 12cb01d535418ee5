#include "bench_local.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench_process.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

struct local_peer {
  std::string_view experiment;
  std::string_view name;    // and of its source: bench/<experiment>/<name>.cpp
  std::string_view header;  // installed: it takes part
  std::vector<std::string> options;
};

const std::vector<local_peer>& local_peers() {
  static const std::vector<local_peer> peers = {
      {"table", "tbb", "tbb/concurrent_hash_map.h", {"-ltbb"}},
      {"table", "libcuckoo", "libcuckoo/cuckoohash_map.hh", {}},
      {"threads", "pthread", "pthread.h", {}},
      {"threads", "boost", "boost/fiber/all.hpp", {"-lboost_fiber", "-lboost_context"}},
      {"pool", "boost-stack", "boost/lockfree/stack.hpp", {}},
      {"pool", "boost-queue", "boost/lockfree/queue.hpp", {}},
      {"pool", "moodycamel", "concurrentqueue/concurrentqueue.h", {}},
  };
  return peers;
}

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
  if (!path) return "";
  words.insert(words.begin(), *path);
  const command_result result = run_command({words, {{"LC_ALL", "C"}}, 20});
  return result.ok() ? result.output.substr(0, result.output.find('\n')) : "";
}

std::optional<std::string> cxx_compiler() {
  const std::string chosen = environment("CXX");
  if (chosen.find('/') != std::string::npos) return chosen;
  return find_in(stats::split(environment("PATH"), ':'), chosen.empty() ? "c++" : chosen);
}

}  // namespace

bool is_local(std::string_view experiment) {
  return experiment == "events" || experiment == "event-throughput" || experiment == "table" ||
         experiment == "threads" || experiment == "pool" || experiment == "reductions" ||
         experiment == "locks";
}

bool is_local_peer(std::string_view name) {
  const auto& peers = local_peers();
  return std::any_of(peers.begin(), peers.end(),
                     [name](const local_peer& p) { return p.name == name; });
}

namespace {

std::vector<std::string> local_words(std::string_view experiment, std::size_t level) {
  static constexpr std::array<const char*, 3> budgets = {"budget_ms=30", "budget_ms=60",
                                                         "budget_ms=150"};
  static constexpr std::array<const char*, 3> threads = {"threads=1,2,4,8", "threads=1,2,4,8",
                                                         "threads=1,2,4,6,8,10,12,14"};
  static constexpr std::array<const char*, 3> sweeps = {"sweep=quick", "sweep=usual", "sweep=full"};
  if (experiment == "threads") return {budgets[level]};
  if (experiment == "events") {
    return {"depth=1024,16384", level == 0 ? "ranks=1,2" : "ranks=1,2,4,8,16", budgets[level]};
  }
  if (experiment == "event-throughput") {
    static constexpr std::array<const char*, 3> fans = {"fan=2,16,64,256", "fan=2,16,64,256,1024",
                                                        "fan=2,16,32,64,128,256,512,1024,2048"};
    return {fans[level], level == 0 ? "ranks=1,2" : "ranks=1,2,4,8,16", budgets[level]};
  }
  if (experiment == "locks") return {sweeps[level], budgets[level]};
  if (experiment == "reductions") return {sweeps[level]};
  return {threads[level], budgets[level]};
}

}  // namespace

std::vector<std::vector<std::string>> local_starts(std::string_view experiment, std::size_t level) {
  const std::vector<std::string> words = local_words(experiment, level);
  if (experiment == "event-throughput" && level == 2) {
    std::vector<std::vector<std::string>>
        each;  // the widest take a minute for each number of ranks
    for (const char* fan : {"2,16,32,64", "128,256", "512", "1024", "2048"}) {
      for (const char* ranks : {"1", "2", "4", "8", "16"}) {
        each.push_back({std::string("fan=") + fan, std::string("ranks=") + ranks, words.back()});
      }
    }
    return each;
  }
  if (experiment != "locks" || level == 0) return {words};
  // With more ranks than processors a row takes seconds: no start comes near the limit.
  static constexpr std::array<const char*, 7> usual = {
      "only=1", "only=2", "only=4", "only=8", "only=16", "eights=32", "eights=256"};
  static constexpr std::array<const char*, 4> more = {"eights=64", "eights=128", "eights=512",
                                                      "eights=1024"};
  std::vector<std::vector<std::string>> all;
  const auto add = [&](const char* part) {
    all.push_back(words);
    all.back().emplace_back(part);
  };
  for (const char* part : usual) add(part);
  if (level == 2) {
    for (const char* part : more) add(part);
  }
  return all;
}

bool is_own_command(std::string_view experiment) {
  return experiment == "routing" || experiment == "chunks" || experiment == "carry";
}

std::vector<std::vector<std::string>> own_commands(std::string_view experiment, std::size_t level,
                                                   bool sweep) {
  std::vector<std::vector<std::string>> all;
  const auto measure = [&all](std::vector<std::string> words) {
    words.insert(words.begin(), {"route", "--measure"});
    all.push_back(std::move(words));
  };
  if (experiment == "carry") {
    const fs::path tree = fs::path(own_folder()).parent_path();
    return {{"run", "-n", "8", (tree / "libexec" / "sinew" / "bench-carry").string()}};
  }
  if (experiment == "chunks") {
    static constexpr std::array<const char*, 3> sizes = {"sizes=64k", "sizes=16k,64k,256k",
                                                         "sizes=8k,16k,32k,64k,128k,256k,512k,1M"};
    static constexpr std::array<const char*, 3> steps = {"step=7", "step=1", "step=1"};
    for (const char* nodes : {"nodes=512", "nodes=1024"}) {
      if (level > 0 || all.empty()) measure({"chunks", nodes, sizes[level], steps[level]});
    }
    return all;
  }
  if (sweep) {
    for (const char* along : {"along=distance", "along=destinations", "along=bytes",
                              "along=ranks-per-node", "along=paths-fed", "along=aggregation"}) {
      measure({"sweep", along, level == 2 ? "nodes=1024" : "nodes=512"});
    }
    return all;
  }
  static constexpr std::array<const char*, 5> nodes = {"nodes=512", "nodes=1024", "nodes=2048",
                                                       "nodes=4096", "nodes=8192"};
  for (std::size_t n = 0; n < (level == 0 ? 2 : nodes.size()); ++n) {
    for (const char* pattern :
         {"patterns=disjoint", "patterns=overlap", "patterns=subset", "patterns=incast"}) {
      measure({"routing", nodes[n], pattern});
    }
  }
  return all;
}

std::vector<subject> local_subjects(std::string_view experiment) {
  std::vector<subject> found = {{"sinew", "", "", "", true, ""}};
  for (const local_peer& peer : local_peers()) {
    if (peer.experiment != experiment || !header_path(peer.header)) continue;
    found.push_back({std::string(peer.name), cxx_compiler().value_or(""), "", "", true, ""});
  }
  return found;
}

std::string packaged_version(std::string_view experiment, std::string_view name) {
  for (const local_peer& peer : local_peers()) {
    if (peer.experiment != experiment || peer.name != name) continue;
    const auto path = header_path(peer.header);
    if (!path) break;
    const std::string owner = answer_of("dpkg-query", {"-S", *path});  // "package[:arch]: path"
    const std::string package = owner.substr(0, owner.find_first_of(":,"));
    std::string version;
    if (!package.empty()) version = answer_of("dpkg-query", {"-W", "-f=${Version}", package});
    if (version.empty()) version = answer_of("rpm", {"-qf", "--qf=%{VERSION}-%{RELEASE}", *path});
    if (!version.empty()) return version;
  }
  return "unknown";
}

std::optional<std::string> local_program(const subject& who, const std::string& experiment,
                                         std::string& failure) {
  if (is_own_command(experiment)) return "/proc/self/exe";
  if (who.name == "sinew") {
    const fs::path tree = fs::path(own_folder()).parent_path();
    const fs::path program = tree / "libexec" / "sinew" / ("bench-" + experiment);
    if (fs::exists(program)) return program.string();
    failure = program.string() + " is not there";
    return std::nullopt;
  }
  const auto sources = bench_sources();
  if (!sources || who.compiler.empty()) {
    failure = sources ? "no C++ compiler in PATH (set CXX)"
                      : "the sources of the measuring programs are not installed";
    return std::nullopt;
  }
  const fs::path folder = fs::path(*sources) / experiment;
  std::vector<std::string> words = {who.compiler, "-O2", "-std=c++20", "-pthread"};
  for (const local_peer& peer : local_peers()) {
    if (peer.experiment != experiment || peer.name != who.name) continue;
    words.insert(words.end(), peer.options.begin(), peer.options.end());
  }
  return compile_cached(
      words, folder / (who.name + ".cpp"),
      {folder / (experiment + "_bench.hpp"), fs::path(*sources) / "common" / "micro.hpp"},
      experiment + '-' + who.name, failure);
}

std::vector<std::string> add_published(stats::result_set& results, const std::string& experiment) {
  std::vector<std::string> columns;
  const auto sources = bench_sources();
  if (!sources) return columns;
  std::ifstream in(fs::path(*sources) / experiment / "paper.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.front() == '#') continue;
    const auto m = stats::parse_line("@" + line.substr(space));
    if (!m) continue;
    const stats::row_key key{experiment, m->case_name, m->params, m->metric, m->unit};
    const auto& rows = results.rows();
    const bool measured =
        std::any_of(rows.begin(), rows.end(), [&key](const stats::row& r) { return r.key == key; });
    if (!measured) continue;
    const std::string subject = "paper:" + line.substr(0, space);
    results.add(key, subject, m->value);
    if (std::find(columns.begin(), columns.end(), subject) == columns.end()) {
      columns.push_back(subject);
    }
  }
  return columns;
}

}  // namespace sinew::tool
