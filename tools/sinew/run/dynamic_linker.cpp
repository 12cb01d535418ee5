// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/dynamic_linker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "sinew/base/clock.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/run/elf_file.hpp"
#include "sinew/run/event_loop.hpp"

namespace sinew::tool {
namespace {

/// What a program prints to both its outputs, within a second; empty if it cannot be started.
std::string output_of(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const boot::descriptor in(ends[0]);
  boot::descriptor out(ends[1]);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&streams, out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&streams, out.get(), 2);
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& each : texts) {
      all.push_back(const_cast<char*>(each.c_str()));
    }
    all.push_back(nullptr);
    return all;
  };
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, command.front().c_str(), &streams, nullptr,
                                    pointers(command).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&streams);
  if (failure != 0) {
    return {};
  }
  out.reset();
  std::string text;
  std::array<char, 4096> bytes;
  const std::int64_t until = now_ns() + second_ns;
  for (ssize_t got = 1; got > 0 && wait_ready(in.get(), POLLIN, until);) {
    got = ::read(in.get(), bytes.data(), bytes.size());
    text.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::kill(child, SIGKILL);
  // Wait: for the end of a process that has just been killed, or has closed its output.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// A line of its list is "name => path (address)", "name => not found" or "path (address)"; of its
/// complaints "undefined symbol: name, version V (file)" or "file: what: why".
void add_line(std::string_view line, linkage& to) {
  constexpr std::string_view undefined = "undefined symbol: ";
  if (!line.starts_with('\t')) {
    if (line.starts_with(undefined)) {
      const std::string_view rest = line.substr(undefined.size());
      to.undefined.emplace_back(rest.substr(0, rest.find_first_of(",\t ")));
    } else {
      to.complaints.emplace_back(line);
    }
    return;
  }
  line.remove_prefix(1);
  line = line.substr(0, line.find(" ("));
  const std::size_t arrow = line.find(" => ");
  const std::string_view name = line.substr(0, arrow);
  std::string_view path = arrow == std::string_view::npos ? name : line.substr(arrow + 4);
  path = path.starts_with('/') ? path : "";
  if (arrow != std::string_view::npos || !path.empty()) {  // else the kernel's, which is no file
    to.libraries.push_back({std::string(name.substr(name.rfind('/') + 1)), std::string(path)});
  }
}

}  // namespace

linkage link(const std::string& program, std::vector<std::string> environment, asked what) {
  linkage result;
  elf_file file(program);
  if (!file.is_elf() || file.is_static()) {
    return result;
  }
  std::string linker = file.interpreter();
  if (linker.empty()) {  // a library: the linker of this program serves for it, too
    linker = elf_file("/proc/self/exe").interpreter();
  }
  // ld.so(8): it then loads the program's libraries, and runs nothing of them.
  std::vector<std::string> command = {linker, "--list", program};
  if (what == asked::symbols) {  // which --list does not look for
    command = {linker, program};
    for (const char* const each : {"LD_TRACE_LOADED_OBJECTS=1", "LD_BIND_NOW=1", "LD_WARN=1"}) {
      environment.emplace_back(each);
    }
  }
  std::istringstream lines(output_of(command, environment));
  for (std::string line; std::getline(lines, line);) {
    add_line(line, result);
  }
  return result;
}

}  // namespace sinew::tool
