// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/info/reach.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "sinew/base/check.hpp"
#include "sinew/bench/process.hpp"
#include "sinew/bench/stats.hpp"
#include "sinew/bench/subjects.hpp"
#include "sinew/run/hosts.hpp"

namespace sinew::tool {
namespace {

constexpr double limit_s = 40;  // of one job; an agent has 30 s to answer
constexpr double pair_limit_s = 15;

std::vector<reach_map::host> hosts_of(const host_choice& choice) {
  run_options options;
  options.hosts = choice.list;
  options.host_file = choice.file;
  std::vector<reach_map::host> all;
  for (const host_slots& each : named_hosts(options)) {
    all.push_back({.name = each.name, .slots = each.slots});
  }
  return all;
}

class prober {
 public:
  prober(reach_map& map, const std::string& agent) : map_(map), agent_(agent) {
    const std::filesystem::path tree = std::filesystem::path(own_folder()).parent_path();
    program_ = tree / "libexec" / "sinew" / "info-transports";
  }

  /// Empty, or why the job failed.
  std::string run(const std::vector<std::size_t>& members, double limit) {
    const std::string failure = start(members, limit, program_);
    return interrupted() ? "interrupted" : failure;
  }

  /// The same without any communication: whether a host can start programs.
  std::string run_alone(std::size_t host) { return start({host}, limit_s, "true"); }

 private:
  std::string start(const std::vector<std::size_t>& members, double limit,
                    const std::string& program) {
    std::string list;
    for (const std::size_t h : members) {
      list += (list.empty() ? "" : ",") + map_.hosts[h].name;
    }
    command c{{"/proc/self/exe", "run", "--hosts", list, "--ppn", "2"}, {}, limit + 10};
    if (!agent_.empty()) {
      c.words.insert(c.words.end(), {"--rsh", agent_});
    }
    char text[32];
    std::snprintf(text, sizeof text, "%g", limit);
    c.words.insert(c.words.end(), {"--timeout", text, "--wdir", "/", program});
    const command_result done = run_command(c);
    if (!done.ok()) {
      return why(done, limit);
    }
    take(members, done.output);
    return {};
  }

  /// One sentence of all that was said: the launcher's first, which names the cause.
  static std::string why(const command_result& done, double limit) {
    if (done.timed_out || done.exit_code == 124) {
      return "no answer within " + stats::short_number(limit) + " s";
    }
    constexpr std::string_view ours[] = {"sinew run: ", "info-transports: "};
    for (const std::string_view prefix : {ours[1], ours[0]}) {
      for (const std::string& line : stats::split(done.errors, '\n')) {
        if (line.starts_with(prefix)) {
          return line.substr(prefix.size());
        }
      }
    }
    const std::string last = stats::last_line(done.errors);
    return last.empty() ? "exit code " + std::to_string(done.exit_code) : last;
  }

  void take(const std::vector<std::size_t>& members, const std::string& output) {
    std::size_t host = 0;
    for (const std::string& line : stats::split(output, '\n')) {
      std::istringstream words(line);
      std::string what;
      words >> what;
      if (what == "host" && host < members.size()) {
        reach_map::host& each = map_.hosts[members[host++]];
        words >> each.boot >> each.processors;
      } else if (what == "way") {
        std::size_t from = 0, to = 0;
        double us = 0;
        std::string transports;
        if (words >> from >> to >> us && from < members.size() && to < members.size()) {
          words >> transports;
          map_.ways[members[from]][members[to]] = {us, transports, {}};
        }
      }
    }
  }

  reach_map& map_;
  std::string agent_;
  std::string program_;
};

}  // namespace

bool reach_map::complete() const { return problems().empty(); }

std::vector<std::string> reach_map::problems() const {
  std::vector<std::string> all;
  for (const host& each : hosts) {
    if (!each.problem.empty()) {
      all.push_back(each.problem.find(each.name) != std::string::npos
                        ? each.problem
                        : each.name + ": " + each.problem);
    }
  }
  for (std::size_t a = 0; a < ways.size(); ++a) {
    for (std::size_t b = a; b < ways.size(); ++b) {
      const std::string& said =
          ways[a][b].problem.empty() ? ways[b][a].problem : ways[a][b].problem;
      if (!said.empty()) {
        all.push_back(hosts[a].name + " and " + hosts[b].name + ": " + said);
      }
    }
  }
  return all;
}

bool reach_map::share_processors() const {
  std::set<std::string> kernels;
  return std::any_of(hosts.begin(), hosts.end(), [&kernels](const host& each) {
    return !each.boot.empty() && !kernels.insert(each.boot).second;
  });
}

reach_map reach_of(const host_choice& choice) {
  SINEW_EXPECT(choice.given());
  reach_map map;
  map.hosts = hosts_of(choice);
  map.ways.resize(map.hosts.size(), std::vector<reach_map::way>(map.hosts.size()));
  prober probe(map, choice.agent);
  std::vector<std::size_t> members;
  for (std::size_t h = 0; h < map.hosts.size(); ++h) {
    members.push_back(h);
  }
  if (probe.run(members, limit_s).empty()) {
    return map;
  }
  std::erase_if(members, [&](std::size_t h) {
    map.hosts[h].problem = probe.run_alone(h);
    return !map.hosts[h].problem.empty();
  });
  if (members.empty() || interrupted() || probe.run(members, limit_s).empty()) {
    return map;
  }
  for (const std::size_t h : members) {
    map.ways[h][h].problem = probe.run({h}, pair_limit_s);
  }
  for (const std::size_t a : members) {
    for (const std::size_t b : members) {
      if (a < b && !interrupted()) {
        map.ways[a][b].problem = probe.run({a, b}, pair_limit_s);
      }
    }
  }
  return map;
}

std::string reach_text(const reach_map& map) {
  std::vector<std::vector<std::string>> lines = {{"8 bytes one way, us"}};
  for (const reach_map::host& each : map.hosts) {
    lines[0].push_back(each.name);
  }
  for (std::size_t a = 0; a < map.hosts.size(); ++a) {
    lines.push_back({map.hosts[a].name});
    for (const reach_map::way& way : map.ways[a]) {
      lines.back().push_back(way.us > 0 ? way.transports + ' ' + stats::short_number(way.us) : "-");
    }
  }
  std::string text = stats::render_table(lines);
  for (const std::string& sentence : map.problems()) {
    text += sentence + '\n';
  }
  return text;
}

}  // namespace sinew::tool
