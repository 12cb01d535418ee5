// SPDX-License-Identifier: BSD-3-Clause
// A plan as ranks see it: which bytes of which message travel over which ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/multipath/transfer.hpp"

namespace sinew::multipath {

/// Columns; a path is a piece of one message and the ranks it visits, both ends included. Flat
/// and of one kind, so that rank 0 can hand it to the others as it lies.
struct transfer::paths {
  std::vector<std::uint64_t> offset;  ///< in its message
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> first{0};  ///< into stops; one more than paths
  std::vector<std::uint64_t> stops;

  [[nodiscard]] std::size_t size() const noexcept { return bytes.size(); }
  [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t c) const noexcept {
    return {stops.data() + first[c], first[c + 1] - first[c]};
  }
  void add(std::uint64_t at, std::uint64_t count, std::span<const std::uint64_t> visited);

  [[nodiscard]] std::vector<std::uint64_t> flat() const;
  [[nodiscard]] static paths from_flat(std::span<const std::uint64_t> words);

  /// Cuts messages between ranks along the paths of the plan between their nodes. `messages` are
  /// jobs between ranks; those that stay in their rank take no path.
  [[nodiscard]] static paths of(const route::topology& net, const route::route_plan& plan,
                                const route::job_list& messages, const transfer_options& options);
};

}  // namespace sinew::multipath
