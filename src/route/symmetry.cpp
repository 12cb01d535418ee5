// SPDX-License-Identifier: BSD-3-Clause
#include "symmetry.hpp"

#include <algorithm>
#include <unordered_map>

#include "sinew/base/check.hpp"

namespace sinew::route {
namespace {

using pair_table = std::unordered_map<std::uint64_t, std::uint32_t>;

std::uint64_t key_of(node_id a, node_id b) { return (std::uint64_t{a} << 32) | b; }

node_id shifted(const topology& net, node_id n, std::size_t d, std::uint32_t by) {
  const std::uint32_t size = net.grid().sizes[d];
  const std::uint32_t at = net.coordinate(n, d);
  return n - at * net.stride(d) + (at + by) % size * net.stride(d);
}

bool same_everywhere(const topology& net) {
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    if (!net.grid().wraps[d]) {
      return false;
    }
    if (net.grid().sizes[d] < 2) {
      continue;
    }
    const double capacity = net.capacity(net.step(0, d, true));
    for (node_id n = 0; n < net.nodes(); ++n) {
      if (net.capacity(net.step(n, d, true)) != capacity) {
        return false;
      }
      if (net.capacity(net.step(n, d, false)) != capacity) {
        return false;
      }
    }
    if (capacity <= 0) {
      return false;
    }
  }
  return true;
}

bool unchanged(const topology& net, const job_list& jobs, const pair_table& table, std::size_t d,
               std::uint32_t by) {
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto at = table.find(
        key_of(shifted(net, jobs.source[j], d, by), shifted(net, jobs.destination[j], d, by)));
    if (at == table.end() || jobs.bytes[at->second] != jobs.bytes[j]) {
      return false;
    }
  }
  return true;
}

}  // namespace

grid_step step_of(const topology& net, link_id l) {
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    for (const bool up : {true, false}) {
      if (net.step(net.from(l), d, up) == l) {
        return {static_cast<std::uint8_t>(d), up};
      }
    }
  }
  SINEW_ASSERT(false);  // a grid has no other links than its steps
  return {};
}

std::optional<symmetry> find_symmetry(const topology& net, const job_list& jobs) {
  SINEW_EXPECT(jobs.size() != 0);
  if (net.grid().empty() || !same_everywhere(net)) {
    return std::nullopt;
  }
  pair_table table;
  table.reserve(jobs.size());
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    table.emplace(key_of(jobs.source[j], jobs.destination[j]), j);
  }
  SINEW_EXPECT(table.size() == jobs.size());
  symmetry out;
  bool any = false;
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    const std::uint32_t size = net.grid().sizes[d];
    std::uint32_t period = 1;
    while (period < size && (size % period != 0 || !unchanged(net, jobs, table, d, period))) {
      ++period;
    }
    out.period.push_back(period);
    any = any || period < size;
  }
  if (!any) {
    return std::nullopt;
  }
  // What shifts every coordinate of `from` into the corner, applied to n.
  const auto with = [&](node_id n, node_id from) {
    for (std::size_t d = 0; d < net.dimensions(); ++d) {
      const std::uint32_t at = net.coordinate(from, d);
      const std::uint32_t size = net.grid().sizes[d];
      n = shifted(net, n, d, size - (at - at % out.period[d]));
    }
    return n;
  };
  out.row.assign(jobs.size(), nothing);
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    if (with(jobs.source[j], jobs.source[j]) != jobs.source[j]) {
      continue;
    }
    out.row[j] = static_cast<std::uint32_t>(out.jobs.size());
    out.jobs.add(jobs.source[j], jobs.destination[j], jobs.bytes[j]);
  }
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    const node_id a = jobs.source[j];
    out.row[j] = out.row[table.at(key_of(with(a, a), with(jobs.destination[j], a)))];
    SINEW_ASSERT(out.row[j] < out.jobs.size() && out.jobs.bytes[out.row[j]] == jobs.bytes[j]);
  }
  // No translation but the identity keeps a node, so all orbits are equally large.
  SINEW_ENSURE(jobs.size() % out.jobs.size() == 0);
  for (link_id l = 0; l < net.links(); ++l) {
    const grid_step s = step_of(net, l);
    out.orbit.push_back(net.step(with(net.from(l), net.from(l)), s.dimension, s.up));
    SINEW_ASSERT(net.capacity(out.orbit[l]) == net.capacity(l));
  }
  return out;
}

}  // namespace sinew::route
