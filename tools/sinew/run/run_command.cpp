// sinew run.
#include <cstdio>

#include "sinew/commands.hpp"
#include "sinew/run/job.hpp"

namespace sinew::tool {

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
  job running(options, plan);
  return running.run();
}

}  // namespace sinew::tool
