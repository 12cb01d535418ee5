// SPDX-License-Identifier: BSD-3-Clause
// Reductions over a team, of elements that lie one behind the other. Operators need not commute: a
// result is made of all ranks' elements in the order of the ranks, by one rank or by all in the
// same way, so that it is the same everywhere and in every call. False: the ranks did not give the
// same number of elements; then the result is undefined. They suspend. Warm.
#pragma once

#include <cstddef>

#include "sinew/node/team.hpp"

namespace sinew::node {

/// inout = lower (op) inout, `count` elements; throws nothing.
struct combiner {
  void (*call)(const void* context, const void* lower, void* inout, std::size_t count);
  const void* context;
  std::size_t element_bytes;
};
/// The longest element that these functions take.
inline constexpr std::size_t most_element_bytes = 4096;

/// What a rank gives, and where the result goes, which may be the same. `into` is looked at where
/// there is a result.
struct vectors {
  const void* from;
  void* into;
  std::size_t count;
};

/// Where the ways part, in bytes of a vector. The same for all members.
struct reduction_lengths {
  std::size_t shared;  ///< from here on each rank combines a part of the elements
  std::size_t direct;  ///< and from here on, if it is longer, reads them where they are
};

[[nodiscard]] bool reduce(team& t, const vectors& v, const combiner& c, int root,
                          const reduction_lengths& limits);
[[nodiscard]] bool allreduce(team& t, const vectors& v, const combiner& c,
                             const reduction_lengths& limits);

/// Rank r gets the elements from starts[r] on, up to starts[r + 1]: there is one entry more than
/// there are ranks. `into` must not overlap `from`.
[[nodiscard]] bool reduce_scatter(team& t, const void* from, void* into,
                                  std::span<const std::size_t> starts, const combiner& c,
                                  const reduction_lengths& limits);

}  // namespace sinew::node
