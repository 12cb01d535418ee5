// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/simulate/explore.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/sim/faults.hpp"
#include "sinew/simulate/coverage.hpp"

namespace sinew::tool {
namespace {

/// In which a rank dies the job ends so, unless it goes on.
constexpr int killed_code = 128 + SIGKILL;
/// Of a run in which a rank dies, if no other limit is given: it may not hang.
constexpr double longest_run_s = 60;

/// How a run has ended.
struct ending {
  trial of;
  int code = 0;
  std::string printed;
  std::string complained;
  run_facts facts;
};

struct under_way {
  trial what;
  boot::descriptor printed, complained, facts;
};

volatile std::sig_atomic_t interrupted = 0;

std::string text_in(int file) {
  std::string text;
  char piece[4096];
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(file, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

class runs {
 public:
  runs(const run_options& options, const std::vector<std::string_view>& words,
       int (*one_run)(run_options, const std::vector<std::string_view>&))
      : options_(options), words_(words), one_run_(one_run) {}

  void start(trial what) {
    under_way made{std::move(what), boot::make_shared_memory("printed"),
                   boot::make_shared_memory("complained"), boot::make_shared_memory("facts")};
    std::fflush(nullptr);
    const pid_t child = ::fork();
    SINEW_CHECK(child >= 0, "a run cannot be started", base::system_reason(errno),
                base::system_advice(errno));
    if (child == 0) {
      run(made);
    }
    started_.emplace(child, std::move(made));
  }
  [[nodiscard]] std::size_t count() const noexcept { return started_.size(); }

  /// The next that ends.
  ending wait() {
    int status = 0;
    pid_t child = 0;
    do {
      child = ::waitpid(-1, &status, 0);
    } while (child < 0 && errno == EINTR);
    const auto found = started_.find(child);
    SINEW_ASSERT(found != started_.end());
    under_way& u = found->second;
    ending result{
        std::move(u.what), WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
        text_in(u.printed.get()), text_in(u.complained.get()), facts_in(text_in(u.facts.get()))};
    started_.erase(found);
    return result;
  }

 private:
  [[noreturn]] void run(const under_way& to) {
    ::dup2(to.printed.get(), STDOUT_FILENO);
    ::dup2(to.complained.get(), STDERR_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
      ::dup2(nothing, STDIN_FILENO);
    }
    run_options own = options_;
    own.runs = 0;
    own.seed = to.what.seed;
    own.draws.clear();
    own.faults.insert(own.faults.end(), to.what.faults.begin(), to.what.faults.end());
    own.matches.insert(own.matches.end(), to.what.matches.begin(), to.what.matches.end());
    own.longest_ns = to.what.longest_ns;
    own.facts_file = to.facts.get();
    own.timeout_s = to.what.may_kill() && own.timeout_s == 0 ? longest_run_s : own.timeout_s;
    int code = 1;
    try {
      code = one_run_(std::move(own), words_);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "sinew: %s\n", e.what());
    }
    std::fflush(nullptr);
    ::_exit(code);
  }

  const run_options& options_;
  const std::vector<std::string_view>& words_;
  int (*one_run_)(run_options, const std::vector<std::string_view>&);
  std::map<pid_t, under_way> started_;
};

/// Whether it has ended as it should, if a run that varies nothing ends as `usual`.
bool is_good(const ending& one, const ending& usual, const run_options& options) {
  const auto kills_all = [&] {
    std::set<int> killed;
    for (const sim::fault& each : one.of.faults) {
      if (each.what == sim::fault_kind::kill) {
        killed.insert(each.rank);
      }
    }
    return static_cast<int>(killed.size()) == usual.facts.ranks;
  };
  if (one.facts.stuck && lacks_a_match(one.of, one.facts)) {
    return true;  // it waits for what cannot come
  }
  if (one.code == killed_code && one.of.may_kill() && (!options.survive || kills_all())) {
    return true;
  }
  if (one.facts.cut_off && !options.survive) {
    return true;
  }
  return one.code == usual.code && (!options.same_output || one.printed == usual.printed);
}

std::string command_for(const std::vector<std::string_view>& words, const trial& what) {
  constexpr std::string_view of_explore[] = {"--simulate", "--seed", "--runs", "--same-output",
                                             "--faults"};
  std::string text = "sinew simulate " + what.options();
  for (const std::string& each : words_without(words, of_explore)) {
    text += " " + shell_quoted(each);
  }
  return text;
}

void tell_difference(const ending& usual, const ending& other, const std::string& command) {
  std::printf("%s ends otherwise: code %d, where the usual run has %d%s\n", other.of.text().c_str(),
              other.code, usual.code,
              other.code == usual.code ? ", and prints something else" : "");
  std::printf("%s%s", other.printed.c_str(), other.complained.c_str());
  std::printf("repeat it with: %s\n", command.c_str());
}

/// Runs in generations: which runs one has depends on how those before it have ended, and not on
/// which of them was quicker.
class exploration {
 public:
  exploration(const run_options& options, const std::vector<std::string_view>& words,
              int (*one_run)(run_options, const std::vector<std::string_view>&))
      : options_(options), words_(words), all_(options, words, one_run) {}

  int run() {
    all_.start({});
    usual_ = all_.wait();
    if (usual_.code != 0) {
      std::printf("the run that varies nothing ends with code %d:\n%s%s", usual_.code,
                  usual_.printed.c_str(), usual_.complained.c_str());
      return 1;
    }
    coverage_.add({}, usual_.facts);
    const std::int64_t began = now_ns();
    std::optional<ending> bad;
    while (!bad && done_ < end_ && interrupted == 0) {
      bad = run_generation(generation());
    }
    std::fprintf(stderr, "%s%llu of %llu runs in %.1f s%s\n",
                 shows_ ? "\r" : "sinew explore: ", static_cast<unsigned long long>(done_),
                 static_cast<unsigned long long>(end_), static_cast<double>(now_ns() - began) / 1e9,
                 interrupted != 0 ? ", then it was interrupted" : "");
    if (bad) {
      tell_difference(usual_, *bad, command_for(words_, bad->of));
      return 1;
    }
    if (interrupted == 0) {
      tell_end();
    }
    return interrupted != 0 ? 130 : 0;
  }

 private:
  static constexpr std::uint64_t least_seeds = 32;  ///< of a generation

  [[nodiscard]] trial drawn(std::uint64_t seed) const {
    trial result{.seed = seed};
    if (!options_.draws.empty()) {
      result.faults = sim::draw_faults(options_.draws, seed,
                                       {usual_.facts.ranks, options_.ranks_per_node,
                                        usual_.facts.virtual_ns, usual_.facts.links});
    }
    return result;
  }

  /// What receives from any source are to meet, and as many seeds.
  std::vector<trial> generation() {
    std::vector<trial> result;
    const std::uint64_t left = end_ - done_;
    while (result.size() < least_seeds && result.size() < left) {
      std::optional<trial> next = coverage_.next();
      if (!next) {
        break;
      }
      // A rank may ask again and again for what cannot come.
      next->longest_ns = 10 * usual_.facts.virtual_ns + second_ns / 10;
      result.push_back(std::move(*next));
    }
    const std::uint64_t seeds = coverage_.has_choices() ? least_seeds : left;
    for (std::uint64_t i = 0; i < seeds && result.size() < left; ++i) {
      result.push_back(drawn(next_seed_++));
    }
    return result;
  }

  /// The first one of them that does not end as it should.
  std::optional<ending> run_generation(const std::vector<trial>& them) {
    const auto most = static_cast<std::size_t>(topology::usable_cpus());
    std::vector<std::optional<ending>> ended(them.size());
    bool found = false;
    std::size_t begun = 0;
    while (all_.count() != 0 || (begun < them.size() && !found && interrupted == 0)) {
      while (begun < them.size() && all_.count() < most && !found && interrupted == 0) {
        all_.start(them[begun++]);
      }
      ending one = all_.wait();
      found = found || !is_good(one, usual_, options_);
      const auto at =
          static_cast<std::size_t>(std::find(them.begin(), them.end(), one.of) - them.begin());
      ended[at] = std::move(one);
      if (++done_ % 16 == 0 && shows_) {
        std::fprintf(stderr, "\r%llu of %llu runs", static_cast<unsigned long long>(done_),
                     static_cast<unsigned long long>(end_));
      }
    }
    if (interrupted != 0) {
      return std::nullopt;
    }
    for (std::optional<ending>& each : ended) {
      if (each && !is_good(*each, usual_, options_)) {
        return std::move(*each);
      }
      if (each) {
        coverage_.add(each->of, each->facts);
      }
    }
    return std::nullopt;
  }

  void tell_end() const {
    const bool may_end = !options_.survive && !options_.draws.empty() && options_.draws != "slow";
    std::printf("all %llu runs end as %s, with code 0%s\n", static_cast<unsigned long long>(end_),
                may_end ? "they should" : "the usual one",
                may_end ? ", or 137 where a rank has died" : "");
    std::fputs(coverage_.text().c_str(), stdout);
  }

  const run_options& options_;
  const std::vector<std::string_view>& words_;
  runs all_;
  ending usual_;
  wildcard_coverage coverage_;
  const std::uint64_t end_ = static_cast<std::uint64_t>(options_.runs);
  const bool shows_ = ::isatty(STDERR_FILENO) == 1;
  std::uint64_t next_seed_ = 1;
  std::uint64_t done_ = 0;
};

}  // namespace

int explore(const run_options& options, const std::vector<std::string_view>& words,
            int (*one_run)(run_options options, const std::vector<std::string_view>& words)) {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  return exploration(options, words, one_run).run();
}

}  // namespace sinew::tool
