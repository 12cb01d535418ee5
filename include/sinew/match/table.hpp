// SPDX-License-Identifier: BSD-3-Clause
// The concurrent insert-or-match table: any number of threads post receives and sends under exact
// keys (no wildcards), and the second of a pair walks away with the first. After the table of
// "arr" in Dang et al. 2016, with what that one lacked: typed sides, duplicates in order, growth,
// memory returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sinew/base/ids.hpp"
#include "sinew/base/status.hpp"

namespace sinew::match {

/// What two sides must agree on. Any values: nothing is reserved.
struct table_key {
  context_id context;  ///< the communicator
  comm_rank source;
  message_tag tag;
  constexpr bool operator==(const table_key&) const noexcept = default;
};

static_assert(sizeof(table_key) == 12 && std::is_trivially_copyable_v<table_key>);

/// Values of one side wait for values of the other.
enum class table_side : std::uint8_t { send = 0, receive = 1 };
static_assert(static_cast<int>(table_side::send) == 0 && static_cast<int>(table_side::receive) == 1,
              "the lowest bit of a stored value is its side");

struct table_options {
  /// Buckets, of one cache line each, at the beginning; rounded up to a power of two, at least 2.
  /// Each holds three keys before it spills.
  std::size_t first_lines = 1024;
  /// Where growth ends (address space for so many is set aside, memory is not). Beyond it the table
  /// keeps working with longer and longer chains per bucket. At most 2^30.
  std::size_t most_lines = std::size_t{1} << 22;
  /// Cells of 64 bytes for spilled keys (3 per cell) and for duplicates (6 per cell), set aside
  /// likewise. When they are used up insert() says retry(no_memory). At most 2^26 - 1.
  std::size_t most_cells = std::size_t{1} << 22;
  /// Of the hash; 0: this process's own secret, so that nobody outside can choose keys that
  /// collide.
  std::uint64_t seed = 0;
};

/// Every call may be made by any thread at any time, suspends never, and takes effect at one moment
/// between its begin and its end (linearizable; for several keys together, too). A bucket's lock is
/// a bit in its line, held for some dozen instructions; if its holder lost the processor, others
/// yield theirs. As long as one thread alone has used the table its insert() executes no locked
/// instruction; the second thread's first call ends that for good and takes some microseconds.
///
/// Values are addresses that are not null and divisible by 4. The table never looks behind them.
class table {
 public:
  /// Throws sinew::error if the address space cannot be had. Cold.
  explicit table(const table_options& options = {});
  /// Nobody may be inside. What is still stored is forgotten.
  ~table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  struct outcome {
    void* partner;  ///< null unless done
    status what;    ///< done: matched; posted: stored; retry(no_memory): nothing has changed
  };

  /// Returns the value of the other side that has waited longest under `key`, removed; or stores
  /// `value`. Amortised constant, whatever the number of keys and of duplicates. Hot.
  [[nodiscard]] outcome insert(const table_key& key, table_side side, void* value) noexcept;

  /// The value of `side` that has waited longest under `key`, removed (take) or left (peek, whose
  /// answer may be stale at once); null if none. Hot.
  [[nodiscard]] void* take(const table_key& key, table_side side) noexcept;
  [[nodiscard]] void* peek(const table_key& key, table_side side) noexcept;

  /// Removes this very value. False if it is not stored (any more). Linear in the duplicates of
  /// this key. Warm.
  [[nodiscard]] bool erase(const table_key& key, table_side side, const void* value) noexcept;

  /// Shrinks to what is stored now and returns the memory to the system: call it when work has
  /// ebbed. Others may go on meanwhile. False if somebody else was growing or trimming, or there
  /// was no cell to work with. Cold: proportional to the number of buckets.
  bool trim() noexcept;

  /// Visits what is stored, duplicates in their order. Exact only while nobody else changes the
  /// table; `visit` must not call it. Cold.
  void each(void (*visit)(void* context, const table_key&, table_side, void* value),
            void* context) const;

  /// Buckets now. Warm.
  [[nodiscard]] std::size_t lines() const noexcept;
  /// Cells that have been touched since the last trim() that found the table empty. Warm.
  [[nodiscard]] std::size_t cells() const noexcept;

 private:
  struct body;
  [[nodiscard]] body& in() const noexcept;
  /// The body itself, not its address: each operation has one load less to wait for.
  static constexpr std::size_t body_bytes = 1216;
  static_assert(body_bytes % 64 == 0, "whole cache lines");
  alignas(64) mutable std::byte memory_[body_bytes];
};

}  // namespace sinew::match
