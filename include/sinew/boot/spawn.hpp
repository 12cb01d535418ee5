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
/// where that is not set as many as the node has processors, at least 16. Launchers only. Cold.
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

/// "4.1,5.2", and back; nothing if malformed, or not ascending.
[[nodiscard]] std::string to_text(const std::vector<tenancy>& ranks);
[[nodiscard]] std::optional<std::vector<tenancy>> parse_tenancies(std::string_view text);

}  // namespace sinew::boot
