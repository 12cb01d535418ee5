// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/profile/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/gather_texts.hpp"
#include "abi/mpi/profile/table.hpp"
#include "abi/mpi/settings.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/source_lines.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::mpi::profile {
namespace {

using formats::json_quoted;

/// "name":value, of numbers.
template <class Number>
std::string field(const char* name, Number value) {
  return "\"" + std::string(name) + "\":" + std::to_string(value);
}
std::string field(const char* name, const std::string& text) {
  return "\"" + std::string(name) + "\":" + json_quoted(text);
}

/// Of a length by moments.
std::int64_t in_ns(std::int64_t length) {
  return std::llround(static_cast<double>(length) * ns_per_moment());
}

/// Grows between `[` and `]`.
class json_list {
 public:
  void add(const std::string& value) { text_ += (text_.empty() ? "" : ",\n") + value; }
  [[nodiscard]] std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

/// A line of the program that calls; another compilation of it may call from several addresses.
using place = std::tuple<std::string, std::string, std::string, int>;  // call, function, file

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// The program and its arguments.
std::string command_line() {
  constexpr std::size_t longest = 1000;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  words.resize(std::min(words.size(), longest));
  while (!words.empty() && words.back() == '\0') {
    words.pop_back();
  }
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

struct line_of_calls {
  std::string module;
  row sum;
};

void merge(row& into, const row& more) {
  const bool is_new = into.count == 0;
  into.nature = more.nature;
  into.peer = is_new || into.peer == no_peer                   ? more.peer
              : more.peer == no_peer || more.peer == into.peer ? into.peer
                                                               : several_peers;
  into.count += more.count;
  into.total += more.total;
  into.least = std::min(into.least, more.least);
  into.most = std::max(into.most, more.most);
  into.sent += more.sent;
  into.received += more.received;
}

/// The rank's list of calls, and where in it each row is.
struct call_list {
  std::map<place, line_of_calls> lines;
  std::map<const row*, int> number_of;
};

call_list calls_of_rank() {
  call_list list;
  std::map<const row*, place> place_of;
  each_table([&](const table& t) {
    t.each_row([&](const row& r) {
      const base::source_place at =
          r.site != nullptr ? base::source_of(r.site) : base::source_place{};
      // Without lines, each address is a place of its own.
      std::string function = at.function;
      if (at.line == 0 && r.site != nullptr) {
        function = base::text_of(at, r.site);
      }
      const place where{r.call, function, at.file, at.line};
      line_of_calls& line = list.lines[where];
      line.module = at.module;
      merge(line.sum, r);
      place_of[&r] = where;
    });
  });
  for (const auto& [r, where] : place_of) {
    list.number_of[r] = static_cast<int>(std::distance(list.lines.begin(), list.lines.find(where)));
  }
  return list;
}

std::string text_of(const std::map<place, line_of_calls>& lines) {
  json_list list;
  for (const auto& [at, line] : lines) {
    const auto& [call, function, file, number] = at;
    const row& r = line.sum;
    list.add(
        "{" + field("call", call) + "," +
        field("kind", std::string(watch::group_names[static_cast<std::size_t>(r.nature->of)])) +
        "," + field("function", function) + "," + field("module", line.module) + "," +
        field("file", file) + "," + field("line", number) + "," + field("count", r.count) + "," +
        field("total_ns", in_ns(r.total)) + "," + field("least_ns", in_ns(r.least)) + "," +
        field("most_ns", in_ns(r.most)) + "," + field("sent", r.sent) + "," +
        field("received", r.received) + "," +
        (r.peer >= 0               ? field("peer", r.peer)
         : r.peer == several_peers ? field("peer", std::string("several"))
                                   : "\"peer\":null") +
        "}");
  }
  return list.text();
}

std::string peers_of_rank() {
  std::map<int, traffic> sums;
  each_table([&](const table& t) {
    t.each_peer([&](const traffic& each) {
      traffic& sum = sums[each.peer];
      for (const auto part : {&traffic::sent, &traffic::arrived, &traffic::put, &traffic::got}) {
        (sum.*part).count += (each.*part).count;
        (sum.*part).bytes += (each.*part).bytes;
      }
    });
  });
  json_list list;
  for (const auto& [peer, t] : sums) {
    list.add("{" + field("rank", peer) + "," + field("sent_messages", t.sent.count) + "," +
             field("sent_bytes", t.sent.bytes) + "," + field("arrived_messages", t.arrived.count) +
             "," + field("arrived_bytes", t.arrived.bytes) + "," + field("puts", t.put.count) +
             "," + field("put_bytes", t.put.bytes) + "," + field("gets", t.got.count) + "," +
             field("got_bytes", t.got.bytes) + "}");
  }
  return list.text();
}

/// Of each kind a list: how many have 0 bytes, 1, 2 to 3, 4 to 7, and so on.
std::string sizes_of_rank() {
  std::string text;
  for (std::size_t g = 0; g < watch::groups; ++g) {
    std::array<std::uint64_t, 65> sum{};
    std::size_t used = 0;
    each_table([&](const table& t) {
      for (std::size_t bits = 0; bits < sum.size(); ++bits) {
        sum[bits] += t.sizes(static_cast<watch::group>(g))[bits];
        used = sum[bits] != 0 ? std::max(used, bits + 1) : used;
      }
    });
    json_list list;
    for (std::size_t bits = 0; bits < used; ++bits) {
      list.add(std::to_string(sum[bits]));
    }
    if (used != 0) {
      text += (text.empty() ? "" : ",") + json_quoted(watch::group_names[g]) + ":" + list.text();
    }
  }
  return "{" + text + "}";
}

std::string threads_of_rank() {
  json_list list;
  each_table([&](const table& t) {
    std::uint64_t calls = 0;
    std::int64_t total = 0;
    t.each_row([&](const row& r) {
      calls += r.count;
      total += r.total;
    });
    if (calls != 0) {
      list.add("{" + field("calls", calls) + "," + field("mpi_ns", in_ns(total)) + "}");
    }
  });
  return list.text();
}

std::string text_of_rank(const run_of_rank& own, const call_list& calls) {
  return "{" + field("rank", process.runtime->rank().value()) + "," + field("host", host_name()) +
         "," + field("run_ns", own.times.end.ns - own.times.begin.ns) +
         ",\n\"threads\":" + threads_of_rank() + ",\n\"calls\":" + text_of(calls.lines) +
         ",\n\"peers\":" + peers_of_rank() + ",\n\"sizes\":" + sizes_of_rank() + "}";
}

}  // namespace

std::string file_to_write() {
  static const std::string given = std::filesystem::absolute(profile_setting());
  const job_rank first = process.comms[1]->comm->job_rank(0);
  return first == 0 ? given : given + ".spawned-" + to_string(first);
}

bool is_first() noexcept { return process.comms[1]->comm->rank() == 0; }

void write_report(const run_of_rank& own) {
  const call_list calls = calls_of_rank();
  const coll::participant all = participant_of(*process.comms[1]);
  const std::vector<std::string> of_ranks = gather_texts(all, text_of_rank(own, calls));
  const std::vector<std::string> samples =
      gather_texts(all, samples_text(calls.number_of, own.times, own.clock));
  if (!is_first()) {
    return;
  }
  if (of_ranks.empty() || samples.empty()) {
    base::raw_write(2, "sinew: the profile is not written, since a rank has died.\n");
    return;
  }
  json_list ranks;
  for (const std::string& each : of_ranks) {
    ranks.add(each);
  }
  const std::string text = "{" + field("format", std::string("sinew profile 1")) + "," +
                           field("command", command_line()) + ",\n\"ranks\":" + ranks.text() +
                           ",\n" + wait_states(samples) + "}\n";
  try {
    formats::write_file(file_to_write(), text);
  } catch (const error& failed) {
    base::raw_write(2, "sinew: " + as_sentence(failed.what()) + "\n");
  }
}

}  // namespace sinew::mpi::profile
