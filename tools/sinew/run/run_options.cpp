// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/run_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/mpiexec_words.hpp"
#include "sinew/simulate/simulation_options.hpp"

namespace sinew::tool {
namespace {

constexpr int most_ranks = 65'536;

void add_variable(application& program, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  if (name.empty()) {
    throw usage_failure("--env needs NAME or NAME=VALUE");
  }
  if (equals != std::string_view::npos) {
    program.environment.emplace_back(name, text.substr(equals + 1));
    return;
  }
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    throw usage_failure("--env " + name + ": no such variable is set here");
  }
  program.environment.emplace_back(name, value);
}

int rank_count(std::string_view text) {
  const int count = whole_number("-n", text, 1);
  if (count > most_ranks) {
    throw usage_failure("-n: at most " + std::to_string(most_ranks) + " ranks");
  }
  return count;
}

}  // namespace

// Coarray programs are started with the number of images in the environment as often as with an
// option; the option wins.
int standard_ranks() {
  const char* images = std::getenv("SINEW_IMAGES");
  if (images == nullptr || *images == '\0') {
    return 1;
  }
  const int count = whole_number("SINEW_IMAGES", images, 1);
  if (count > most_ranks) {
    throw usage_failure("SINEW_IMAGES: at most " + std::to_string(most_ranks) + " ranks");
  }
  return count;
}

