// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/mpiexec_words.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sinew/commands.hpp"

namespace sinew::tool {
namespace {

/// What is meant by a foreign option.
enum class meaning {
  same,         // `text` is the option of `sinew run`
  nothing,      // it is so anyway
  no_effect,    // `text` says why; the job runs
  refused,      // `text` says what to use instead
  variable,     // one word NAME[=VALUE] for this program's ranks
  pair,         // two words NAME VALUE for this program's ranks
  global_pair,  // the same for all programs
  hosts,        // `text` is the option of `sinew run` that is the whole job's
  per_node,
  binding,
  mapping,
  launcher,
  output,
  error_handler,
  architecture,
  version,
  help,
};

struct habit {
  std::string_view names;  // separated by spaces, without dashes
  int values;
  meaning what;
  std::string_view text = {};
};

constexpr std::string_view other_launchers =
    "daemons are started by ssh, by srun inside a Slurm job, or by the command of --rsh";

constexpr std::array habits = {
    // How many, where, with what.
    habit{"n np c", 1, meaning::same, "-n"},
    habit{"x", 1, meaning::variable},
    habit{"env", 2, meaning::pair},
    habit{"genv", 2, meaning::global_pair},
    habit{"genvall envall", 0, meaning::nothing},
    habit{"genvlist envlist", 1, meaning::nothing},
    habit{"genvnone envnone", 0, meaning::refused,
          "ranks get the launcher's environment; to clear it, write env -i PATH=$PATH mpiexec ..."},
    habit{"host hosts H", 1, meaning::hosts, "--hosts"},
    habit{"f hostfile machinefile default-hostfile", 1, meaning::hosts, "--hostfile"},
    habit{"wdir wd", 1, meaning::same, "--wdir"},
    habit{"path", 1, meaning::refused, "write the program's path, or env PATH=... mpiexec ..."},
    habit{"ppn perhost npernode N", 1, meaning::per_node},
    habit{"npersocket", 1, meaning::refused, "use -n, and --bind-to numa"},
    habit{"usize topolib nameserver order-nodes demux localhost", 1, meaning::nothing},
    habit{"soft", 1, meaning::refused, "use -n with one number"},
    habit{"arch", 1, meaning::architecture},
    habit{"configfile file app", 1, meaning::refused,
          "write the programs behind each other, separated by ':'"},
    habit{"memory-alloc-kinds iface", 1, meaning::nothing},
    habit{"initial-errhandler", 1, meaning::error_handler},
    // Processors.
    habit{"bind-to", 1, meaning::binding},
    habit{"bind-to-core", 0, meaning::same, "--bind-to=core"},
    habit{"bind-to-none", 0, meaning::same, "--bind-to=none"},
    habit{"map-by rank-by", 1, meaning::mapping},
    habit{"bycore byslot", 0, meaning::nothing},
    habit{"bynode", 0, meaning::same, "--map-by=node"},
    habit{"cpus-per-proc cpus-per-rank cpu-list cpu-set", 1, meaning::refused,
          "use --bind-to core, numa or none"},
    habit{"oversubscribe nooversubscribe use-hwthread-cpus allow-run-as-root q quiet "
          "disable-hostname-propagation noprefix",
          0, meaning::nothing},
    habit{"report-bindings", 0, meaning::same, "--report-bindings"},
    habit{"display-map display-allocation display-devel-map do-not-launch", 0, meaning::refused,
          "use --dry-run or --report-bindings"},
    habit{"display", 1, meaning::refused, "use --dry-run or --report-bindings"},
    // Output, input, ends.
    habit{"l prepend-rank tag-output", 0, meaning::same, "--label"},
    habit{"output", 1, meaning::output},
    habit{"outfile-pattern errfile-pattern output-filename", 1, meaning::refused,
          "use -o FILE (%r is the rank) or --output-dir DIR"},
    habit{"s stdin", 1, meaning::same, "--stdin"},
    habit{"timeout", 1, meaning::same, "--timeout"},
    habit{"v verbose print-all-exitcodes", 0, meaning::same, "--verbose"},
    habit{"disable-auto-cleanup enable-recovery continuous", 0, meaning::refused,
          "a rank that fails always ends the job"},
    habit{"gdb tv ddd debug xterm", 0, meaning::refused,
          "make the debugger the program: mpiexec -n 2 gdb --args PROGRAM"},
    // How another launcher does its work.
    habit{"mca gmca omca prtemca pmixmca", 2, meaning::no_effect,
          "is a setting of Open MPI and has no effect; Sinew's settings: sinew info config"},
    habit{"tune am", 1, meaning::no_effect,
          "is a setting of Open MPI and has no effect; Sinew's settings: sinew info config"},
    habit{"launcher bootstrap rmk", 1, meaning::launcher},
    habit{"launcher-exec bootstrap-exec", 1, meaning::hosts, "--rsh"},
    habit{"nolocal", 0, meaning::refused, "name the other hosts with --hosts"},
    habit{"prefix", 1, meaning::nothing},
    habit{"V version info", 0, meaning::version},
    habit{"h help", 0, meaning::help},
};

bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::string_view first = names.substr(0, names.find(' '));
    if (first == name) {
      return true;
    }
    names.remove_prefix(std::min(names.size(), first.size() + 1));
  }
  return false;
}

