// SPDX-License-Identifier: BSD-3-Clause
// sinew gdb.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sinew/ask/asked_job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/hosts.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t most_ranks_at_once = 16;

struct gdb_request {
  std::string ranks;
  bool only_says = false;
  bool help = false;
  std::vector<pid_t> jobs;
};

std::vector<option> table(gdb_request& request) {
  return {{{"-r", "--ranks"},
           "LIST",
           "these ranks, as 0,3-5; otherwise those that do not stand where most do",
           [&request](std::string_view value) { request.ranks = value; }},
          {{"--dry-run"},
           "",
           "prints the command, and starts nothing",
           [&request](std::string_view) { request.only_says = true; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

/// Those that were named, or that stand elsewhere; of a job whose ranks all stand in one place, or
/// in as many places, all.
std::vector<numbered_rank> chosen(const gdb_request& request, const asked_job& job) {
  std::vector<numbered_rank> ranks = job.numbers();
  const std::string wanted =
      request.ranks.empty() ? job.answer(question::elsewhere) : request.ranks;
  const auto numbers = base::parse_ranges(wanted, INT_MAX);
  if (!request.ranks.empty() && !numbers) {
    throw usage_failure("--ranks takes numbers and ranges such as 0,3-5, not \"" + request.ranks +
                        "\"");
  }
  if (numbers && !numbers->empty()) {
    std::erase_if(ranks, [&numbers](const numbered_rank& each) {
      return std::find(numbers->begin(), numbers->end(), each.rank) == numbers->end();
    });
  }
  SINEW_CHECK(!ranks.empty(), "there is no such rank",
              "none of the job's ranks that run is among " + wanted, "sinew status lists them");
  SINEW_CHECK(ranks.size() <= most_ranks_at_once, "a debugger on so many ranks helps nobody",
              std::to_string(ranks.size()) + " ranks are meant, " +
                  (request.ranks.empty() ? "since no place has most of them" : "by --ranks"),
              "name at most " + std::to_string(most_ranks_at_once) + " with --ranks");
  return ranks;
}

/// One gdb with a process of its own for each rank.
std::vector<std::string> command_for(const std::vector<numbered_rank>& ranks) {
  std::vector<std::string> words{"gdb", "-q", "-ex", "set pagination off"};
  const auto then = [&words](const std::string& command) {
    words.insert(words.end(), {"-ex", command});
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i != 0) {
      then("add-inferior");
      then("inferior " + std::to_string(i + 1));
    }
    then("attach " + std::to_string(ranks[i].process));
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    then("echo inferior " + std::to_string(i + 1) + " is rank " + std::to_string(ranks[i].rank) +
         "\\n");
  }
  then("inferior 1");
  return words;
}

/// As a shell takes it.
std::string quoted(const std::string& word) {
  const bool plain = word.find_first_of(" \\'") == std::string::npos;
  return plain ? word : "'" + word + "'";
}

int run(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& each : words) {
    argv.push_back(const_cast<char*>(each.c_str()));
  }
  argv.push_back(nullptr);
  std::fflush(stdout);
  ::execvp(argv.front(), argv.data());
  SINEW_CHECK(
      false, "gdb cannot be started", std::strerror(errno),
      "install it (Debian: gdb), or attach another debugger to the processes that sinew gdb "
      "--dry-run names");
  return 1;
}

}  // namespace

command_page gdb_page() {
  static gdb_request unused;
  return {
      "gdb",
      "opens gdb on ranks of a running job",
      "[OPTIONS] [JOB]",
      "JOB is as for sinew status. The ranks are those that do not stand where most do, which\n"
      "are most often why the others wait. They are inferiors of one gdb: inferior 2 goes to the\n"
      "second, thread apply all bt shows all. For ranks of other hosts it says what to type\n"
      "there. Where the system lets a process be looked at by its parent alone (ptrace_scope),\n"
      "gdb says so.\n\n"
      "exit code: gdb's; 1 the job cannot be asked, or there is none.",
      table(unused),
      {}};
}

int gdb_main(int argc, char** argv) {
  gdb_request request;
  const std::vector<option> known = table(request);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  read_words(words, known, [&request](std::string_view word) {
    request.jobs.push_back(whole_number("JOB", word, 1));
  });
  if (request.help) {
    std::fputs(help_text(gdb_page()).c_str(), stdout);
    return 0;
  }
  std::vector<numbered_rank> ranks = chosen(request, the_job(request.jobs, "sinew gdb"));
  const std::string here = own_host_name();
  for (const numbered_rank& each : ranks) {
    if (each.host != here) {
      std::printf("rank %d is on %s: type there gdb -p %d\n", each.rank,
                  terminal_text(each.host).c_str(), static_cast<int>(each.process));
    }
  }
  std::erase_if(ranks, [&here](const numbered_rank& each) { return each.host != here; });
  if (ranks.empty()) {
    return 0;
  }
  const std::vector<std::string> command = command_for(ranks);
  if (!request.only_says) {
    return run(command);
  }
  std::string line;
  for (const std::string& each : command) {
    line += (line.empty() ? "" : " ") + quoted(each);
  }
  std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace sinew::tool
