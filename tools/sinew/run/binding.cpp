// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/binding.hpp"

#include <algorithm>

#include "sinew/base/topology.hpp"

namespace sinew::tool {

binding_plan plan_binding(binding_policy policy, int ranks) {
  binding_plan plan;
  plan.cpus.resize(static_cast<std::size_t>(ranks));
  if (policy == binding_policy::none) {
    return plan;
  }
  if (policy == binding_policy::automatic && (ranks < 2 || ranks > topology::usable_cpus())) {
    return plan;
  }
  const std::vector<topology::core>& cores = topology::cores();
  if (policy == binding_policy::automatic) {
    // One core each, and none to spare: nothing is lost, and no two ranks are put on one core
    // while another idles. With cores to spare the kernel's choice is better, since it knows what
    // else runs here.
    if (static_cast<std::size_t>(ranks) != cores.size()) {
      return plan;
    }
    policy = binding_policy::core;
  }
  if (policy == binding_policy::core) {
    if (static_cast<std::size_t>(ranks) > cores.size()) {
      // Two ranks bound to one core could not move to another that is free.
      plan.remark = "--bind-to core: " + std::to_string(ranks) + " ranks on " +
                    std::to_string(cores.size()) + " cores are not bound";
      return plan;
    }
    for (std::size_t rank = 0; rank < plan.cpus.size(); ++rank) {
      plan.cpus[rank] = cores[rank].cpus;
    }
    return plan;
  }
  std::vector<std::vector<int>> nodes(static_cast<std::size_t>(topology::numa_nodes()));
  for (const topology::core& each : cores) {
    const auto index = static_cast<std::size_t>(each.numa_node);
    nodes.resize(std::max(nodes.size(), index + 1));
    nodes[index].insert(nodes[index].end(), each.cpus.begin(), each.cpus.end());
  }
  std::erase_if(nodes, [](const std::vector<int>& each) { return each.empty(); });
  // Neighbouring ranks share a node: they talk most.
  for (std::size_t rank = 0; rank < plan.cpus.size() && !nodes.empty(); ++rank) {
    plan.cpus[rank] = nodes[rank * nodes.size() / plan.cpus.size()];
  }
  return plan;
}

}  // namespace sinew::tool
