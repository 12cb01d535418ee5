// sinew run.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "sinew/commands.hpp"
#include "sinew/run/job.hpp"

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

}  // namespace

int run_main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const run_options options = parse_run(words);
  if (options.help) {
    std::fputs(help_text(run_page()).c_str(), stdout);
    return 0;
  }
  const job_plan plan = plan_job(options);
  if (plan.exit_code != 0) {
    std::fprintf(stderr, "sinew run: %s\n", plan.complaint.c_str());
    return plan.exit_code;
  }
  if (options.dry_run) {
    std::fputs(describe(options, plan).c_str(), stdout);
    return 0;
  }
  fill_standard_descriptors();
  job running(options, plan);
  return running.run();
}

}  // namespace sinew::tool
