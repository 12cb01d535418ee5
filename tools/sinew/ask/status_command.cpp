// SPDX-License-Identifier: BSD-3-Clause
// sinew status.
#include <cstdio>
#include <string>
#include <vector>

#include "sinew/ask/asked_job.hpp"
#include "sinew/base/error.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

struct status_request {
  question what = question::places;
  bool help = false;
  std::vector<pid_t> jobs;
};

std::vector<option> table(status_request& request) {
  return {{{"-s", "--stacks"},
           "",
           "all calls of all threads, as one tree",
           [&request](std::string_view) { request.what = question::stacks; }},
          {{"--json"},
           "",
           "where each rank stands, for programs",
           [&request](std::string_view) { request.what = question::json; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

}  // namespace

command_page status_page() {
  static status_request unused;
  return {
      "status",
      "says where the ranks of running jobs stand",
      "[--stacks | --json] [JOB]...",
      "JOB is the process number of a sinew run of yours on this machine, or of a rank that "
      "another\n"
      "launcher has started here; without one, all jobs are asked. Ranks that stand in the same "
      "place are one line: the call of MPI or of\n"
      "another binding, and the function and line of the program that has made it; the fewest\n"
      "come last. It needs no option at the start of the job, and no other build of the program;\n"
      "lines need one with -g. Each rank is stopped for some milliseconds. ^\\ typed at the job\n"
      "says the same.\n\n"
      "exit code: 0; 1 a job cannot be asked, or there is none.",
      table(unused),
      {}};
}

int status_main(int argc, char** argv) {
  status_request request;
  const std::vector<option> known = table(request);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  read_words(words, known, [&request](std::string_view word) {
    request.jobs.push_back(whole_number("JOB", word, 1));
  });
  if (request.help) {
    std::fputs(help_text(status_page()).c_str(), stdout);
    return 0;
  }
  for (const asked_job& job : jobs_to_ask(request.jobs)) {
    std::string answer;
    try {
      answer = job.answer(request.what);
    } catch (const error&) {
      if (request.jobs.empty()) {
        continue;  // it has ended meanwhile
      }
      throw;
    }
    if (request.what != question::json) {
      std::printf("%s\n", terminal_text(job.title()).c_str());
    }
    std::fputs(terminal_text(answer).c_str(), stdout);
  }
  return 0;
}

}  // namespace sinew::tool
