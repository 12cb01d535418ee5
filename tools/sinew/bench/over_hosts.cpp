// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/over_hosts.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"
#include "sinew/bench/intervals.hpp"
#include "sinew/options.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::tool {
namespace {

std::string against_floor(const stats::row& r, std::optional<double>) {
  const auto ours = r.samples.find("sinew"), floor = r.samples.find("floor");
  if (ours == r.samples.end() || floor == r.samples.end()) {
    return "-";
  }
  const auto ratio = stats::ratio_of(ours->second, floor->second);
  return ratio ? stats::ratio_text(*ratio) : "-";
}

}  // namespace

experiment over_hosts(const experiment& e) {
  SINEW_EXPECT(e.hosts != between_hosts::no);
  experiment over = e;
  over.floor_words = nullptr;
  over.floor_of = nullptr;  // the floor's rows are of the names and parameters of ours
  over.all_transports = true;
  if (e.over_hosts != ucx_floor::none) {
    over.extra = extra_column{"vs ucx_perftest", against_floor};
  } else if (e.hosts == between_hosts::each) {
    over.extra = extra_column{"vs floor", against_floor};
  }
  return over;
}

std::vector<start> starts_over(const experiment& e, const std::vector<start>& here,
                               const std::shared_ptr<const placement>& on) {
  SINEW_EXPECT(on != nullptr);
  std::vector<start> all;
  for (const start& each : here) {
    start there = each;
    there.over = on;
    if (e.hosts == between_hosts::all) {
      there.ranks = on->ranks();
    } else if (each.ranks != 2) {
      continue;
    }
    const bool known = std::any_of(all.begin(), all.end(), [&there](const start& other) {
      return other.words == there.words && other.program == there.program;
    });
    if (!known) {
      all.push_back(std::move(there));
    }
  }
  return all;
}

std::vector<start> starts_on_each(const experiment& e, const request& asked, const placement& on) {
  SINEW_EXPECT(e.hosts == between_hosts::each && e.starts_on != nullptr && !on.hosts.empty());
  std::vector<start> all;
  const std::size_t most = on.hosts.size();
  for (std::size_t hosts = 1; hosts <= most;
       hosts = hosts < most ? std::min(2 * hosts, most) : most + 1) {
    const auto some = std::make_shared<const placement>(on.first(hosts));
    for (start each : e.starts_on(asked, static_cast<int>(hosts))) {
      each.ranks = some->ranks();
      each.over = some;
      each.words.emplace_back("over=hosts");
      all.push_back(std::move(each));
    }
  }
  return all;
}

std::vector<start> starts_on_torus(const experiment& e, const request& asked, const placement& on) {
  SINEW_EXPECT(e.hosts == between_hosts::torus && e.starts_on != nullptr);
  const std::size_t nodes = route::parse_topology(asked.shape).endpoints();
  if (nodes != on.hosts.size()) {
    throw usage_failure("--shape " + asked.shape + " is of " + std::to_string(nodes) +
                        " hosts, and --hosts names " + std::to_string(on.hosts.size()));
  }
  const auto all = std::make_shared<const placement>(on.first(nodes));
  std::vector<start> starts = e.starts_on(asked, static_cast<int>(nodes));
  for (start& each : starts) {
    each.ranks = all->ranks();
    each.over = all;
  }
  return starts;
}

std::vector<subject> subjects_over(std::vector<subject> found) {
  std::erase_if(found, [](const subject& s) {
    return !s.ucx_transports.empty() || (s.launcher.empty() && s.name != "sinew");
  });
  for (subject& s : found) {
    if (!s.default_transport) {
      s.name = "openmpi-ucx";
      s.variant = false;
    }
  }
  return found;
}

}  // namespace sinew::tool
