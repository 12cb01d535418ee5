// SPDX-License-Identifier: BSD-3-Clause
// sinew: one binary, a table of commands.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/sentence.hpp"
#include "sinew/commands.hpp"
#include "sinew/pages.hpp"
#include "sinew/run/mpiexec_words.hpp"

namespace sinew::tool {

namespace {

constexpr std::string_view version = SINEW_VERSION;

struct command {
  std::string_view name;
  int (*run)(int, char**);
};

/// No command of ours: the message must not call it one.
class unknown_name : public usage_failure {
 public:
  using usage_failure::usage_failure;
};

int version_main(int, char**) {
  std::printf("sinew %s\n", version.data());
  return 0;
}

int help_main(int argc, char** argv);

command_page version_page() { return {"version", "prints the version", "", "", {}}; }
command_page help_page() {
  return {"help",
          "explains a command",
          "[COMMAND | --man [COMMAND] | --completion [bash|zsh] | --write FOLDER]",
          "--man prints a manual page (sinew help --man run | man -l -), --completion a script\n"
          "for a shell (source <(sinew help --completion)). --write makes files of all of them in\n"
          "the folder, as they are installed under share.",
          {},
          {"--man", "--completion", "--write"}};
}

std::vector<command_page> pages() {
  return {run_page(),     status_page(),  top_page(),   gdb_page(),     simulate_page(),
          explore_page(), mpiexec_page(), info_page(),  env_page(),     bench_page(),
          profile_page(), report_page(),  route_page(), version_page(), help_page()};
}

constexpr std::array commands = {
    command{"run", run_main},           command{"status", status_main},
    command{"top", top_main},           command{"gdb", gdb_main},
    command{"simulate", simulate_main}, command{"explore", explore_main},
    command{"mpiexec", mpiexec_main},   command{"info", info_main},
    command{"env", env_main},           command{"bench", bench_main},
    command{"profile", profile_main},   command{"report", report_main},
    command{"route", route_main},       command{"version", version_main},
    command{"help", help_main},         command{"daemon", daemon_main}};

// By the names that people type for it, through a link.
bool called_mpiexec(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("mpiexec") || name.starts_with("mpirun");
}

std::string overview() {
  std::string text = "usage: sinew COMMAND [...]\n\n";
  for (const command_page& page : pages()) {
    std::string name(page.name);
    name.resize(10, ' ');
    text += "  " + name + std::string(page.summary) + "\n";
  }
  return text + "\nsinew help COMMAND explains one.\n";
}

/// The launcher that an option or a program behind `sinew` is meant for, or empty.
std::string_view launcher_for(std::string_view word) {
  const std::vector<option> options = run_page().options;
  const bool ours = std::any_of(options.begin(), options.end(), [word](const option& each) {
    return std::find(each.names.begin(), each.names.end(), word.substr(0, word.find('='))) !=
           each.names.end();
  });
  return ours || (word.find('/') != std::string_view::npos && word.front() != '-') ? "run"
         : is_mpiexec_option(word)                                                 ? "mpiexec"
                                                                                   : "";
}

[[noreturn]] void unknown_command(std::string_view word) {
  if (const std::string_view launcher = launcher_for(word); !launcher.empty()) {
    throw unknown_name(std::string(word) + " is no command; ranks are started by `sinew " +
                       std::string(launcher) + " " + std::string(word) + " ...`");
  }
  std::vector<std::string_view> names;
  for (const command& each : commands) {
    names.push_back(each.name);
  }
  const std::string_view near = nearest(word, names);
  throw unknown_name(
      "unknown command " + std::string(word) +
      (near.empty() ? "; see sinew help" : "; did you mean " + std::string(near) + "?"));
}

const command_page& page_of(std::string_view name, const std::vector<command_page>& all) {
  for (const command_page& page : all) {
    if (page.name == name) {
      return page;
    }
  }
  unknown_command(name);
}

int help_main(int argc, char** argv) {
  const std::string_view topic = argc > 1 ? argv[1] : "";
  const std::vector<command_page> all = pages();
  if (topic.empty()) {
    std::fputs(overview().c_str(), stdout);
    return 0;
  }
  const std::string_view word = argc > 2 ? argv[2] : "";
  if (topic == "--man") {
    std::fputs((word.empty() ? man_overview(all) : man_page(page_of(word, all))).c_str(), stdout);
  } else if (topic == "--completion" && (word.empty() || word == "bash")) {
    std::fputs(bash_completion(all).c_str(), stdout);
  } else if (topic == "--completion" && word == "zsh") {
    std::fputs(zsh_completion(all).c_str(), stdout);
  } else if (topic == "--completion") {
    throw usage_failure("there is completion for bash and zsh, not for " + std::string(word));
  } else if (topic == "--write" && word.empty()) {
    throw usage_failure("--write needs a folder");
  } else if (topic == "--write") {
    write_pages(all, word);
  } else {
    std::fputs(help_text(page_of(topic, all)).c_str(), stdout);
  }
  return 0;
}

int dispatch(int argc, char** argv) {
  std::string_view word = argv[1];
  if (word == "--help" || word == "-h") {
    word = "help";
  } else if (word == "--version" || word == "-V") {
    word = "version";
  }
  for (const command& each : commands) {
    if (each.name == word) {
      return each.run(argc - 1, argv + 1);
    }
  }
  unknown_command(word);
}

int complain(const std::string& who, const std::exception& failure, int code) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), as_sentence(failure.what()).c_str());
  return code;
}

}  // namespace
}  // namespace sinew::tool

int main(int argc, char** argv) {
  using namespace sinew::tool;
  const bool mpiexec = argc > 0 && called_mpiexec(argv[0]);
  if (argc < 2 && !mpiexec) {
    std::fputs(overview().c_str(), stderr);
    return 2;
  }
  const std::string name = mpiexec ? "mpiexec" : std::string("sinew ") + argv[1];
  try {
    return mpiexec ? mpiexec_main(argc, argv) : dispatch(argc, argv);
  } catch (const sinew::tool::unknown_name& failure) {
    return complain("sinew", failure, 2);
  } catch (const usage_failure& failure) {
    return complain(name, failure, 2);
  } catch (const std::exception& failure) {
    return complain(name, failure, 1);
  }
}
