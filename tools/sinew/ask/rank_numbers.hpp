// SPDX-License-Identifier: BSD-3-Clause
// What ranks do, in numbers: for `sinew top`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinew::tool {

/// What a rank has done until now: two of them make a rate.
struct rank_numbers {
  std::int64_t at_ns = 0;  ///< by the clock of its host
  std::int64_t processor_ns = 0;
  std::int64_t memory_bytes = 0;  ///< that is there now, what ranks share included
  bool counts_calls = false;      ///< else the next ones are 0, and no call is named
  std::int64_t calls = 0;
  std::int64_t messages = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t in_calls_ns = 0;
  std::int64_t waits_ns = 0;  ///< for so long already; 0: it does not wait for long
  std::string last_call = {};

  /// Numbers, then the call; without a newline.
  [[nodiscard]] std::string line() const;
  [[nodiscard]] static std::optional<rank_numbers> of_line(std::string_view line);
};

/// From now on for some seconds the rank counts. All but what the page has is known of any process.
/// Cold.
[[nodiscard]] rank_numbers read_numbers(pid_t process);

/// With where it is, as launchers tell it.
struct numbered_rank {
  int rank = 0;
  std::string host = {};
  pid_t process = 0;
  rank_numbers numbers = {};

  [[nodiscard]] std::string line() const;
  [[nodiscard]] static std::optional<numbered_rank> of_line(std::string_view line);
};

}  // namespace sinew::tool
