// SPDX-License-Identifier: BSD-3-Clause
// What a rank that has waited for a while tells its launcher: for what, and whether anything but
// another rank could end the wait. The launcher asks for it again to find out whether a job is
// dead (tools/sinew/ask/wait_board.hpp). One line of PMI-1; that of another process is not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinew::boot {

class pmi_message;

/// For what a thread waits. Ranks are those of the job.
struct awaited {
  enum class kind : std::uint8_t { other, receive, send, probe, collective };

  kind what = kind::other;
  std::vector<int> ranks =
      {};        ///< any one of which may end it, as far as is known; empty: any rank
  int tag = -1;  ///< -1: any, or it has none
  std::string communicator = {};
  std::int64_t bytes = -1;      ///< room of a receive, length of a send; -1: not known
  std::string collective = {};  ///< as MPI names it; empty: it is in none
  int root = -1;                ///< -1: it has none
  std::int64_t number = 0;      ///< of the collective in its communicator, from 1
  int other_tag = -1;           ///< a message with it has come that this receive does not take

  [[nodiscard]] bool operator==(const awaited&) const = default;
};
/// More are not told.
inline constexpr std::size_t most_awaited_ranks = 64;

struct wait_report {
  int turn = 0;  ///< which question of the launcher's it answers; 0: none
  /// Names the rank's state: it has not changed while this is the same, and then nothing has
  /// happened in the rank. Empty: the rank cannot say that it does nothing else, or something else
  /// than a rank of the job may end the wait.
  std::string state = {};
  std::uint64_t sent = 0;  ///< messages over networks, where they may be under way for a while
  std::uint64_t received = 0;
  std::int64_t waited_ms = 0;
  awaited what = {};
};

/// Without a newline.
[[nodiscard]] std::string to_line(const wait_report& report);
/// Nothing if it makes no sense.
[[nodiscard]] std::optional<wait_report> parse_wait_report(const pmi_message& line);

}  // namespace sinew::boot
