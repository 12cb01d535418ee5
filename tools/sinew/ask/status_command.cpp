// SPDX-License-Identifier: BSD-3-Clause
// sinew status.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sinew/ask/job_socket.hpp"
#include "sinew/base/check.hpp"
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

/// What was typed to start it.
std::string command_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  std::string typed{std::istreambuf_iterator<char>(file), {}};
  std::replace(typed.begin(), typed.end(), '\0', ' ');
  constexpr std::size_t most = 100;
  return typed.size() <= most ? typed : typed.substr(0, most) + "...";
}

}  // namespace

command_page status_page() {
  static status_request unused;
  return {
      "status",
      "says where the ranks of running jobs stand",
      "[--stacks | --json] [JOB]...",
      "JOB is the process number of a sinew run of yours on this machine; without one, all of\n"
      "them are asked. Ranks that stand in the same place are one line: the call of MPI or of\n"
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
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t taken = parse_options(std::span(words).subspan(at), known);
    if (taken == 0) {
      request.jobs.push_back(whole_number("JOB", words[at], 1));
      at += 1;
      continue;
    }
    at += taken;
  }
  if (request.help) {
    std::fputs(help_text(status_page()).c_str(), stdout);
    return 0;
  }
  const bool all = request.jobs.empty();
  if (all) {
    request.jobs = running_jobs();
    SINEW_CHECK(!request.jobs.empty(), "no job can be asked",
                "no sinew run of yours runs on this machine", "ask where it was started");
  }
  for (const pid_t job : request.jobs) {
    std::string answer;
    try {
      answer = ask_job(job, request.what);
    } catch (const error&) {
      if (all) {
        continue;  // it has ended meanwhile
      }
      throw;
    }
    if (request.what != question::json) {
      std::printf("job %d: %s\n", job, terminal_text(command_of(job)).c_str());
    }
    std::fputs(terminal_text(answer).c_str(), stdout);
  }
  return 0;
}

}  // namespace sinew::tool
