// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/wait_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sinew/base/parse.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {
namespace {

constexpr std::array<std::string_view, 5> kinds = {"other", "receive", "send", "probe",
                                                   "collective"};
constexpr std::size_t longest_name = 1024;

void add(std::string& to, const char* name, const std::string& word) {
  to += std::string(" ") + name + "=" + word;
}

template <class Number>
void add_unless(std::string& to, const char* name, Number value, Number usual) {
  if (value != usual) {
    add(to, name, std::to_string(value));
  }
}

/// Of a line that another process has sent.
struct fields {
  const pmi_message& line;
  bool sound = true;

  template <class Number>
  void number(const char* name, Number& to) {
    const auto word = line.find(name);
    const auto value = word ? base::parse_integer(std::string(*word)) : std::nullopt;
    sound = sound && (!word || value);
    to = value ? static_cast<Number>(*value) : to;
  }
  void text(const char* name, std::string& to) {
    if (const auto word = line.find(name)) {
      const auto bytes = pmi_unescape(*word);
      sound = sound && bytes && bytes->size() <= longest_name;
      to = sound ? *bytes : "";
    }
  }
};

bool read_ranks(std::string_view list, std::vector<int>& to) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const auto rank = parse_number(list.substr(0, end));
    if (!rank || *rank < 0 || to.size() == most_awaited_ranks) {
      return false;
    }
    to.push_back(*rank);
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return true;
}

bool read_kind(std::string_view word, awaited::kind& to) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == word) {
      to = static_cast<awaited::kind>(i);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string to_line(const wait_report& report) {
  const awaited& what = report.what;
  std::string line = std::string("cmd=") + launcher_wire::waits;
  add(line, "turn", std::to_string(report.turn));
  add(line, "state", pmi_escape(report.state));
  add_unless(line, "sent", report.sent, std::uint64_t{0});
  add_unless(line, "received", report.received, std::uint64_t{0});
  add(line, "ms", std::to_string(report.waited_ms));
  add(line, "kind", std::string(kinds[static_cast<std::size_t>(what.what)]));
  std::string ranks;
  for (const int each : what.ranks) {
    ranks += (ranks.empty() ? "" : ",") + std::to_string(each);
  }
  if (!ranks.empty()) {
    add(line, "ranks", ranks);
  }
  add_unless(line, "tag", what.tag, -1);
  add(line, "comm", pmi_escape(what.communicator));
  add_unless(line, "bytes", what.bytes, std::int64_t{-1});
  add(line, "call", pmi_escape(what.collective));
  add_unless(line, "root", what.root, -1);
  add_unless(line, "number", what.number, std::int64_t{0});
  add_unless(line, "other", what.other_tag, -1);
  return line;
}

std::optional<wait_report> parse_wait_report(const pmi_message& line) {
  wait_report made;
  fields from{line};
  from.number("turn", made.turn);
  from.text("state", made.state);
  from.number("sent", made.sent);
  from.number("received", made.received);
  from.number("ms", made.waited_ms);
  from.number("tag", made.what.tag);
  from.text("comm", made.what.communicator);
  from.number("bytes", made.what.bytes);
  from.text("call", made.what.collective);
  from.number("root", made.what.root);
  from.number("number", made.what.number);
  from.number("other", made.what.other_tag);
  if (!from.sound || !read_kind(line.find("kind").value_or(""), made.what.what) ||
      !read_ranks(line.find("ranks").value_or(""), made.what.ranks)) {
    return std::nullopt;
  }
  return made;
}

}  // namespace sinew::boot