namespace {

void choose_binding(run_options& options, std::string_view text) {
  if (text == "auto") {
    options.binding = binding_policy::automatic;
  } else if (text == "none") {
    options.binding = binding_policy::none;
  } else if (text == "core") {
    options.binding = binding_policy::core;
  } else if (text == "numa") {
    options.binding = binding_policy::numa;
  } else {
    throw usage_failure("--bind-to knows auto, core, numa and none, not \"" + std::string(text) +
                        "\"");
  }
}

void choose_mapping(run_options& options, std::string_view text) {
  if (text != "slot" && text != "node") {
    throw usage_failure("--map-by knows slot and node, not \"" + std::string(text) + "\"");
  }
  options.by_node = text == "node";
}

void choose_host_timeout(run_options& options, std::string_view text) {
  options.host_timeout_s = text == "0" ? 0 : seconds("--host-timeout", text);
  if (options.host_timeout_s != 0 && options.host_timeout_s < 2) {
    throw usage_failure("--host-timeout: at least 2 s, since hosts are heard of once a second");
  }
}

void choose_input(run_options& options, std::string_view text) {
  if (text == "none") {
    options.input = stdin_target::none;
  } else if (text == "all") {
    options.input = stdin_target::all;
  } else {
    options.input = stdin_target::one_rank;
    options.input_rank = whole_number("--stdin (RANK, none or all)", text, 0);
  }
}

// Where the ranks run.
std::vector<option> host_options(run_options& options) {
  return {
      {{"--hosts", "--host"},
       "HOST[:N],...",
       "the hosts to run on, with N ranks each (default 1); see --map-by",
       [&options](std::string_view v) { options.hosts = v; }},
      {{"--hostfile"},
       "FILE",
       "a file with one host in each line: HOST, HOST:N or HOST slots=N",
       [&options](std::string_view v) { options.host_file = v; }},
      {{"--ppn"},
       "N",
       "ranks on each host, whatever the list of hosts says",
       [&options](std::string_view v) { options.per_node = whole_number("--ppn", v, 1); }},
      {{"--map-by"},
       "slot|node",
       "fills one host after the other (slot, the default), or goes round them (node)",
       [&options](std::string_view v) { choose_mapping(options, v); },
       "slot|node"},
      {{"--rsh"},
       "COMMAND",
       "starts a command on a host: COMMAND HOST LINE (default: ssh, in a Slurm job srun)",
       [&options](std::string_view v) { options.agent = v; }},
      {{"--through-agent"},
       "",
       "the daemons on other hosts speak through the agent alone: nobody listens for them",
       [&options](std::string_view) { options.through_agent = true; }},
      {{"--host-tree"},
       "N",
       "the launcher, and each daemon, starts at most N daemons itself (default: 32): beyond N "
       "hosts they are a tree",
       [&options](std::string_view v) { options.tree_width = whole_number("--host-tree", v, 1); }},
      {{"--host-timeout"},
       "SECONDS",
       "a host that is not heard of for so long is lost (default: 4; 0: never)",
       [&options](std::string_view v) { choose_host_timeout(options, v); }},
  };
}

bool ends(const char* option, std::string_view word) {
  if (word != "say" && word != "end") {
    throw usage_failure(std::string(option) + " takes say or end, not \"" + std::string(word) +
                        "\"");
  }
  return word == "end";
}

// Options with a value; some are of the program being read, the last one of `options`.
std::vector<option> valued_options(run_options& options) {
  const auto program = [&options]() -> application& { return options.applications.back(); };
  return {
      {{"-n", "-np", "--ranks", "--images"},
       "N",
       "how many ranks of the program (default: SINEW_IMAGES if it is set, else 1)",
       [program](std::string_view v) { program().ranks = rank_count(v); }},
      {{"-x", "--env"},
       "NAME[=VALUE]",
       "sets a variable for this program's ranks (repeatable)",
       [program](std::string_view v) { add_variable(program(), v); }},
      {{"--wdir"},
       "DIR",
       "this program's ranks start in DIR; it is looked for in DIR, then here",
       [program](std::string_view v) { program().directory = v; }},
      {{"-o", "--output"},
       "FILE",
       "each rank's output goes to FILE, in which %r is its rank",
       [&options](std::string_view v) { options.output_pattern = v; }},
      {{"--output-dir"},
       "DIR",
       "output goes to DIR/rank.N.out and DIR/rank.N.err",
       [&options](std::string_view v) { options.output_directory = v; }},
      {{"--stdin"},
       "RANK|none|all",
       "who reads the launcher's input (default: rank 0)",
       [&options](std::string_view v) { choose_input(options, v); },
       "0|none|all"},
      {{"--timeout"},
       "SECONDS",
       "after this time ranks that wait say for what; the job ends with code 124",
       [&options](std::string_view v) { options.timeout_s = seconds("--timeout", v); }},
      {{"--silence"},
       "SECONDS",
       "when all ranks wait for each other, and none has done anything for so long, it says where "
       "they stand (default: 60; 0: never)",
       [&options](std::string_view v) {
         options.silence_s = v == "0" ? 0 : seconds("--silence", v);
       }},
      {{"--on-silence"},
       "say|end",
       "whether that ends the job, with code 124 (default: say)",
       [&options](std::string_view v) { options.silence_ends = ends("--on-silence", v); },
       "say|end"},
      {{"--on-deadlock"},
       "say|end",
       "whether a job ends, with code 124, whose ranks wait for each other for ever; it is told in "
       "any case (default: say; end with SINEW_MPI_CHECK=1)",
       [&options](std::string_view v) { options.deadlock_ends = ends("--on-deadlock", v); },
       "say|end"},
      {{"--hang-timeout"},
       "SECONDS",
       "ranks that wait this long, or test in vain, say for what",
       [&options](std::string_view v) {
         (void)seconds("--hang-timeout", v);
         options.hang_timeout = v;
       }},
      {{"--bind-to"},
       "core|numa|none",
       "binds each rank to processors (auto: to a core if ranks and cores are equally many, until "
       "ranks wait for theirs)",
       [&options](std::string_view v) { choose_binding(options, v); },
       "core|numa|none"},
  };
}

// What is kept of the run.
std::vector<option> record_options(run_options& options) {
  return {
      {{"--trace"},
       "FILE",
       "what the ranks do and when: a Chrome trace, and a page beside it (.html)",
       [&options](std::string_view v) { options.trace = v; }},
      {{"--profile"},
       "[=FILE]",
       "at the end a table of the time in MPI, by the lines that call it; FILE (default: "
       "profile.json) gets all of it, and as PAGE.html a page beside",
       [&options](std::string_view v) { options.profile = v.empty() ? "profile.json" : v; }},
      {{"--report"},
       "FILE",
       "how the job has ended, and what was told of it: FILE.xml for a CI (JUnit), any other name "
       "as Markdown, behind what is there",
       [&options](std::string_view v) { options.report = v; }},
  };
}

std::vector<option> flags(run_options& options) {
  const auto set = [](bool& flag) { return [&flag](std::string_view) { flag = true; }; };
  return {
      {{"-l", "--label"},
       "",
       "puts [rank] before every line of output; lines are never torn",
       set(options.label)},
      {{"--stats"},
       "",
       "each rank says at its end what matching its messages has cost",
       set(options.statistics)},
      {{"--survive"},
       "",
       "when a rank dies the others go on, and MPI tells them (MPIX_Comm_get_failed)",
       set(options.survive)},
      {{"--report-bindings"}, "", "says where each rank is bound", set(options.report_bindings)},
      {{"--threads-as-fibers"},
       "",
       "threads of the programs (pthreads, C11, C++) run as fibers; see docs/guide/fibers.md",
       set(options.threads_as_fibers)},
      {{"--dry-run"}, "", "prints what would be started, and starts nothing", set(options.dry_run)},
      {{"-v", "--verbose"},
       "",
       "says what is started and how each rank ends",
       set(options.verbose)},
      {{"-h", "--help"}, "", "shows this text", set(options.help)},
  };
}

std::vector<option> table(run_options& options) {
  std::vector<option> all = valued_options(options);
  for (auto* const more : {&record_options, &host_options, &simulation_options, &flags}) {
    for (option& each : more(options)) {
      all.push_back(std::move(each));
    }
  }
  return all;
}

void check(const run_options& options) {
  if (!options.hosts.empty() && !options.host_file.empty()) {
    throw usage_failure("--hosts and --hostfile exclude each other");
  }
  if (!options.output_pattern.empty() && !options.output_directory.empty()) {
    throw usage_failure("--output and --output-dir exclude each other");
  }
  if (options.label && !(options.output_pattern + options.output_directory).empty()) {
    throw usage_failure("--label is for the screen; it excludes --output and --output-dir");
  }
  check_simulation(options);
}

}  // namespace

