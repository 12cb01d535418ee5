// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

/// Two kinds of programs: crowds that exchange messages, in MPI, and crowds of one process alone,
/// which libraries and languages without MPI have too.
constexpr const char* alone = "crowd";

class million_runner final : public runner {
 public:
  [[nodiscard]] bool over_mpi() const override { return true; }
  [[nodiscard]] std::vector<subject> subjects(const experiment& e,
                                              const machine& m) const override {
    std::vector<subject> found = mpi_programs().subjects(e, m);
    for (subject& s : library_programs().subjects(e, m)) {
      if (s.name != "sinew" || found.empty() || found.front().name != "sinew") {
        found.push_back(std::move(s));
      }
    }
    return found;
  }
  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    return (how.program == alone ? library_programs() : mpi_programs())
        .prepare(e, who, how, failure);
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> absent(
      const experiment& e) const override {
    return library_programs().absent(e);
  }
};

const runner& crowds() {
  static const million_runner one;
  return one;
}

// The larger counts each in a process of its own, since memory is told of what was never used.
std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> fibers[] = {
      {"8,512,4096", "65536"},
      {"8,64,512,1024,4096", "16384", "65536"},
      {"8,16,32,64,128,256,512,1024,2048,4096,8192", "16384", "32768", "65536", "131072", "262144",
       "524288", "1048576"},
  };
  static const std::vector<std::string> threads[] = {
      {"512"}, {"64,512", "4096"}, {"16,32,64,128,256,512,1024", "2048", "4096", "8192", "16384"}};
  std::vector<start> all;
  for (const std::string& count : asked.choose(fibers)) {
    all.push_back({2, {"threads=" + count, "bytes=64", "stack=4096"}});
  }
  all.push_back({2, {"threads=8", "bytes=64"}, "pthreads"});
  for (const std::string& count : asked.choose(threads)) {
    all.push_back({2, {"threads=" + count, "bytes=64"}, "pthreads"});
  }
  static const std::vector<std::string> crowds_alone[] = {
      {"10000"}, {"10000", "1000000"}, {"1000", "10000", "100000", "1000000"}};
  for (const std::string& count : asked.choose(crowds_alone)) {
    const bool most = count == "1000000";  // so that they fit into 16 GiB
    all.push_back({1, {"threads=" + count, most ? "stack=8192" : "stack=16384"}, alone});
  }
  return all;
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// One that waits without giving its processor away needs milliseconds for a message where threads
// are more than processors.
std::vector<subject> columns(std::vector<subject> found) {
  std::erase_if(found, [](const subject& s) { return !s.default_transport; });
  for (subject& s : found) {
    if (s.name == "openmpi") {
      s.name = "openmpi-yield";
      s.options = {"--mca", "mpi_yield_when_idle", "1"};
    }
  }
  return found;
}

// Of MPI's peers none has fibers, and of threads they get the fewest. They are those with a
// launcher.
bool takes_part(const subject& who, const start& how) {
  if (who.name == "sinew") {
    return true;
  }
  return who.launcher.empty() ? how.program == alone
                              : how.program == "pthreads" && how.words.front() == "threads=8";
}

const experiment self{
    .name = "million",
    .about = "up to 1,048,576 fibers a side, and threads, with messages and alone; us, ns, B each",
    .by = crowds(),
    .starts = starts,
    .floor_words = floor_words,
    .floor_of = line_trip_us,
    .columns = columns,
    .takes_part = takes_part,
    .peers = {{"pthread", "pthread.h", {}},
              {"boost", "boost/fiber/all.hpp", {"-lboost_fiber", "-lboost_context"}},
              {"argobots", "", {}, "argobots"},
              {"go", "", {}},
              {"java", "", {}}}};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
