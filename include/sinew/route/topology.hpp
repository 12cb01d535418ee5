// SPDX-License-Identifier: BSD-3-Clause
// A network as a directed graph: nodes, links with capacities, and the grid behind it if it is a
// torus, a mesh or a hypercube. Immutable after construction, so any number of threads may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::route {

using node_id = std::uint32_t;
using link_id = std::uint32_t;

inline constexpr std::uint32_t nothing = UINT32_MAX;  ///< no such node, no such link

/// Sizes of a grid, the slowest coordinate first: node = row-major, the last coordinate fastest.
struct grid_shape {
  std::vector<std::uint32_t> sizes;
  std::vector<bool> wraps;  ///< per dimension: torus (true) or mesh
  [[nodiscard]] bool empty() const noexcept { return sizes.empty(); }
};

/// One direction of a cable. Capacity is in cables: 1 is the bandwidth of one link of the machine,
/// 0 a failed link.
struct arc {
  node_id from = 0;
  node_id to = 0;
  double capacity = 1;
};

/// What a file says of a network's links: bytes per second of one cable in one direction, seconds
/// of a hop, and what one node can send (0: all of its links at once).
struct link_speeds {
  double bandwidth = 0;
  double hop_latency = 0;
  double injection = 0;
};

class topology {
 public:
  /// Links of equal ends become one with the sum of their capacities. The first `endpoints` nodes
  /// may send and receive; the others are switches. Links are numbered by (from, to).
  /// Throws sinew::error: an end that is no node, a loop, a negative capacity, too large a graph
  /// (SINEW_ROUTE_MEMORY; says how much it would need). Cold.
  topology(std::string name, std::uint32_t nodes, std::uint32_t endpoints, std::vector<arc> links,
           grid_shape grid = {});

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t nodes() const noexcept {
    return static_cast<std::uint32_t>(first_.size() - 1);
  }
  [[nodiscard]] std::uint32_t endpoints() const noexcept { return endpoints_; }
  [[nodiscard]] std::uint32_t links() const noexcept {
    return static_cast<std::uint32_t>(to_.size());
  }

  [[nodiscard]] node_id from(link_id l) const noexcept {
    SINEW_EXPECT(l < links());  // `nothing` is no link
    return from_[l];
  }
  [[nodiscard]] node_id to(link_id l) const noexcept {
    SINEW_EXPECT(l < links());
    return to_[l];
  }
  [[nodiscard]] double capacity(link_id l) const noexcept {
    SINEW_EXPECT(l < links());
    return capacity_[l];
  }
  [[nodiscard]] std::span<const double> capacities() const noexcept { return capacity_; }
  /// Links that leave `n` are first_link(n) .. first_link(n + 1) - 1.
  [[nodiscard]] link_id first_link(node_id n) const noexcept {
    SINEW_EXPECT(n <= nodes());
    return first_[n];
  }
  /// Links that arrive at `n`.
  [[nodiscard]] std::span<const link_id> links_into(node_id n) const noexcept {
    SINEW_EXPECT(n < nodes());
    return {into_.data() + into_first_[n], into_first_[n + 1] - into_first_[n]};
  }
  /// The link from a to b, or `nothing`. Logarithmic in the degree.
  [[nodiscard]] link_id find(node_id a, node_id b) const noexcept;

  [[nodiscard]] const grid_shape& grid() const noexcept { return grid_; }
  [[nodiscard]] std::size_t dimensions() const noexcept { return grid_.sizes.size(); }
  /// In a grid: the link one step up (or down) in a dimension, or `nothing` at the border of a
  /// mesh. Where a ring has two nodes both steps are the same link.
  [[nodiscard]] link_id step(node_id n, std::size_t dimension, bool up) const noexcept {
    SINEW_EXPECT(n < nodes() && dimension < dimensions());
    return ports_[(n * dimensions() + dimension) * 2 + (up ? 1 : 0)];
  }
  [[nodiscard]] std::uint32_t coordinate(node_id n, std::size_t dimension) const noexcept {
    SINEW_EXPECT(n < nodes() && dimension < dimensions());
    return n / strides_[dimension] % grid_.sizes[dimension];
  }
  [[nodiscard]] std::uint32_t stride(std::size_t dimension) const noexcept {
    return strides_[dimension];
  }

  /// The same network with these links failed, in the given direction only. Throws if one of them
  /// is no link.
  [[nodiscard]] topology without(std::span<const std::pair<node_id, node_id>> failed) const;

  /// Speeds, where the network came from a file that has them (SimGrid's platforms).
  [[nodiscard]] const std::optional<link_speeds>& speeds() const noexcept { return speeds_; }
  /// The same network by another name and with these speeds.
  [[nodiscard]] topology with_speeds(std::string name, const link_speeds& speeds) const;

