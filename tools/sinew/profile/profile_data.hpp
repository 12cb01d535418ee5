// SPDX-License-Identifier: BSD-3-Clause
// What SINEW_MPI_PROFILE has written, of all ranks together. The file has a list of calls for each
// rank; here calls of one name in one line of the source are one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

/// As the file has them: what calls are for.
inline constexpr std::array<std::string_view, 6> call_kinds = {"message",   "wait", "collective",
                                                               "one-sided", "file", "other"};
[[nodiscard]] std::size_t kind_number(std::string_view name) noexcept;

struct profile_call {
  std::string call;      ///< "MPI_Send"
  std::string place;     ///< "exchange (halo.c:38)"
  std::size_t kind = 0;  ///< of call_kinds
  double count = 0;
  double total_ns = 0, least_ns = 0, most_ns = 0;
  double sent = 0, received = 0;  ///< bytes
  std::map<int, double> ns_of_rank;

  /// "MPI_Send, in exchange (halo.c:38)".
  [[nodiscard]] std::string text() const;
};

struct profile_rank {
  int rank = 0;
  std::string host;
  double run_ns = 0;
  std::vector<double> thread_ns;  ///< in MPI, of each thread that has called it
  std::array<double, call_kinds.size()> kind_ns{};
  double waiting_ns = 0;  ///< of these, in wait states
  std::array<double, call_kinds.size()> waiting_of_kind_ns{};

  [[nodiscard]] double mpi_ns() const noexcept;
  /// Time of its threads that call MPI.
  [[nodiscard]] double threads_ns() const noexcept;
};

struct profile_pair {
  int from = 0, to = 0;
  double messages = 0, bytes = 0;         ///< sent
  double accesses = 0, access_bytes = 0;  ///< one-sided, by `from`
};

/// A state in which ranks have waited for others, by the two lines.
struct profile_wait {
  std::string state;  ///< "late sender"
  std::string call, cause;
  std::map<int, double> waiting_ns = {};  ///< by rank that has waited
  std::map<int, double> causing_ns = {};  ///< by rank that has been waited for
  double count = 0;
  double total_ns = 0, most_ns = 0;
};

struct profile_data {
  std::string command;
  std::vector<profile_rank> ranks;
  std::vector<profile_call> calls;  ///< most time first
  std::vector<profile_pair> pairs;  ///< most bytes first
  std::vector<profile_wait> waits;  ///< most time first
  /// By kind: how many messages or accesses of 0 bytes, 1, 2 to 3, 4 to 7, and so on.
  std::array<std::vector<double>, call_kinds.size()> sizes;

  [[nodiscard]] double mpi_ns() const noexcept;
  [[nodiscard]] double threads_ns() const noexcept;
  [[nodiscard]] double longest_run_ns() const noexcept;
};

/// Throws sinew::error: there is no such file, or it is no profile.
[[nodiscard]] profile_data read_profile(const std::string& path);

/// For a terminal: the most expensive places, and the longest waits. `file` has the rest.
[[nodiscard]] std::string profile_table(const profile_data& data, const std::string& file);
/// HTML without scripts and without network.
[[nodiscard]] std::string page_of_profile(const profile_data& data);

}  // namespace sinew::tool
