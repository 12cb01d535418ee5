// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/top_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "sinew/base/clock.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/units.hpp"

namespace sinew::tool {
namespace {

std::string printed(const char* format, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// "310", "12.3k", "1.2G".
std::string rate_text(double number) {
  constexpr std::array<const char*, 5> endings = {"", "k", "M", "G", "T"};
  std::size_t at = 0;
  for (; number >= 999.5 && at + 1 < endings.size(); ++at) {
    number /= 1000;
  }
  return printed(at != 0 && number < 99.95 ? "%.1f" : "%.0f", number) + endings[at];
}
std::string share_text(double share) {
  return share < 0 ? "-" : printed("%.0f", 100 * share) + " %";
}

constexpr double sort_value(const rank_rates& of, top_order by) {
  switch (by) {
    case top_order::rank:
      break;
    case top_order::processor:
      return of.processor;
    case top_order::in_calls:
      return of.in_calls;
    case top_order::messages:
      return of.messages;
    case top_order::sent:
      return of.sent_bytes;
    case top_order::memory:
      return of.memory_bytes;
  }
  return -of.rank;
}

std::string call_text(const rank_rates& of) {
  if (of.waits_ns >= second_ns) {
    return of.last_call + (of.last_call.empty() ? "waits for " : ", for ") +
           std::to_string(of.waits_ns / second_ns) + " s";
  }
  return of.in_calls > 0 ? of.last_call : "";
}

using cells = std::vector<std::string>;

cells cells_of(const rank_rates& of, bool by_host) {
  return {by_host ? std::to_string(of.ranks) : std::to_string(of.rank),
          of.host,
          share_text(of.processor),
          share_text(of.in_calls),
          rate_text(of.calls),
          rate_text(of.messages),
          amount_text(of.sent_bytes),
          amount_text(of.received_bytes),
          amount_text(of.memory_bytes),
          by_host ? "" : call_text(of)};
}

/// All to the right, but hosts and calls.
std::string aligned(const std::vector<cells>& lines, int columns) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const cells& line : lines) {
    std::string one;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string margin(widths[i] - line[i].size(), ' ');
      const bool is_word = i == 1 || i + 1 == line.size();
      one += "  " + (is_word ? line[i] + margin : margin + line[i]);
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += (columns > 0 ? one.substr(0, static_cast<std::size_t>(columns)) : one) + "\n";
  }
  return text;
}

void add(rank_rates& to, const rank_rates& more) {
  to.ranks += more.ranks;
  to.processor += more.processor;
  if (more.in_calls >= 0) {
    to.in_calls = std::max(to.in_calls, 0.0) + more.in_calls;
  }
  to.calls += more.calls;
  to.messages += more.messages;
  to.sent_bytes += more.sent_bytes;
  to.received_bytes += more.received_bytes;
  to.memory_bytes += more.memory_bytes;
  to.waits_ns = std::max(to.waits_ns, more.waits_ns);
}

std::string sum_line(const std::vector<rank_rates>& ranks) {
  const std::vector<rank_rates> hosts = sums_by_host(ranks);
  rank_rates all = hosts.front();
  std::for_each(hosts.begin() + 1, hosts.end(), [&all](const rank_rates& of) { add(all, of); });
  return std::to_string(all.ranks) + (all.ranks == 1 ? " rank" : " ranks") +
         (hosts.size() > 1 ? " on " + std::to_string(hosts.size()) + " hosts" : "") + ": " +
         printed("%.1f", all.processor) + " processors in use, " +
         (all.in_calls < 0 ? "" : share_text(all.in_calls / all.ranks) + " in MPI, ") +
         rate_text(all.messages) + " messages/s, " + amount_text(all.sent_bytes) + "/s sent, " +
         amount_text(all.memory_bytes) + " of memory\n";
}

double rate(std::int64_t before, std::int64_t now, std::int64_t length_ns) {
  return std::max<double>(static_cast<double>(now - before), 0) * static_cast<double>(second_ns) /
         static_cast<double>(length_ns);
}

rank_rates rates_of(const numbered_rank& before, const numbered_rank& now) {
  const rank_numbers& a = before.numbers;
  const rank_numbers& b = now.numbers;
  const std::int64_t length = std::max<std::int64_t>(b.at_ns - a.at_ns, 1);
  rank_rates made{.rank = now.rank, .host = now.host};
  made.processor = rate(a.processor_ns, b.processor_ns, length) / second_ns;
  made.calls = rate(a.calls, b.calls, length);
  made.messages = rate(a.messages, b.messages, length);
  made.sent_bytes = rate(a.sent_bytes, b.sent_bytes, length);
  made.received_bytes = rate(a.received_bytes, b.received_bytes, length);
  made.memory_bytes = static_cast<double>(b.memory_bytes);
  made.waits_ns = b.waits_ns;
  made.last_call = b.last_call;
  // A call that began before anybody listened is not counted, but it waits.
  const bool waits_in_it = b.waits_ns > length;
  if (b.counts_calls || waits_in_it) {
    const double counted = rate(a.in_calls_ns, b.in_calls_ns, length) / second_ns;
    made.in_calls = waits_in_it ? std::max(counted, 1.0) : counted;
  }
  return made;
}

}  // namespace

