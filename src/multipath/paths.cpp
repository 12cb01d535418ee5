// SPDX-License-Identifier: BSD-3-Clause
#include "multipath/paths.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::multipath {
namespace {

using route::node_id;

/// Nodes at which a path is handed from rank to rank, its ends left out. Switches cannot forward:
/// they carry what the network sends through them.
std::vector<node_id> places_between(const route::topology& net,
                                    std::span<const route::link_id> path, bool every_hop) {
  std::vector<node_id> nodes;
  const auto add = [&](std::uint32_t place) {
    const node_id n = net.from(path[place]);
    if (n < net.endpoints()) {
      nodes.push_back(n);
    }
  };
  if (every_hop) {
    for (std::uint32_t place = 1; place < path.size(); ++place) {
      add(place);
    }
  } else {
    for (const std::uint32_t place : route::forwarding_places(net, path)) {
      add(place);
    }
  }
  return nodes;
}

}  // namespace

void transfer::paths::add(std::uint64_t at, std::uint64_t count,
                          std::span<const std::uint64_t> visited) {
  SINEW_EXPECT(count != 0 && visited.size() >= 2);
  offset.push_back(at);
  bytes.push_back(count);
  stops.insert(stops.end(), visited.begin(), visited.end());
  first.push_back(stops.size());
}

std::vector<std::uint64_t> transfer::paths::flat() const {
  std::vector<std::uint64_t> words = {size(), stops.size()};
  for (const auto* column : {&offset, &bytes, &first, &stops}) {
    words.insert(words.end(), column->begin(), column->end());
  }
  return words;
}

transfer::paths transfer::paths::from_flat(std::span<const std::uint64_t> words) {
  SINEW_EXPECT(words.size() >= 3 && words.size() == 3 + 3 * words[0] + words[1]);
  paths all;
  const std::size_t count = words[0];
  std::size_t at = 2;
  const auto take = [&](std::vector<std::uint64_t>& column, std::size_t n) {
    const auto piece = words.subspan(at, n);
    column.assign(piece.begin(), piece.end());
    at += n;
  };
  take(all.offset, count);
  take(all.bytes, count);
  take(all.first, count + 1);
  take(all.stops, words[1]);
  SINEW_ENSURE(all.first.front() == 0 && all.first.back() == all.stops.size());
  return all;
}

transfer::paths transfer::paths::of(const route::topology& net, const route::route_plan& plan,
                                    const route::job_list& messages,
                                    const transfer_options& options) {
  const std::uint64_t k = options.ranks_per_node;
  std::map<std::pair<node_id, node_id>, std::vector<std::size_t>> between;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    if (messages.source[m] == messages.destination[m] || messages.bytes[m] == 0) {
      continue;
    }
    between[{static_cast<node_id>(messages.source[m] / k),
             static_cast<node_id>(messages.destination[m] / k)}]
        .push_back(m);
  }
  paths all;
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    const auto found = between.find({plan.jobs.source[j], plan.jobs.destination[j]});
    if (found == between.end()) {
      continue;
    }
    // Messages and paths are two ways to cut the same bytes; a path lies between two cuts.
    std::size_t at = 0;
    std::uint64_t gone = 0;
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      const auto nodes = places_between(net, plan.paths[p], options.every_hop);
      std::uint64_t left = plan.bytes[p];
      while (left > 0 && at < found->second.size()) {
        const std::size_t m = found->second[at];
        const std::uint64_t piece = std::min(left, messages.bytes[m] - gone);
        std::vector<std::uint64_t> visited = {messages.source[m]};
        for (const node_id n : nodes) {
          visited.push_back(n * k + all.size() % k);
        }
        visited.push_back(messages.destination[m]);
        all.add(gone, piece, visited);
        left -= piece;
        gone += piece;
        if (gone == messages.bytes[m]) {
          gone = 0;
          ++at;
        }
      }
      SINEW_ASSERT(left == 0);
    }
    SINEW_ENSURE(at == found->second.size());
  }
  return all;
}

}  // namespace sinew::multipath
