// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::tool {

namespace {

enum class link { none, leaving, kept };

/// How closely ranks of `from` say that they are linked to `to`.
link link_of(const world& from, const world& to) {
  const auto has = [&to](const std::vector<const world*>& list) {
    return std::find(list.begin(), list.end(), &to) != list.end();
  };
  link closest = link::none;
  for (const auto& [rank, each] : from.links) {
    closest = std::max(closest, has(each.kept)      ? link::kept
                                : has(each.leaving) ? link::leaving
                                                    : link::none);
  }
  return closest;
}

}  // namespace

void world::forget(const world& other) {
  for (auto& [rank, each] : links) {
    std::erase(each.kept, &other);
    std::erase(each.leaving, &other);
  }
}

connected_worlds connected_to(const std::vector<std::unique_ptr<world>>& worlds, world& first,
                              int failed, bool at_once) {
  // Who ends in MPI_Comm_disconnect may be waited for there.
  const auto own = first.links.find(failed);
  const auto is_in_own = [&](const world& w) {
    return own != first.links.end() &&
           std::find(own->second.leaving.begin(), own->second.leaving.end(), &w) !=
               own->second.leaving.end();
  };
  connected_worlds result{{&first}};
  for (std::size_t i = 0; i < result.all.size(); ++i) {
    const world& from = *result.all[i];
    for (const auto& each : worlds) {
      const link l = std::max(link_of(from, *each), link_of(*each, from));
      const bool ends =
          l == link::kept || (l == link::leaving && at_once) || (i == 0 && is_in_own(*each));
      if (ends && std::find(result.all.begin(), result.all.end(), each.get()) == result.all.end()) {
        result.all.push_back(each.get());
      }
    }
  }
  for (const world* from : result.all) {
    for (const auto& each : worlds) {
      const bool in =
          std::find(result.all.begin(), result.all.end(), each.get()) != result.all.end();
      result.undecided = result.undecided || (!in && std::max(link_of(*from, *each),
                                                              link_of(*each, *from)) != link::none);
    }
  }
  return result;
}

int least_ranks(const std::vector<boot::spawn_command>& commands) {
  return std::accumulate(
      commands.begin(), commands.end(), 0,
      [](int sum, const boot::spawn_command& each) { return sum + each.counts.back(); });
}

std::vector<int> share_room(const std::vector<boot::spawn_command>& commands, int room) {
  int spare = room - least_ranks(commands);
  std::vector<int> counts;
  for (const boot::spawn_command& each : commands) {
    if (spare < 0) {
      return {};
    }
    const int least = each.counts.back();
    const auto best = std::find_if(each.counts.begin(), each.counts.end(),
                                   [&](int count) { return count - least <= spare; });
    SINEW_ASSERT(best != each.counts.end());
    spare -= *best - least;
    counts.push_back(*best);
  }
  SINEW_ENSURE(std::accumulate(counts.begin(), counts.end(), 0) <= room);
  return counts;
}

program_lookup find_spawned(const boot::spawn_command& command) {
  const std::string& name = command.arguments.front();
  for (const std::string& folder : command.path) {
    if (program_lookup found = find_program(folder + "/" + name); found.exit_code == 0) {
      return found;
    }
  }
  return find_program(name, command.directory);
}

void plan_world(world& w, const std::string& job, const boot::spawn_request& request,
                const std::vector<program_lookup>& programs, const std::vector<int>& counts) {
  SINEW_EXPECT(programs.size() == request.commands.size() && counts.size() == programs.size());
  w.plan.job = job;
  w.applications.resize(counts.size());  // first of all: the plan refers to them
  std::vector<int> application_of;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const boot::spawn_command& command = request.commands[i];
    application& program = w.applications[i];
    program.ranks = counts[i];
    program.directory = command.directory;
    program.arguments = command.arguments;
    for (const std::string& each : command.environment) {
      const std::size_t equals = each.find('=');
      SINEW_ASSERT(equals != std::string::npos);
      program.environment.emplace_back(each.substr(0, equals), each.substr(equals + 1));
    }
    for (int n = 0; n < counts[i]; ++n) {
      w.plan.local.push_back(static_cast<int>(w.plan.ranks.size()));
      w.plan.ranks.push_back({static_cast<int>(i), programs[i].path, &program, {}});
    }
  }
}

}  // namespace sinew::tool
