#include "sinew/run/world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::tool {

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
  program_lookup found = find_program(name);
  const bool relative = name.front() != '/' && !command.directory.empty();
  if (found.exit_code != 0 && relative) {
    if (program_lookup there = find_program(command.directory + "/" + name); there.exit_code == 0) {
      return there;
    }
  }
  return found;
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
