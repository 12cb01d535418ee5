// SPDX-License-Identifier: BSD-3-Clause
// sinew run.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "sinew/base/sentence.hpp"
#include "sinew/bench/calibrate.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/mpiexec_words.hpp"
#include "sinew/run/terminal_text.hpp"
#include "sinew/simulate/explore.hpp"
#include "sinew/simulate/simulation.hpp"

namespace sinew::tool {
namespace {

// Descriptors 0 to 2 must be taken, lest a pipe of ours get such a number.
void fill_standard_descriptors() {
  int number = 0;
  do {
    number = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (number >= 0 && number <= 2) {
      ::fcntl(number, F_SETFD, 0);
    }
  } while (number >= 0 && number <= 2);
  if (number > 2) {
    ::close(number);
  }
}

int run_once(run_options options, const std::vector<std::string_view>& words) {
  host_map hosts = place_ranks(options);
  std::optional<simulation> world;
  if (options.simulate && !options.dry_run) {
    world.emplace(options);
  }
  const job_plan plan = hosts.empty() ? plan_job(options) : plan_hosts(options, std::move(hosts));
  if (plan.exit_code != 0) {
    std::fprintf(stderr, "sinew run: %s\n", as_sentence(terminal_text(plan.complaint)).c_str());
    return plan.exit_code;
  }
  if (options.dry_run) {
    std::fputs(describe(options, plan).c_str(), stdout);
    return 0;
  }
  fill_standard_descriptors();
  job running(options, plan, {words.begin(), words.end()});
  return world.has_value() ? world->run(running) : running.run();
}

int run_words(const std::vector<std::string_view>& words, command_page (*page)() = run_page) {
  run_options options = parse_run(words);
  if (options.help) {
    std::fputs(help_text(page()).c_str(), stdout);
    return 0;
  }
  if (!options.calibrate.empty()) {
    return calibrate(options);
  }
  return options.runs != 0 ? explore(options, words, run_once)
                           : run_once(std::move(options), words);
}

}  // namespace

int run_main(int argc, char** argv) {
  return run_words(std::vector<std::string_view>(argv + 1, argv + argc));
}

int simulate_main(int argc, char** argv) {
  std::vector<std::string_view> words{"--simulate"};
  words.insert(words.end(), argv + 1, argv + argc);
  return run_words(words, simulate_page);
}

int explore_main(int argc, char** argv) {
  std::vector<std::string_view> words{"--simulate", "--runs=1000"};
  words.insert(words.end(), argv + 1, argv + argc);
  return run_words(words, explore_page);
}

int mpiexec_main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const mpiexec_words meant = read_mpiexec(words);
  if (meant.help) {
    std::fputs(help_text(mpiexec_page()).c_str(), stdout);
    return 0;
  }
  if (meant.version) {
    std::printf("mpiexec (Sinew) %s\n", SINEW_VERSION);
    return 0;
  }
  for (const std::string& note : meant.notes) {
    std::fprintf(stderr, "sinew mpiexec: %s\n", as_sentence(terminal_text(note)).c_str());
  }
  std::vector<std::string_view> said{meant.words.begin(), meant.words.end()};
  // As of MPICH's and Open MPI's; the option goes before.
  const char* const limit = std::getenv("MPIEXEC_TIMEOUT");
  const std::string timeout = std::string("--timeout=") + (limit != nullptr ? limit : "");
  if (limit != nullptr && *limit != '\0') {
    said.insert(said.begin(), timeout);
  }
  return run_words(said);
}

}  // namespace sinew::tool
