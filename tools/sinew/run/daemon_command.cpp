// SPDX-License-Identifier: BSD-3-Clause
// sinew daemon: what a launcher starts on another host. Not for people, hence in no help.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/run/host_daemon.hpp"

namespace sinew::tool {
namespace {

/// The launcher's line, which must come within the time that an agent may take to pass it on.
std::string first_line() {
  std::string line;
  constexpr int most_ms = 10'000;
  while (line.size() < 4096) {
    pollfd asked{STDIN_FILENO, POLLIN, 0};
    char byte = 0;
    // Wait: for the launcher, which has written it before it started the agent.
    if (::poll(&asked, 1, most_ms) != 1 || ::read(STDIN_FILENO, &byte, 1) != 1 || byte == '\n') {
      break;
    }
    line += byte;
  }
  return line;
}

boot::descriptor copy_of(int number) {
  return boot::descriptor(::fcntl(number, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

int daemon_main(int, char**) {
  const auto by = parse_greeting(first_line());
  SINEW_CHECK(by.has_value(), "no launcher speaks to this daemon",
              "the line that it writes first has not come, or is not of this version",
              "`sinew run --hosts` starts daemons; there is no use in doing so by hand");
  SINEW_CHECK(by->build == build_name(), "this host has another build of Sinew",
              "here it is " + build_name() + ", the launcher is " +
                  boot::pmi_visible(by->build.substr(0, 100)),
              "install the same build on all hosts");
  if (auto line = call_launcher(*by)) {
    return host_daemon(std::move(*line)).run();
  }
  const std::string line = stay_line(by->node) + "\n";
  SINEW_CHECK(::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
              "the launcher cannot be told of this daemon", std::strerror(errno), "");
  return host_daemon({copy_of(STDIN_FILENO), copy_of(STDOUT_FILENO)}).run();
}

}  // namespace sinew::tool