// Both launchers take long names with one dash or two; one letter with one.
const habit* find_habit(std::string_view word) {
  std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
  if (name.size() == 1 && word.starts_with("--") && name != "n" && name != "N") {
    return nullptr;
  }
  for (const habit& each : habits) {
    if (has_name(each.names, name)) {
      return &each;
    }
  }
  return nullptr;
}

/// "-np2", as of MPICH's and Open MPI's launchers: a number may stand behind the name.
std::size_t numbered_name(std::string_view word) {
  const std::size_t length = glued_name(word, [](std::string_view front) {
    const habit* const each = find_habit(front);
    return each != nullptr && each->values == 1;
  });
  const bool number = word.find_first_not_of("0123456789", length) == std::string_view::npos;
  return number ? length : 0;
}

bool one_of(std::string_view word, std::string_view list) { return has_name(list, word); }

[[noreturn]] void refuse(std::string_view option, std::string_view why) {
  throw usage_failure(std::string(option) + " cannot be granted: " + std::string(why));
}

void check_mapping(std::string_view option, std::string_view value) {
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (lower.starts_with("ppr:")) {
    refuse(option, "use -n with the number of ranks");
  }
  if (lower.find("pe=") != std::string::npos) {
    refuse(option, "a rank is bound to one core at most; for several threads use --bind-to none");
  }
}

// Several programs, each a list of words, and what goes to all of them.
class reader {
 public:
  explicit reader(std::span<const std::string_view> words) : rest_(words) {}

  mpiexec_words read() {
    do {
      begin_program();
      while (!rest_.empty() && rest_.front().size() > 1 && rest_.front()[0] == '-' &&
             rest_.front() != "--" && !result_.help && !result_.version) {
        read_option(take());
      }
      if (result_.help || result_.version) {
        return result_;
      }
      end_options();
      while (!rest_.empty() && rest_.front() != ":") {
        programs_.back().emplace_back(take());
      }
      more_ = !rest_.empty();
      if (more_) {
        take();
      }
    } while (more_);
    join();
    return result_;
  }

 private:
  std::string_view take() {
    const std::string_view word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }

  std::string_view take_value(std::string_view option) {
    if (rest_.empty()) {
      throw usage_failure(std::string(option) + " needs a value");
    }
    return take();
  }

  void begin_program() {
    programs_.emplace_back();
    counted_ = false;
    per_node_.clear();
  }

  void end_options() {
    if (!per_node_.empty() && (hosts_ || !counted_)) {
      add(hosts_ ? "--ppn" : "-n", per_node_);
    }
  }

  void add(std::string_view option, std::string_view value) {
    programs_.back().emplace_back(option);
    programs_.back().emplace_back(value);
  }

  void read_option(std::string_view word) {
    const std::size_t equals = word.find('=');
    const habit* known = find_habit(word);
    std::string_view option = word;
    std::string_view value;
    bool attached = false;
    if (known == nullptr && equals != std::string_view::npos) {
      option = word.substr(0, equals);
      known = find_habit(option);
      attached = known != nullptr && known->values == 1;
      known = attached ? known : nullptr;
      value = word.substr(equals + 1);
    }
    if (const std::size_t length = numbered_name(word); known == nullptr && length != 0) {
      option = word.substr(0, length);
      value = word.substr(length);
      attached = true;
      known = find_habit(option);
    }
    if (known == nullptr) {
      return keep(word);
    }
    if (known->values > 0 && !attached) {
      value = take_value(option);
    }
    const std::string_view second = known->values > 1 ? take_value(option) : std::string_view();
    apply(*known, option, value, second);
  }

  // Of `sinew run` itself, or of nobody: then `sinew run` says so.
  void keep(std::string_view word) {
    programs_.back().emplace_back(word);
    for (const sinew::tool::option& each : run_page().options) {
      const bool named = std::find(each.names.begin(), each.names.end(), word) != each.names.end();
      if (named && !each.value.empty() && !rest_.empty()) {
        programs_.back().emplace_back(take());
      }
    }
  }

  void apply(const habit& known, std::string_view option, std::string_view value,
             std::string_view second) {
    switch (known.what) {
      case meaning::same:
        counted_ = counted_ || known.text == "-n";
        programs_.back().emplace_back(known.text);
        if (known.values == 1) {
          programs_.back().emplace_back(value);
        }
        return;
      case meaning::nothing:
        return;
      case meaning::no_effect:
        result_.notes.push_back(std::string(option) + " " + std::string(value) + " " +
                                std::string(known.text));
        return;
      case meaning::refused:
        refuse(option, known.text);
      case meaning::variable:
        return add_variable(value);
      case meaning::pair:
        return add("-x", std::string(value) + "=" + std::string(second));
      case meaning::global_pair:
        global_.emplace_back("-x");
        global_.push_back(std::string(value) + "=" + std::string(second));
        return;
      case meaning::hosts:
        hosts_ = hosts_ || known.text != "--rsh";
        return add(known.text, value);
      case meaning::version:
        result_.version = true;
        return;
      case meaning::help:
        result_.help = true;
        return;
      default:
        apply_checked(known.what, option, value);
    }
  }

