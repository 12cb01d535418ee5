// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are started while the job runs (MPI_Comm_spawn): what a rank asks its launcher for,
// and what it gets. On one node, under `sinew run`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"

namespace sinew::boot {

/// How many ranks a job on one node has room for beside those of its start: SINEW_BOOT_SPAWN, and
/// where that is not set four times as many as the node has processors, at least 256. Launchers
/// only. Cold.
[[nodiscard]] int room_for_spawned();

/// One program of a spawn.
struct spawn_command {
  std::vector<std::string> arguments;    ///< the program's name first
  std::vector<int> counts;               ///< numbers of ranks that will do, descending, at least 1
  std::string directory;                 ///< empty: where the launcher is
  std::vector<std::string> path;         ///< folders where the program is looked for, before PATH
  std::vector<std::string> environment;  ///< NAME=VALUE, beside that of the first ranks
};

struct spawn_request {
  std::vector<spawn_command> commands;
  std::string contact;  ///< one word, for the new ranks: how they find who spawned them
};

/// A place of the node's memory, which is the number of a rank in the job, and how many ranks have
/// had it before: places are used again.
struct tenancy {
  job_rank rank = 0;
  std::uint32_t tenant = 0;
};

struct spawn_answer {
  std::vector<tenancy> ranks;  ///< ascending; empty: nothing was started
  std::vector<int> counts;     ///< how many of them each command has
  int culprit = -1;            ///< the command for which there are none; -1: no single one
  std::string why;             ///< if there are none: a sentence, and what to do
};

/// Bytes of a request as a word (pmi_escape); a line to the launcher holds no more.
inline constexpr std::size_t longest_spawn_request = 60'000;

/// As bytes, and back; nothing if they make no sense. The launcher does not trust its ranks.
[[nodiscard]] std::string to_text(const spawn_request& request);
[[nodiscard]] std::optional<spawn_request> parse_spawn_request(std::string_view text);
[[nodiscard]] std::string to_text(const spawn_answer& answer);
[[nodiscard]] std::optional<spawn_answer> parse_spawn_answer(std::string_view text);

/// Ranks that one shares communicators with, although it was not started together with them. Both
/// ascend, and no rank is in both. The number place::reach() stands for ranks of other jobs.
struct connections {
  std::vector<job_rank> kept;
  /// The rank is in MPI_Comm_disconnect of the last communicator that it has with these. It may
  /// still be waited for; when it has come out nobody can wait for it.
  std::vector<job_rank> leaving;

  [[nodiscard]] bool empty() const noexcept { return kept.empty() && leaving.empty(); }
  friend bool operator==(const connections&, const connections&) = default;
};

/// A session whose launcher wants to know them: it ends connected ranks together.
class connection_listener {
 public:
  virtual ~connection_listener() = default;
  /// Of this rank, now. One thread at a time, any.
  virtual void tell_connections(const connections& now) = 0;
};

/// "4,5;7": those that are kept and those that are being left; and back, or nothing.
[[nodiscard]] std::string to_text(const connections& ranks);
[[nodiscard]] std::optional<connections> parse_connections(std::string_view text);

/// "4.1,5.2", and back; nothing if malformed, or not ascending.
[[nodiscard]] std::string to_text(const std::vector<tenancy>& ranks);
[[nodiscard]] std::optional<std::vector<tenancy>> parse_tenancies(std::string_view text);

}  // namespace sinew::boot
