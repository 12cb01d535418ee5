// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/rank_numbers.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <vector>

#include "sinew/ask/idle_watch.hpp"
#include "sinew/ask/rank_page.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/parse.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t listening_ns = 5 * second_ns;
/// A rank that waits says so every 10 ms; one without a processor later.
constexpr std::int64_t still_waits_ns = second_ns;

constexpr auto relaxed = std::memory_order_relaxed;

std::string last_call_of(const boot::pulse& page) {
  std::array<char, sizeof page.last_call> name{};
  for (std::size_t i = 0; i < page.last_call.size(); ++i) {
    const std::uint64_t letters = page.last_call[i].load(relaxed);
    std::memcpy(name.data() + i * sizeof letters, &letters, sizeof letters);
  }
  std::string text(name.data(), ::strnlen(name.data(), name.size()));
  std::replace_if(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  return text;
}

std::int64_t resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  return file >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

void listen(boot::pulse& page, std::int64_t now) {
  page.listened_until.store(now + listening_ns, relaxed);
  page.open.store(false, relaxed);
}

void read_page(const boot::pulse& page, rank_numbers& to) {
  const auto of = [](const auto& count) { return static_cast<std::int64_t>(count.load(relaxed)); };
  to.counts_calls = page.counts_calls.load(relaxed);
  to.calls = of(page.calls);
  to.messages = of(page.messages);
  to.sent_bytes = of(page.sent);
  to.received_bytes = of(page.received);
  to.in_calls_ns = of(page.ended_ns) + of(page.inside) * to.at_ns - of(page.begun_ns);
  const bool waits = to.at_ns - of(page.waiting_at) < still_waits_ns;
  to.waits_ns = waits ? std::max<std::int64_t>(to.at_ns - of(page.waits_since), 0) : 0;
  to.last_call = last_call_of(page);
}

}  // namespace

std::string rank_numbers::line() const {
  std::string text;
  for (const std::int64_t number :
       {at_ns, processor_ns, memory_bytes, std::int64_t{counts_calls}, calls, messages, sent_bytes,
        received_bytes, in_calls_ns, waits_ns}) {
    text += std::to_string(number) + " ";
  }
  return text + (last_call.empty() ? "-" : last_call);
}

std::optional<rank_numbers> rank_numbers::of_line(std::string_view line) {
  const std::vector<std::string> words = base::split(line, ' ');
  std::array<std::int64_t, 10> n{};
  if (words.size() != n.size() + 1) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < n.size(); ++i) {
    const auto number = base::parse_integer(words[i]);
    if (!number) {
      return std::nullopt;
    }
    n[i] = *number;
  }
  return rank_numbers{n[0],
                      n[1],
                      n[2],
                      n[3] != 0,
                      n[4],
                      n[5],
                      n[6],
                      n[7],
                      n[8],
                      n[9],
                      words.back() == "-" ? "" : words.back()};
}

rank_numbers read_numbers(pid_t process) {
  rank_numbers read;
  read.at_ns = detail::system_now_ns();
  read.processor_ns = processor_time_of(process);
  read.memory_bytes = resident_bytes(process);
  if (const auto page = rank_page::of(process)) {
    listen(**page, read.at_ns);
    read_page(**page, read);
  }
  return read;
}

std::string numbered_rank::line() const {
  return std::to_string(rank) + " " + host + " " + std::to_string(process) + " " + numbers.line();
}

std::optional<numbered_rank> numbered_rank::of_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  const std::size_t third = line.find(' ', second + 1);
  if (first == line.npos || second == line.npos || third == line.npos) {
    return std::nullopt;
  }
  const auto rank = base::parse_integer(line.substr(0, first));
  const auto process = base::parse_integer(line.substr(second + 1, third - second - 1));
  const auto numbers = rank_numbers::of_line(line.substr(third + 1));
  if (!rank || !process || !numbers) {
    return std::nullopt;
  }
  return numbered_rank{static_cast<int>(*rank),
                       std::string(line.substr(first + 1, second - first - 1)),
                       static_cast<pid_t>(*process), *numbers};
}

}  // namespace sinew::tool