  // What is granted for some values only.
  void apply_checked(meaning what, std::string_view option, std::string_view value) {
    if (what == meaning::mapping) {
      check_mapping(option, value);
      if (one_of(value, "node slot") && !option.ends_with("rank-by")) {
        add("--map-by", value);
      }
    }
    if (what == meaning::per_node) {
      per_node_ = value;
    }
    if (what == meaning::binding) {
      add("--bind-to", value.substr(0, value.find(':')));
    }
    if (what == meaning::launcher && !one_of(value, "fork none user ssh rsh slurm")) {
      refuse(option, other_launchers);
    }
    if (what == meaning::output) {
      if (!one_of(value, "tag rank tag-detailed tag-fullname")) {
        refuse(option, "use -o FILE (%r is the rank) or --output-dir DIR");
      }
      programs_.back().emplace_back("--label");
    }
    if (what == meaning::error_handler && !one_of(value, "mpi_errors_are_fatal mpi_errors_abort")) {
      refuse(option, "call MPI_Comm_set_errhandler in the program");
    }
    if (what == meaning::architecture) {
      utsname machine{};
      if (::uname(&machine) != 0 || value != machine.machine) {
        refuse(option, "ranks run on processors like this machine's");
      }
    }
  }

  // What is not set is passed over, as Open MPI does.
  void add_variable(std::string_view value) {
    const std::string name(value);
    if (name.find('=') == std::string::npos && std::getenv(name.c_str()) == nullptr) {
      result_.notes.push_back("-x " + name + " has no effect: no such variable is set here");
      return;
    }
    add("-x", value);
  }

  void join() {
    for (const std::vector<std::string>& each : programs_) {
      if (&each != &programs_.front()) {
        result_.words.emplace_back(":");
      }
      result_.words.insert(result_.words.end(), global_.begin(), global_.end());
      result_.words.insert(result_.words.end(), each.begin(), each.end());
    }
  }

  std::span<const std::string_view> rest_;
  mpiexec_words result_;
  std::vector<std::vector<std::string>> programs_;
  std::vector<std::string> global_;
  bool hosts_ = false;    // hosts are named
  bool counted_ = false;  // this program's -n was given
  std::string per_node_;
  bool more_ = false;
};

}  // namespace

mpiexec_words read_mpiexec(std::span<const std::string_view> words) { return reader(words).read(); }

bool is_mpiexec_option(std::string_view word) {
  return word.starts_with("-") &&
         (find_habit(word.substr(0, word.find('='))) != nullptr || numbered_name(word) != 0);
}

std::string remark_on_mpiexec_option(std::string_view word) {
  const habit* const known = find_habit(word);
  if (known == nullptr) {
    return {};
  }
  return known->what == meaning::refused
             ? "it is of other MPIs' mpiexec: " + std::string(known->text)
             : "it is of other MPIs' mpiexec, whose options `sinew mpiexec` takes";
}

command_page mpiexec_page() {
  return {
      "mpiexec",
      "sinew run, with the options of other MPIs' mpiexec and mpirun",
      "[options] PROGRAM [ARGUMENTS] [: [options] PROGRAM [ARGUMENTS]]...",
      "All options of sinew run, and with one dash or two:\n"
      "  -n, -np, -c N          number of ranks; -ppn, -perhost, -npernode, -N the same\n"
      "  -x NAME[=VALUE], -env NAME VALUE, -genv NAME VALUE (all programs)\n"
      "  -host, -hosts, -H LIST, -f, -hostfile, -machinefile FILE: where; -ppn N on each host\n"
      "  -wdir, -wd DIR         where the ranks start; the program is looked for there, then here\n"
      "  -l, -prepend-rank, -tag-output, --output tag: [rank] before every line\n"
      "  -bind-to core|numa|none, -map-by, -rank-by, -timeout S, -stdin RANK|all|none, -v\n"
      "  -oversubscribe, -allow-run-as-root, -genvall, -launcher fork: it is so anyway\n"
      "  -mca NAME VALUE: has no effect, which is said\n"
      "MPIEXEC_TIMEOUT, in seconds, stands for -timeout.\n"
      "Others are refused with the option to use instead. A binary called mpiexec or mpirun (a\n"
      "link to sinew) is this command.",
      {},
      {"-n",
       "-np",
       "-c",
       "-ppn",
       "-perhost",
       "-npernode",
       "-N",
       "-x",
       "-env",
       "-genv",
       "-host",
       "-hosts",
       "-H",
       "-f",
       "-hostfile",
       "-machinefile",
       "-wdir",
       "-wd",
       "-l",
       "-prepend-rank",
       "-tag-output",
       "--output",
       "-bind-to",
       "-map-by",
       "-rank-by",
       "-timeout",
       "-stdin",
       "-v",
       "-oversubscribe",
       "-allow-run-as-root",
       "-genvall",
       "-launcher",
       "-mca"}};
}

}  // namespace sinew::tool
