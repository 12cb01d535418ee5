// SPDX-License-Identifier: BSD-3-Clause
// What a thread has counted of its calls. Each thread has a table of its own, which the next thread
// takes over when it ends; so what is kept does not grow with the length of the run, but with the
// number of places that call, of ranks that are met, and of threads that live at the same time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "abi/mpi/profile/samples.hpp"
#include "abi/mpi/watch.hpp"

namespace sinew::mpi::profile {

/// Whom a place sends to, or receives from.
inline constexpr int no_peer = -1;
inline constexpr int several_peers = -2;

/// Of calls that have no row of their own.
inline constexpr watch::nature all_kinds{};

/// A call of one name from one place of the program.
struct row {
  const char* call = nullptr;  ///< null: free; or the others, see `table`
  const void* site = nullptr;
  const watch::nature* nature = &all_kinds;
  int peer = no_peer;  ///< rank of the job
  std::uint64_t count = 0;
  std::int64_t total = 0;  ///< by the clock of moment(), as the next two
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  std::uint64_t sent = 0;  ///< bytes
  std::uint64_t received = 0;

  void add(std::int64_t took) noexcept {
    ++count;
    total += took;
    least = took < least ? took : least;
    most = took > most ? took : most;
  }
  void meet(int rank) noexcept {
    if (rank != no_peer && rank != peer) {
      peer = peer == no_peer ? rank : several_peers;
    }
  }
};

struct tally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t of_bytes) noexcept {
    ++count;
    bytes += of_bytes;
  }
};
/// Between this rank and another one.
struct traffic {
  int peer = no_peer;   ///< rank of the job
  tally sent, arrived;  ///< messages of the program
  tally put, got;       ///< one-sided; accumulates put, and those that fetch do both
};

/// Of one thread, without a lock: it is read when all threads have called MPI for the last time.
class table {
 public:
  /// Throws std::bad_alloc.
  explicit table(std::size_t most_sites);

  /// The call's own row; or that of all others, which come when `most_sites` have one. Throws
  /// std::bad_alloc for the first time. Hot.
  [[nodiscard]] row& of(const watch::call& call) {
    for (std::size_t at = place_of(call.name, call.site);; at = (at + 1) & (rows_.size() - 1)) {
      row& r = rows_[at];
      if (r.site == call.site && r.call == call.name) [[likely]] {
        return r;
      }
      if (r.call == nullptr) {
        return take(r, call);
      }
    }
  }
  /// Throws std::bad_alloc. Hot, but for the first time.
  [[nodiscard]] traffic& with(int peer) {
    for (std::size_t at = place_of(peer);; at = (at + 1) & (peers_.size() - 1)) {
      traffic& t = peers_[at];
      if (t.peer == peer) [[likely]] {
        return t;
      }
      if (t.peer == no_peer) {
        return take(t, peer);
      }
    }
  }
  /// Hot.
  void keep(const sample& s) { samples_.add(s); }
  /// Hot.
  void count_size(watch::group of, std::uint64_t bytes) noexcept {
    ++sizes_[static_cast<std::size_t>(of)][static_cast<std::size_t>(std::bit_width(bytes))];
  }

  void each_row(const std::function<void(const row&)>& take) const;  ///< the others last
  void each_peer(const std::function<void(const traffic&)>& take) const;
  /// How many messages or accesses have had so many bits in their number of bytes.
  [[nodiscard]] const std::array<std::uint64_t, 65>& sizes(watch::group of) const noexcept {
    return sizes_[static_cast<std::size_t>(of)];
  }
  [[nodiscard]] const sample_set& samples() const noexcept { return samples_; }

 private:
  [[nodiscard]] std::size_t place_of(const char* call, const void* site) const noexcept {
    const auto key = reinterpret_cast<std::uintptr_t>(site) * 0x9e3779b97f4a7c15U ^
                     reinterpret_cast<std::uintptr_t>(call) * 0xff51afd7ed558ccdU;
    return (key >> 32) & (rows_.size() - 1);
  }
  [[nodiscard]] std::size_t place_of(int peer) const noexcept {
    return (static_cast<unsigned>(peer) * 0x9e3779b1U >> 7) & (peers_.size() - 1);
  }
  row& take(row& free, const watch::call& call);
  traffic& take(traffic& free, int peer);

  const std::size_t most_sites_;
  std::size_t sites_ = 0;
  std::vector<row> rows_;  ///< a power of two, at most half of them taken
  row others_;
  std::size_t met_ = 0;
  std::vector<traffic> peers_;  ///< likewise
  std::array<std::array<std::uint64_t, 65>, watch::groups> sizes_{};
  sample_set samples_;
};

/// The calling thread's. Ends the process where there is no memory for it. Hot.
[[nodiscard]] table& own_table() noexcept;
/// All there are, in the order in which they were first needed. Nobody calls MPI meanwhile.
void each_table(const std::function<void(const table&)>& take);

}  // namespace sinew::mpi::profile
