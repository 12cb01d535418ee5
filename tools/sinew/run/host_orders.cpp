// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/host_orders.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/run/frames.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::tool {

std::string pack(const host_orders& orders) {
  SINEW_EXPECT(!orders.hosts.empty());
  packer to;
  to.text(orders.job).number(orders.node).text(orders.directory).texts(orders.words);
  to.texts(orders.environment).numbers(orders.ranks).texts(orders.hosts.names);
  to.number(static_cast<std::int64_t>(orders.hosts.node_of.size()));
  to.text(boot::format_process_mapping(orders.hosts.node_of)).number(orders.host_timeout_ms);
  to.numbers(orders.parents).text(orders.agent);
  to.number(static_cast<std::int64_t>(orders.hosts.named.size()));
  for (const host_slots& each : orders.hosts.named) {
    to.text(each.name).number(each.slots);
  }
  return to.bytes();
}

std::optional<host_orders> unpack_orders(std::string_view bytes) {
  unpacker from(bytes);
  host_orders orders;
  orders.job = from.text();
  orders.node = static_cast<int>(from.number());
  orders.directory = from.text();
  orders.words = from.texts();
  orders.environment = from.texts();
  orders.ranks = from.numbers();
  orders.hosts.names = from.texts();
  constexpr std::int64_t most_ranks = 65'536;
  const std::int64_t size = std::clamp<std::int64_t>(from.number(), 0, most_ranks);
  orders.hosts.node_of = boot::parse_process_mapping(from.text(), static_cast<int>(size));
  orders.host_timeout_ms = from.number();
  orders.parents = from.numbers();
  orders.agent = from.text();
  constexpr std::size_t least_bytes_each = 2 * sizeof(std::int64_t);
  for (std::size_t left = from.count(least_bytes_each); left > 0; --left) {
    std::string name = from.text();
    orders.hosts.named.push_back({std::move(name), static_cast<int>(from.number())});
  }
  constexpr std::int64_t longest_timeout_ms = 1'000'000'000'000;  // fits in nanoseconds, too
  const int nodes = static_cast<int>(orders.hosts.names.size());
  const bool sound =
      from.whole() && size > 0 && orders.hosts.node_of.size() == static_cast<std::size_t>(size) &&
      orders.node >= 0 && orders.node < nodes && orders.host_timeout_ms >= 0 &&
      orders.host_timeout_ms <= longest_timeout_ms &&
      std::none_of(
          orders.ranks.begin(), orders.ranks.end(), [](int n) { return n < 0; }) &&
      orders.parents.size() == orders.hosts.names.size() && is_tree(orders.parents) &&
      std::all_of(
          orders.hosts.node_of.begin(), orders.hosts.node_of.end(),
          [nodes](int node) { return node < nodes; });
  return sound ? std::optional(std::move(orders)) : std::nullopt;
}

}  // namespace sinew::tool
