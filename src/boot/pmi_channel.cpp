// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/launcher_wire.hpp"

namespace sinew::boot {
namespace {

/// Returns when there is something to receive, or when it has said that there is not. The setting
/// is core's; a program without core has no report of hangs.
void await_launcher(int socket) {
  const auto* const limit =
      dynamic_cast<const setting<double>*>(settings::find("SINEW_CORE_HANG_TIMEOUT"));
  if (limit == nullptr || !((*limit)() > 0)) {
    return;
  }
  pollfd asked{socket, POLLIN, 0};
  const double ms = std::min((*limit)() * 1e3, 1e9);
  // Wait: this is the report.
  if (::poll(&asked, 1, static_cast<int>(ms)) == 0) {
    log_line(log_level::error,
             "this rank has waited for SINEW_CORE_HANG_TIMEOUT for the launcher's answer: most "
             "likely in a fence (the beginning or end of MPI, of coarrays, or the program's own) "
             "to which not all ranks have come");
  }
}

}  // namespace

void pmi_channel::say(const std::string& line) {
  const std::string whole = line + "\n";
  const std::lock_guard held(saying_);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    SINEW_CHECK(errno == EINTR, "the launcher does not listen any more",
                std::string("sending to it failed: ") + std::strerror(errno),
                "look above for the launcher's own message");
  }
}

// What has come for whoever waits for what other ranks do is nobody's answer.
void pmi_channel::sort() {
  while (const auto line = input_.next()) {
    auto message = pmi_message::parse(*line);
    SINEW_CHECK(message.has_value(), "the launcher sent a line that is not PMI-1",
                "\"" + pmi_visible(line->substr(0, 80)) + "\"",
                "use `sinew run` or MPICH's mpiexec");
    if (message->command() == launcher_wire::waits_asked) {
      question_ = message->number("turn").value_or(0);
    } else {
      heard_.push_back(std::move(*message));
    }
  }
}

std::optional<pmi_message> pmi_channel::next() {
  if (heard_.empty()) {
    return std::nullopt;
  }
  pmi_message first = std::move(heard_.front());
  heard_.pop_front();
  return first;
}

void pmi_channel::receive(int flags) {
  std::array<char, 4096> bytes;
  // Wait: for the launcher; what takes long has been told.
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), flags);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  SINEW_CHECK(got > 0, "the launcher has gone",
              got == 0 ? "it closed the connection" : std::strerror(errno),
              "look above for the launcher's own message");
  SINEW_CHECK(input_.append({bytes.data(), static_cast<std::size_t>(got)}),
              "the launcher sent a line without an end", "more than 64 KiB", "");
  sort();
}

pmi_message pmi_channel::hear() {
  while (true) {
    if (auto message = next()) {
      return std::move(*message);
    }
    await_launcher(socket_.get());
    receive(0);
  }
}

std::optional<pmi_message> pmi_channel::heard() {
  const std::lock_guard held(conversation_);
  receive(MSG_DONTWAIT);
  return next();
}

int pmi_channel::take_question() noexcept try {
  const std::unique_lock held(conversation_, std::try_to_lock);
  if (!held) {
    return 0;
  }
  receive(MSG_DONTWAIT);
  return std::exchange(question_, 0);
} catch (const std::exception&) {
  return 0;  // the launcher has gone: whoever needs it meets that
}

pmi_message pmi_channel::ask(const std::string& line, std::string_view answer) {
  const std::lock_guard held(conversation_);
  say(line);
  pmi_message message = hear();
  SINEW_CHECK(message.command() == answer, "the launcher answered something else",
              "to \"" + pmi_visible(line.substr(0, 80)) + "\" it said " +
                  pmi_visible(message.command()) + ", not " + std::string(answer),
              "use `sinew run` or MPICH's mpiexec");
  return message;
}

void pmi_channel::put(const std::string& space, const std::string& key, const std::string& word) {
  const pmi_message answer =
      ask("cmd=put kvsname=" + space + " key=" + key + " value=" + word, "put_result");
  SINEW_CHECK(answer.number("rc").value_or(-1) == 0, "the launcher refused the key " + key,
              pmi_visible(answer.find("msg").value_or("no reason given")), "");
}

std::optional<std::string> pmi_channel::get(const std::string& space, const std::string& key) {
  const pmi_message answer = ask("cmd=get kvsname=" + space + " key=" + key, "get_result");
  if (answer.number("rc").value_or(0) != 0) {
    return std::nullopt;
  }
  return std::string(answer.find("value").value_or(""));
}

void pmi_channel::barrier() { (void)ask("cmd=barrier_in", "barrier_out"); }

namespace {

/// Some launchers say `info=ok`, some `rc=0`, some both.
bool is_well(const pmi_message& answer) {
  const auto info = answer.find("info");
  return answer.number("rc").value_or(info == "ok" ? 0 : -1) == 0;
}

}  // namespace

bool pmi_channel::publish(const std::string& name, const std::string& value) {
  return is_well(ask("cmd=publish_name service=" + name + " port=" + value, "publish_result"));
}

std::optional<std::string> pmi_channel::lookup(const std::string& name) {
  const pmi_message answer = ask("cmd=lookup_name service=" + name, "lookup_result");
  if (!is_well(answer)) {
    return std::nullopt;
  }
  return std::string(answer.find("port").value_or(""));
}

bool pmi_channel::unpublish(const std::string& name) {
  return is_well(ask("cmd=unpublish_name service=" + name, "unpublish_result"));
}

void check_key(const std::string& key) {
  const bool word =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '='; });
  SINEW_CHECK(!key.empty() && key.size() <= 63 && word, "\"" + key + "\" cannot be a key",
              "a key is one word of at most 63 bytes", "");
}

}  // namespace sinew::boot
