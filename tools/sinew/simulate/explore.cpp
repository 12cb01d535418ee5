// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/simulate/explore.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/run/job_plan.hpp"

namespace sinew::tool {
namespace {

/// How a run has ended.
struct ending {
  int code = 0;
  std::string printed;
  std::string complained;
};

struct under_way {
  std::uint64_t seed;
  boot::descriptor printed, complained;
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

  void start(std::uint64_t seed) {
    under_way made{seed, boot::make_shared_memory("printed"),
                   boot::make_shared_memory("complained")};
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
  std::pair<std::uint64_t, ending> wait() {
    int status = 0;
    pid_t child = 0;
    do {
      child = ::waitpid(-1, &status, 0);
    } while (child < 0 && errno == EINTR);
    const auto found = started_.find(child);
    SINEW_ASSERT(found != started_.end());
    const under_way& u = found->second;
    std::pair<std::uint64_t, ending> result{
        u.seed,
        {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_in(u.printed.get()),
         text_in(u.complained.get())}};
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
    own.seed = to.seed;
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

bool same(const ending& a, const ending& b, bool outputs) {
  return a.code == b.code && (!outputs || a.printed == b.printed);
}

std::string command_for(const std::vector<std::string_view>& words, std::uint64_t seed) {
  std::string text = "sinew simulate --seed " + std::to_string(seed);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--simulate" || words[i] == "--same-output" ||
        words[i].starts_with("--runs=")) {
      continue;
    }
    if (words[i] == "--runs") {
      ++i;
      continue;
    }
    text += " " + shell_quoted(std::string(words[i]));
  }
  return text;
}

void tell_difference(std::uint64_t seed, const ending& usual, const ending& other,
                     const std::string& command) {
  std::printf("seed %llu ends otherwise: code %d, where the usual run has %d%s\n",
              static_cast<unsigned long long>(seed), other.code, usual.code,
              other.code == usual.code ? ", and prints something else" : "");
  std::printf("%s%s", other.printed.c_str(), other.complained.c_str());
  std::printf("repeat it with: %s\n", command.c_str());
}

}  // namespace

int explore(const run_options& options, const std::vector<std::string_view>& words,
            int (*one_run)(run_options options, const std::vector<std::string_view>& words)) {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  runs all(options, words, one_run);
  all.start(0);
  const ending usual = all.wait().second;
  if (usual.code != 0) {
    std::printf("the run that varies nothing ends with code %d:\n%s%s", usual.code,
                usual.printed.c_str(), usual.complained.c_str());
    return 1;
  }
  const auto most = static_cast<std::size_t>(topology::usable_cpus());
  const auto end = static_cast<std::uint64_t>(options.runs);
  const bool shows = ::isatty(STDERR_FILENO) == 1;
  const std::int64_t began = now_ns();
  std::uint64_t next = 1;
  std::uint64_t done = 0;
  std::optional<std::pair<std::uint64_t, ending>> found;
  while (all.count() != 0 || (next <= end && !found && interrupted == 0)) {
    while (next <= end && all.count() < most && !found && interrupted == 0) {
      all.start(next++);
    }
    auto one = all.wait();
    ++done;
    // Of several under way the lowest seed, so that the same one is told each time.
    if (interrupted == 0 && !same(usual, one.second, options.same_output) &&
        (!found || one.first < found->first)) {
      found = std::move(one);
    }
    if (shows && done % 16 == 0) {
      std::fprintf(stderr, "\r%llu of %llu runs", static_cast<unsigned long long>(done),
                   static_cast<unsigned long long>(end));
    }
  }
  std::fprintf(stderr, "%s%llu of %llu runs in %.1f s%s\n",
               shows ? "\r" : "sinew explore: ", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(end), static_cast<double>(now_ns() - began) / 1e9,
               interrupted != 0 ? ", then it was interrupted" : "");
  if (found) {
    tell_difference(found->first, usual, found->second, command_for(words, found->first));
    return 1;
  }
  if (interrupted == 0) {
    std::printf("all %llu runs end as the usual one, with code 0\n",
                static_cast<unsigned long long>(end));
  }
  return interrupted != 0 ? 130 : 0;
}

}  // namespace sinew::tool
