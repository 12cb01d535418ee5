// SPDX-License-Identifier: BSD-3-Clause
// InfiniBand fabrics as ibnetdiscover lists them: a paragraph for each switch, adapter and router,
// with a line for each port that has a cable.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::route {
namespace {

constexpr std::string_view line_blanks = " \t\r";

// Gbit/s of data in one lane, after the code of the line (8b/10b up to QDR, then 64b/66b).
constexpr std::pair<std::string_view, double> lane_rates[] = {
    {"FDR10", 10}, {"SDR", 2},  {"DDR", 4},   {"QDR", 8},  {"FDR", 13.64},
    {"EDR", 25},   {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};

struct device {
  std::string guid;
  std::string description;
  bool endpoint = false;
};

struct port {
  std::string guid;
  std::int64_t number = 0;
  friend auto operator<=>(const port&, const port&) = default;
};

struct cable {
  port from, to;
  double gbit = 0;
  std::size_t line = 0;
};

class fabric_reader {
 public:
  explicit fabric_reader(const std::string& where) : where_(where) {}

  void take(std::string_view line, std::size_t number) {
    number_ = number;
    line.remove_prefix(std::min(line.find_first_not_of(line_blanks), line.size()));
    if (line.empty() || line[0] == '#') {
      return;
    }
    if (line[0] == '[') {
      take_port(line);
      return;
    }
    const std::string_view word = line.substr(0, line.find_first_of(" \t="));
    if (word == "Switch" || word == "Ca" || word == "Rt") {
      take_device(line, word == "Ca");
    } else if (line.find('=') == line.npos) {
      // Attributes such as vendid=0x2c9 say nothing of the shape; anything else is not ours.
      formats::bad_line(where_, number_, "neither Switch, Ca, Rt, a port [N] nor name=value");
    }
  }

  topology network();

 private:
  [[nodiscard]] std::string quoted(std::string_view& line, const char* what) const {
    const std::size_t begin = line.find('"');
    const std::size_t end = begin == line.npos ? begin : line.find('"', begin + 1);
    if (end == line.npos || end == begin + 1) {
      formats::bad_line(where_, number_, std::string(what) + " in quotes expected");
    }
    const std::string text(line.substr(begin + 1, end - begin - 1));
    line.remove_prefix(end + 1);
    return text;
  }

  /// The number of "[N]" at the line's front.
  [[nodiscard]] std::int64_t bracketed(std::string_view& line) const {
    const std::size_t end = line.find(']');
    const auto value = line.empty() || line[0] != '[' || end == line.npos
                           ? std::nullopt
                           : base::parse_integer(line.substr(1, end - 1));
    if (!value || *value < 0 || *value > 65535) {
      formats::bad_line(where_, number_, "a port is [N]");
    }
    line.remove_prefix(end + 1);
    return *value;
  }

  // Switch	36 "S-0002c902"		# "name" enhanced port 0 lid 1 lmc 0
  void take_device(std::string_view line, bool endpoint) {
    device one;
    one.guid = quoted(line, "a name");
    one.endpoint = endpoint;
    one.description = one.guid;
    const std::size_t comment = line.find('#');
    if (comment != line.npos && line.find('"', comment) != line.npos) {
      line.remove_prefix(comment);
      one.description = quoted(line, "a description");
    }
    if (!known_.emplace(one.guid, devices_.size()).second) {
      formats::bad_line(where_, number_, "a second \"" + one.guid + "\"");
    }
    devices_.push_back(std::move(one));
  }

  // [1](2c903)	"S-0002c902"[5](ext 3)		# lid 4 lmc 0 "name" lid 1 4xQDR
  void take_port(std::string_view line) {
    if (devices_.empty()) {
      formats::bad_line(where_, number_, "a port before the first Switch, Ca or Rt");
    }
    cable one;
    one.line = number_;
    one.from = {devices_.back().guid, bracketed(line)};
    one.to.guid = quoted(line, "the other end");
    one.to.number = bracketed(line);
    one.gbit = rate_at_end(line);
    cables_.push_back(std::move(one));
  }

  /// "4xQDR" as the last word; without one the slowest of all is supposed.
  [[nodiscard]] double rate_at_end(std::string_view line) const {
    const std::size_t last = line.find_last_not_of(line_blanks);
    const std::string_view trimmed = line.substr(0, last == line.npos ? 0 : last + 1);
    const std::size_t begin = trimmed.find_last_of(" \t");
    const std::string_view word = begin == trimmed.npos ? trimmed : trimmed.substr(begin + 1);
    const std::size_t times = word.find('x');
    const auto width =
        times == word.npos ? std::nullopt : base::parse_integer(word.substr(0, times));
    if (!width) {
      return 0;
    }
    const std::string_view kind = word.substr(times + 1);
    const auto* rate = std::find_if(std::begin(lane_rates), std::end(lane_rates),
                                    [kind](const auto& r) { return r.first == kind; });
    if (*width < 1 || *width > 12 || rate == std::end(lane_rates)) {
      formats::bad_line(where_, number_, "\"" + std::string(word) + "\" is no rate such as 4xHDR");
    }
    return static_cast<double>(*width) * rate->second;
  }

  [[nodiscard]] std::vector<std::string> labels() const;

  const std::string& where_;
  std::size_t number_ = 0;
  std::vector<device> devices_;
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<cable> cables_;
};

// Descriptions, where they name one device.
std::vector<std::string> fabric_reader::labels() const {
  std::map<std::string, int> times;
  for (const device& d : devices_) {
    ++times[d.description];
  }
  std::vector<std::string> out;
  for (const device& d : devices_) {
    out.push_back(times[d.description] == 1 ? d.description : d.description + " " + d.guid);
  }
  return out;
}

topology fabric_reader::network() {
  if (devices_.empty()) {
    formats::bad_line(where_, 1, "no Switch and no Ca in the whole file");
  }
  std::stable_partition(devices_.begin(), devices_.end(), [](const auto& d) { return d.endpoint; });
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    known_[devices_[i].guid] = i;
  }
  SINEW_ASSERT(known_.size() == devices_.size());
  double slowest = 0;
  for (const cable& c : cables_) {
    if (c.gbit > 0 && (slowest == 0 || c.gbit < slowest)) {
      slowest = c.gbit;
    }
  }
  std::vector<arc> links;
  std::set<std::pair<port, port>> seen;  // a cable stands at both of its ends
  for (const cable& c : cables_) {
    const auto to = known_.find(c.to.guid);
    if (to == known_.end()) {
      formats::bad_line(where_, c.line, "no Switch, Ca or Rt \"" + c.to.guid + "\" in the file");
    }
    const auto a = static_cast<node_id>(known_[c.from.guid]);
    const auto b = static_cast<node_id>(to->second);
    // A switch with a cable between two of its own ports moves nothing by it.
    if (a == b || !seen.insert(std::minmax(c.from, c.to)).second) {
      continue;
    }
    const double capacity = c.gbit > 0 ? c.gbit / slowest : 1;
    links.push_back({a, b, capacity});
    links.push_back({b, a, capacity});
  }
  const auto endpoints = static_cast<std::uint32_t>(
      std::count_if(devices_.begin(), devices_.end(), [](const auto& d) { return d.endpoint; }));
  if (endpoints == 0) {
    formats::bad_line(where_, 1, "no Ca in the whole file: nobody sends");
  }
  topology net(where_, static_cast<std::uint32_t>(devices_.size()), endpoints, std::move(links));
  net = net.with_labels(labels());
  return slowest > 0 ? net.with_speeds(where_, {slowest * 1e9 / 8, 0, 0}) : net;
}

}  // namespace

topology topology_from_ibnetdiscover(std::string_view text, const std::string& where) {
  fabric_reader reader(where);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    reader.take(line, number);
  }
  return reader.network();
}

}  // namespace sinew::route
