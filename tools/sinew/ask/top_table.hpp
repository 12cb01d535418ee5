// SPDX-License-Identifier: BSD-3-Clause
// What ranks have done between two looks, as the table of `sinew top`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/ask/rank_numbers.hpp"

namespace sinew::tool {

/// Of a rank, or of all ranks of a host. Rates are by second, shares of 1 for each rank.
struct rank_rates {
  int rank = 0;  ///< the first, of several
  int ranks = 1;
  std::string host = {};
  double processor = 0;
  double in_calls = -1;  ///< -1: the rank counts no calls
  double calls = 0;
  double messages = 0;
  double sent_bytes = 0;
  double received_bytes = 0;
  double memory_bytes = 0;
  std::int64_t waits_ns = 0;
  std::string last_call = {};
};

/// Of the ranks that are in both, in the order of `now`.
[[nodiscard]] std::vector<rank_rates> rates_between(const std::vector<numbered_rank>& before,
                                                    const std::vector<numbered_rank>& now);
/// One for each host, in the order of their first ranks.
[[nodiscard]] std::vector<rank_rates> sums_by_host(const std::vector<rank_rates>& ranks);

enum class top_order : std::uint8_t { rank, processor, in_calls, messages, sent, memory };
struct top_view {
  top_order order = top_order::rank;  ///< but for ranks the most first
  bool by_host = false;
  int lines = 0;    ///< at most; 0: all
  int columns = 0;  ///< likewise
};

/// A line of sums, then the table.
[[nodiscard]] std::string top_table(const std::vector<rank_rates>& ranks, const top_view& view);
/// A line of JSON with all ranks. `job`: what names it.
[[nodiscard]] std::string top_json(const std::vector<rank_rates>& ranks, int job);

}  // namespace sinew::tool