std::vector<rank_rates> rates_between(const std::vector<numbered_rank>& before,
                                      const std::vector<numbered_rank>& now) {
  std::map<std::pair<int, pid_t>, const numbered_rank*> known;
  for (const numbered_rank& each : before) {
    known[{each.rank, each.process}] = &each;
  }
  std::vector<rank_rates> made;
  for (const numbered_rank& each : now) {
    if (const auto at = known.find({each.rank, each.process}); at != known.end()) {
      made.push_back(rates_of(*at->second, each));
    }
  }
  return made;
}

std::vector<rank_rates> sums_by_host(const std::vector<rank_rates>& ranks) {
  std::vector<rank_rates> hosts;
  for (const rank_rates& each : ranks) {
    const auto at = std::find_if(hosts.begin(), hosts.end(),
                                 [&each](const rank_rates& of) { return of.host == each.host; });
    at != hosts.end() ? add(*at, each) : hosts.push_back(each);
  }
  return hosts;
}

std::string top_table(const std::vector<rank_rates>& ranks, const top_view& view) {
  if (ranks.empty()) {
    return "no rank runs\n";
  }
  std::vector<rank_rates> shown = view.by_host ? sums_by_host(ranks) : ranks;
  std::stable_sort(shown.begin(), shown.end(), [&view](const rank_rates& a, const rank_rates& b) {
    return sort_value(a, view.order) > sort_value(b, view.order);
  });
  std::vector<cells> lines{{view.by_host ? "ranks" : "rank", "host", "cpu", "in MPI", "calls/s",
                            "messages/s", "sent/s", "received/s", "memory", ""}};
  const std::size_t room =
      view.lines > 0 ? static_cast<std::size_t>(std::max(view.lines - 2, 1)) : shown.size();
  const std::size_t count = shown.size() <= room ? shown.size() : room - (room > 1 ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    lines.push_back(cells_of(shown[i], view.by_host));
  }
  const std::size_t left = shown.size() - count;
  return sum_line(ranks) + aligned(lines, view.columns) +
         (left == 0 ? "" : "  and " + std::to_string(left) + " more\n");
}

std::string top_json(const std::vector<rank_rates>& ranks, int job) {
  std::string text;
  for (const rank_rates& of : ranks) {
    text += (text.empty() ? "" : ",") + std::string("{\"rank\":") + std::to_string(of.rank) +
            ",\"host\":" + formats::json_quoted(of.host);
    const auto member = [&text](const char* name, double number) {
      text += std::string(",\"") + name + "\":" + printed("%.6g", number);
    };
    member("processor", of.processor);
    if (of.in_calls >= 0) {
      member("in_mpi", of.in_calls);
      member("calls_per_s", of.calls);
      member("messages_per_s", of.messages);
      member("sent_bytes_per_s", of.sent_bytes);
      member("received_bytes_per_s", of.received_bytes);
    }
    member("memory_bytes", of.memory_bytes);
    member("waits_s", static_cast<double>(of.waits_ns) / second_ns);
    text += ",\"call\":" + formats::json_quoted(call_text(of).empty() ? "" : of.last_call) + "}";
  }
  return "{\"job\":" + std::to_string(job) + ",\"ranks\":[" + text + "]}\n";
}

}  // namespace sinew::tool