void check_ranks(const run_options& options) {
  if (options.ranks() > most_ranks) {
    throw usage_failure("at most " + std::to_string(most_ranks) + " ranks in all");
  }
  if (options.input == stdin_target::one_rank && options.input_rank >= options.ranks()) {
    throw usage_failure("--stdin " + std::to_string(options.input_rank) + ": the job has only " +
                        std::to_string(options.ranks()) + " ranks");
  }
}

int run_options::ranks() const noexcept {
  int sum = 0;
  for (const application& each : applications) {
    sum = sum > most_ranks ? sum : sum + each.ranks;
  }
  return sum;
}

run_options parse_run(std::span<const std::string_view> words) {
  run_options options;
  const std::vector<option> known = table(options);
  do {
    options.applications.emplace_back();
    words = words.subspan(parse_options(words, known, remark_on_mpiexec_option));
    if (options.help) {
      return options;
    }
    if (!options.calibrate.empty()) {
      if (!words.empty()) {
        throw usage_failure("--calibrate runs no program: leave out \"" +
                            std::string(words.front()) + '"');
      }
      break;
    }
    std::vector<std::string>& arguments = options.applications.back().arguments;
    while (!words.empty() && words.front() != ":") {
      arguments.emplace_back(words.front());
      words = words.subspan(1);
    }
    if (arguments.empty() || arguments.front().empty()) {
      throw usage_failure("no program is given");
    }
    if (words.size() == 1) {
      throw usage_failure("no program is given behind the last ':'");
    }
    words = words.empty() ? words : words.subspan(1);
  } while (!words.empty());
  check(options);
  return options;
}

std::vector<std::string> words_without(std::span<const std::string_view> words,
                                       std::span<const std::string_view> dropped) {
  run_options unused;
  std::vector<std::string> kept;
  std::vector<option> known = table(unused);
  for (option& each : known) {
    each.apply = [&kept, &dropped, name = each.names.front(),
                  apart = takes_word(each)](std::string_view value) {
      if (std::find(dropped.begin(), dropped.end(), name) != dropped.end()) {
        return;
      }
      kept.emplace_back(name);
      if (apart) {
        kept.emplace_back(value);
      } else if (!value.empty()) {
        kept.back() += "=" + std::string(value);
      }
    };
  }
  while (!words.empty()) {
    const std::size_t options = parse_options(words, known, remark_on_mpiexec_option);
    if (options != 0 && words[options - 1] == "--") {
      kept.emplace_back("--");
    }
    const auto program = words.begin() + static_cast<std::ptrdiff_t>(options);
    auto next = std::find(program, words.end(), ":");
    next = next == words.end() ? next : next + 1;
    kept.insert(kept.end(), program, next);
    words = {next, words.end()};
  }
  return kept;
}

command_page run_page() {
  static run_options unused;
  return {
      "run", "starts the ranks of a job, on this machine or on several hosts",
      "[options] PROGRAM [ARGUMENTS] [: [options] PROGRAM [ARGUMENTS]]...",
      "A rank that crashes, exits with a code other than 0, or leaves without MPI_Finalize ends\n"
      "the job. What a rank leaves running in its process group ends with it. The first ^C goes\n"
      "to the ranks, which have 2 s to end; the second ends them at once. The folder of this\n"
      "installation's libmpi_abi.so.1 stands first in the ranks' LD_LIBRARY_PATH.\n\n"
      "With --hosts or --hostfile, or inside a Slurm job, a daemon on each host holds the ranks\n"
      "there; it needs this build of Sinew at the same path, and a login without a password.\n"
      "Without -n there are as many ranks as the hosts take. Files of --output are written "
      "here.\n\n"
      "exit code: that of the first failing rank; 128 + N if signal N killed it; 124 time is up;\n"
      "126 the program cannot be executed; 127 it was not found; 2 wrong usage; 130 and 143\n"
      "interrupted by SIGINT and SIGTERM.",
      table(unused)};
}

}  // namespace sinew::tool