  /// What the network's file calls a node, or its number. Files that name nodes: GraphML, those of
  /// ibnetdiscover.
  [[nodiscard]] std::string label(node_id n) const;
  [[nodiscard]] bool has_labels() const noexcept { return !labels_.empty(); }
  /// The same network with a name for each node; none may be empty.
  [[nodiscard]] topology with_labels(std::vector<std::string> labels) const;

  /// A number that differs between different networks: a plan remembers for which it was made.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;

 private:
  void index_grid();

  std::string name_;
  std::uint32_t endpoints_;
  std::vector<std::uint32_t> first_;
  std::vector<node_id> from_;
  std::vector<node_id> to_;
  std::vector<double> capacity_;
  std::vector<std::uint32_t> into_first_;
  std::vector<link_id> into_;
  grid_shape grid_;
  std::vector<std::uint32_t> strides_;
  std::vector<link_id> ports_;
  std::optional<link_speeds> speeds_;
  std::vector<std::string> labels_;  // of all nodes, or none
};

/// Rings of two nodes have one cable, as the original's model has, or both.
enum class ring_of_two { one_cable, two_cables };

/// Dimensions of size 1 are allowed. Throws for no dimension, a size of 0, too many nodes.
[[nodiscard]] topology make_grid(grid_shape shape, ring_of_two rings = ring_of_two::one_cable);
[[nodiscard]] topology make_torus(std::vector<std::uint32_t> sizes,
                                  ring_of_two rings = ring_of_two::one_cable);
[[nodiscard]] topology make_mesh(std::vector<std::uint32_t> sizes);
[[nodiscard]] topology make_hypercube(std::uint32_t dimensions);

/// XGFT(h; down; up) with `cables` parallel cables per level, lowest level first, as SimGrid's
/// "levels;down;up;cables". Endpoints come first, then the switches, lowest level first.
struct fat_tree_shape {
  std::vector<std::uint32_t> down;
  std::vector<std::uint32_t> up;
  std::vector<std::uint32_t> cables;
};
[[nodiscard]] topology make_fat_tree(const fat_tree_shape& shape);

/// Groups of chassis of routers, as SimGrid's "groups,blue;chassis,black;routers,green;nodes":
/// routers of a chassis are all connected (green), so are equal places of a group's chassis
/// (black); group i reaches group j by its router j, modulo the routers of a group (blue): with
/// more groups than routers a router has several such links (SimGrid refuses those shapes).
struct dragonfly_shape {
  std::uint32_t groups = 1;
  std::uint32_t blue = 1;
  std::uint32_t chassis = 1;
  std::uint32_t black = 1;
  std::uint32_t routers = 1;
  std::uint32_t green = 1;
  std::uint32_t nodes = 1;  ///< per router
};
[[nodiscard]] topology make_dragonfly(const dragonfly_shape& shape);

/// Blue Gene/Q's partitions of Mira by node count (512 .. 8192, and 16384, 32768 by the same rule
/// of growth): 512 is 4x4x4x4x2, 1024 4x4x4x8x2, ... Throws for other counts.
[[nodiscard]] std::vector<std::uint32_t> mira_shape(std::uint32_t nodes);

/// "4x4x4x8x2" or "torus:4x4x4x8x2", "torus2:..." (two cables in rings of two), "mesh:8x8",
/// "4x4mx8" (m: that dimension does not wrap), "hypercube:10", "fattree:2;4,4;1,2;1,2",
/// "dragonfly:3,4;4,3;5,1;2", "mira:1024", or the name of a file (read_topology).
/// Throws sinew::error that says what is accepted.
[[nodiscard]] topology parse_topology(std::string_view text);

/// *.xml: the <cluster> of a SimGrid platform with its speeds (bw, lat; limiter_link; of a FLAT one
/// the backbone, too); *.graphml; *.json: {"nodes":N,"links":[[a,b,capacity],...]}; what
/// ibnetdiscover prints, told by its lines "switchguid=" and "caguid="; anything else: lines
/// "a b [capacity]". The texts' readers are for tests and fuzzing too (those of GraphML and
/// ibnetdiscover are in interchange.hpp); `where` is how messages call the file. Throws
/// sinew::error with line and reason.
[[nodiscard]] topology read_topology(const std::string& path);
[[nodiscard]] topology topology_from_edges(std::string_view text, const std::string& where);
[[nodiscard]] topology topology_from_json(std::string_view text, const std::string& where);
[[nodiscard]] topology topology_from_simgrid(std::string_view text, const std::string& where);

}  // namespace sinew::route
