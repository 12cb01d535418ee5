// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/hosts.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sinew::tool {
namespace {

std::vector<host_slots> read_host_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw usage_failure("--hostfile: " + path + " cannot be read, or is empty");
  }
  return parse_host_file(path, text.str());
}

std::string environment_value(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

std::vector<host_slots> named_hosts(const run_options& options) {
  if (!options.hosts.empty()) {
    return parse_hosts("--hosts", options.hosts);
  }
  if (!options.host_file.empty()) {
    return read_host_file(options.host_file);
  }
  const std::string nodes = environment_value("SLURM_JOB_NODELIST");
  const std::string tasks = environment_value("SLURM_TASKS_PER_NODE");
  if (nodes.empty()) {
    return {};
  }
  return parse_slurm(nodes,
                     tasks.empty() ? "1(x" + std::to_string(most_slots_of_a_host) + ")" : tasks);
}

host_map place_ranks(run_options& options) {
  std::vector<host_slots> hosts =
      options.simulate ? std::vector<host_slots>() : named_hosts(options);
  const bool by_slurm = options.hosts.empty() && options.host_file.empty() && !hosts.empty();
  if (by_slurm && options.agent.empty()) {
    options.agent = "srun --nodes=1 --ntasks=1 --overlap --quiet --nodelist";
  }
  int slots = 0;
  for (host_slots& each : hosts) {
    each.slots = options.per_node > 0 ? options.per_node : each.slots;
    slots = std::min(slots + each.slots, most_slots_of_a_host);
  }
  const bool one_program = options.applications.size() == 1;
  const bool here = std::all_of(hosts.begin(), hosts.end(),
                                [](const host_slots& each) { return is_this_machine(each.name); });
  for (application& each : options.applications) {
    if (each.ranks == 0) {
      const bool by_slots = one_program && !hosts.empty() && !(by_slurm && here);
      each.ranks = by_slots ? slots : options.per_node > 0 ? options.per_node : standard_ranks();
    }
  }
  check_ranks(options);
  return here ? host_map() : map_ranks(hosts, options.ranks(), options.by_node);
}

}  // namespace sinew::tool
