// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts as launchers and batch systems write them, and the ranks that go to them.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "sinew/base/check.hpp"
#include "sinew/run/hosts.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t most_hosts = 65'536;

// A name goes to an agent as a word of its own: it must not look like an option or like shell.
void check_name(const std::string& option, const std::string& name) {
  constexpr std::string_view odd = "._-:@%";
  const bool plain = std::all_of(name.begin(), name.end(), [odd](unsigned char c) {
    return std::isalnum(c) != 0 || odd.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (name.empty() || name[0] == '-' || !plain || name.size() > 255) {
    throw usage_failure(option + ": \"" + name + "\" is no name of a host");
  }
}

int slot_count(const std::string& option, std::string_view text) {
  return std::min(whole_number(option + " (ranks of a host)", text, 1), most_slots_of_a_host);
}

void add_host(std::vector<host_slots>& hosts, std::string name, int slots) {
  SINEW_EXPECT(slots > 0);
  const auto known = std::find_if(hosts.begin(), hosts.end(),
                                  [&name](const host_slots& each) { return each.name == name; });
  if (known != hosts.end()) {
    known->slots = std::min(known->slots + slots, most_slots_of_a_host);
  } else if (hosts.size() < most_hosts) {
    hosts.push_back({std::move(name), slots});
  }
}

// "h1", "h1:2", "10.0.0.1:2", "[fe80::1]:2", "fe80::1".
host_slots parse_host(const std::string& option, std::string_view text) {
  host_slots result;
  const std::size_t colon = text.rfind(':');
  const bool bracket = text.starts_with('[') && text.find(']') != std::string_view::npos;
  const bool counted =
      colon != std::string_view::npos &&
      (bracket ? colon > text.find(']') : std::count(text.begin(), text.end(), ':') == 1);
  if (counted) {
    result.slots = slot_count(option, text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  result.name = bracket ? text.substr(1, text.find(']') - 1) : text;
  check_name(option, result.name);
  return result;
}

// One "[1-3,07]" of Slurm's as words with leading zeros kept.
std::vector<std::string> expand_range(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const std::string first = part.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : part.substr(dash + 1);
    const int end = whole_number("SLURM_JOB_NODELIST", last, 0);
    for (int i = whole_number("SLURM_JOB_NODELIST", first, 0);
         i <= end && words.size() < most_hosts; ++i) {
      std::string word = std::to_string(i);
      word.insert(0, first.size() - std::min(first.size(), word.size()), '0');
      words.push_back(word);
    }
  }
  return words;
}

// Up to the next comma that is in no bracket; takes it off `rest`.
std::string_view next_group(std::string_view& rest) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < rest.size() && (rest[end] != ',' || depth > 0); ++end) {
    depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
  }
  const std::string_view group = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  return group;
}

std::vector<std::string> expand_group(std::string_view group) {
  const std::size_t open = group.find('[');
  const std::size_t close = group.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return {std::string(group)};
  }
  std::vector<std::string> names;
  for (const std::string& middle : expand_range(group.substr(open + 1, close - open - 1))) {
    for (const std::string& tail : expand_group(group.substr(close + 1))) {
      names.push_back(std::string(group.substr(0, open)) + middle + tail);
    }
  }
  return names;
}

std::vector<int> expand_tasks(std::string_view text) {
  std::vector<int> counts;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t open = part.find("(x");
    const int times = open == std::string::npos
                          ? 1
                          : whole_number("SLURM_TASKS_PER_NODE",
                                         part.substr(open + 2, part.find(')') - open - 2), 1);
    const int count = whole_number("SLURM_TASKS_PER_NODE", part.substr(0, open), 1);
    counts.insert(counts.end(), static_cast<std::size_t>(std::min(times, most_slots_of_a_host)),
                  count);
  }
  return counts;
}

}  // namespace

std::vector<host_slots> parse_hosts(std::string_view option, std::string_view list) {
  std::vector<host_slots> hosts;
  std::istringstream names{std::string(list)};
  for (std::string name; std::getline(names, name, ',');) {
    host_slots each = parse_host(std::string(option), name);
    add_host(hosts, std::move(each.name), each.slots);
  }
  if (hosts.empty()) {
    throw usage_failure(std::string(option) + " names no host");
  }
  return hosts;
}

std::vector<host_slots> parse_host_file(std::string_view file, std::string_view text) {
  std::vector<host_slots> hosts;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) {
      continue;
    }
    const std::string where = std::string(file) + ", line " + std::to_string(number);
    host_slots each = parse_host(where, word);
    while (words >> word) {
      if (word.starts_with("slots=")) {
        each.slots = slot_count(where, std::string_view(word).substr(6));
      } else if (!word.starts_with("max_slots=") && !word.starts_with("max-slots=")) {
        throw usage_failure(where + ": \"" + word +
                            "\" is not understood; a line is HOST, HOST:N " + "or HOST slots=N");
      }
    }
    add_host(hosts, std::move(each.name), each.slots);
  }
  if (hosts.empty()) {
    throw usage_failure(std::string(file) + " names no host");
  }
  return hosts;
}

std::vector<host_slots> parse_slurm(std::string_view nodes, std::string_view tasks) {
  const std::vector<int> counts = expand_tasks(tasks);
  std::vector<host_slots> hosts;
  std::size_t at = 0;
  while (!nodes.empty()) {
    for (std::string& name : expand_group(next_group(nodes))) {
      check_name("SLURM_JOB_NODELIST", name);
      const int slots = at < counts.size() ? counts[at] : 1;
      ++at;
      add_host(hosts, std::move(name), slots);
    }
  }
  return hosts;
}

std::string hosts_text(const std::vector<host_slots>& hosts) {
  std::string text;
  for (const host_slots& each : hosts) {
    const bool colons = each.name.find(':') != std::string::npos;
    text += (text.empty() ? "" : ",") + (colons ? "[" + each.name + "]" : each.name) + ":" +
            std::to_string(each.slots);
  }
  return text;
}

host_map map_ranks(const std::vector<host_slots>& hosts, int ranks, bool by_node) {
  SINEW_EXPECT(!hosts.empty() && ranks > 0);
  std::vector<int> chosen;  // index into hosts, by rank
  const auto wanted = static_cast<std::size_t>(ranks);
  while (chosen.size() < wanted) {
    int most = 1;
    for (const host_slots& each : hosts) {
      most = by_node ? std::max(most, each.slots) : 1;
    }
    for (int round = 0; round < most; ++round) {
      for (std::size_t host = 0; host < hosts.size() && chosen.size() < wanted; ++host) {
        const int count = by_node ? (round < hosts[host].slots ? 1 : 0) : hosts[host].slots;
        const std::size_t left = wanted - chosen.size();
        chosen.insert(chosen.end(), std::min(left, static_cast<std::size_t>(count)),
                      static_cast<int>(host));
      }
    }
  }
  host_map map;
  map.named = hosts;
  std::vector<int> node_of_host(hosts.size(), -1);  // nodes are counted as their ranks come
  for (const int host : chosen) {
    int& node = node_of_host[static_cast<std::size_t>(host)];
    if (node < 0) {
      node = static_cast<int>(map.names.size());
      map.names.push_back(hosts[static_cast<std::size_t>(host)].name);
    }
    map.node_of.push_back(node);
  }
  SINEW_ENSURE(map.node_of.size() == wanted);
  return map;
}

std::string own_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

bool is_this_machine(std::string_view host) {
  const std::string own = own_host_name();
  const std::string_view brief = std::string_view(own).substr(0, own.find('.'));
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == own ||
         host == brief;
}

}  // namespace sinew::tool
