// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/job_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::tool {
namespace {

constexpr std::array<std::string_view, 5> words = {"places\n", "stacks\n", "json\n", "numbers\n",
                                                   "elsewhere\n"};

/// In the namespace of names without a file, which end with their process.
std::string beginning() { return "sinew-job." + std::to_string(::getuid()) + "."; }

socklen_t fill_address(sockaddr_un& to, pid_t launcher) {
  const std::string name = beginning() + std::to_string(launcher);
  to = {};
  to.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), to.sun_path + 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

boot::descriptor new_socket() {
  return boot::descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

}  // namespace

question question_of(std::string_view line) noexcept {
  const auto* const known = std::find(words.begin(), words.end(), line);
  return known != words.end() ? static_cast<question>(known - words.begin()) : question::places;
}

boot::descriptor job_socket() {
  boot::descriptor made = new_socket();
  sockaddr_un address{};
  const socklen_t length = fill_address(address, ::getpid());
  if (!made || ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(made.get(), 8) != 0) {
    return {};
  }
  return made;
}

boot::descriptor take_asker(int socket) {
  boot::descriptor made(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC));
  ucred who{};
  socklen_t length = sizeof who;
  const bool is_known = made &&
                        ::getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
                        (who.uid == ::getuid() || who.uid == 0);
  return is_known ? std::move(made) : boot::descriptor();
}

void send_answer(int connection, std::string_view text) {
  const timeval patience{1, 0};
  (void)::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (!text.empty()) {
    const ssize_t count = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

std::vector<pid_t> running_jobs() {
  std::vector<pid_t> found;
  const std::string wanted = "@" + beginning();
  std::ifstream names("/proc/net/unix");
  for (std::string line; std::getline(names, line);) {
    const std::size_t at = line.rfind(wanted);
    if (at == std::string::npos) {
      continue;
    }
    if (const auto number = base::parse_integer(line.substr(at + wanted.size()))) {
      found.push_back(static_cast<pid_t>(*number));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string ask_job(pid_t launcher, question what) {
  const boot::descriptor line = new_socket();
  sockaddr_un address{};
  const socklen_t length = fill_address(address, launcher);
  const std::string_view word = words[static_cast<std::size_t>(what)];
  SINEW_CHECK(
      line && ::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
          ::send(line.get(), word.data(), word.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(word.size()),
      "the job " + std::to_string(launcher) + " cannot be asked", base::system_reason(errno),
      "name the process of a sinew run of yours on this machine; sinew status lists them");
  std::string answer;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::recv(line.get(), part.data(), part.size(), 0);
    if (count == 0) {
      return answer;
    }
    SINEW_CHECK(count > 0 || errno == EINTR, "the job does not answer", base::system_reason(errno),
                base::system_advice(errno));
    answer.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

}  // namespace sinew::tool
