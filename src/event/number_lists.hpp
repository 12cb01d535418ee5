// SPDX-License-Identifier: BSD-3-Clause
// Lists of 32-bit numbers that only grow and are then consumed whole: the dependents of a slot, the
// ranks that subscribed to it. A list is named by its newest chunk; 0 is the empty list. Chunks are
// taken from one reserved range and used again, so a list allocates nothing.
#pragma once

#include <cstdint>
#include <utility>

#include "event/reserved.hpp"
#include "sinew/base/check.hpp"

namespace sinew::event {

class number_lists {
 public:
  /// At most `lines` cache lines of chunks.
  explicit number_lists(std::uint32_t lines) : lines_(lines), chunks_(lines) {
    SINEW_EXPECT(lines > large_lines);
  }

  /// Throws sinew::error if there is no chunk left; then the list is as it was.
  void put(std::uint32_t& list, std::uint32_t number) {
    SINEW_EXPECT(list <= used_);
    if (list == 0 || chunks_[list].count == chunks_[list].most) {
      grow(list);
    }
    chunk& c = chunks_[list];
    // The numbers of a large chunk go on over the lines that follow.
    std::uint32_t* const items = c.items;
    items[c.count++] = number;
    SINEW_ENSURE(c.count <= c.most);
  }

  /// Calls visit(number) for each, and gives the list's chunks back. Numbers of one chunk come in
  /// the order in which they were put, chunks the newest first.
  template <class Visit>
  void consume(std::uint32_t list, Visit visit) {
    while (list != 0) {
      SINEW_ASSERT(list <= used_);
      const chunk& c = chunks_[list];
      prefetch(c.next);
      const std::uint32_t* const items = c.items;
      for (std::uint32_t n = 0; n < c.count; ++n) {
        visit(items[n]);
      }
      list = release(list);
    }
  }

  /// Cold: for reports.
  [[nodiscard]] bool contains(std::uint32_t list, std::uint32_t number) const noexcept;

 private:
  /// A cache line, or from the second chunk of a list on eight lines, so that the walk through a
  /// long list is one through memory.
  struct chunk {
    std::uint32_t next;  ///< of the list, or of the free list
    std::uint16_t count;
    std::uint16_t most;
    std::uint32_t items[14];  ///< of a large one: `most`
  };
  static_assert(sizeof(chunk) == 64);
  static constexpr std::uint16_t small = 14;
  static constexpr std::uint32_t large_lines = 8;
  static constexpr std::uint16_t large = small + 16 * (large_lines - 1);
  static_assert(sizeof(chunk) - sizeof(chunk::items) + large * sizeof(std::uint32_t) ==
                large_lines * sizeof(chunk));

  void grow(std::uint32_t& list);
  void prefetch(std::uint32_t c) const noexcept {
    for (std::uint32_t line = 0; c != 0 && line < large_lines; ++line) {
      __builtin_prefetch(chunks_.data() + c + line);
    }
  }
  /// Returns the chunk after it.
  std::uint32_t release(std::uint32_t c) noexcept {
    chunk& k = chunks_[c];
    SINEW_ASSERT(k.most == small || k.most == large);
    std::uint32_t& free_list = k.most == small ? free_small_ : free_large_;
    return std::exchange(k.next, std::exchange(free_list, c));
  }

  std::uint32_t lines_;
  reserved<chunk> chunks_;  ///< 0 is not used
  std::uint32_t used_ = 0;  ///< lines that ever were in use
  std::uint32_t free_small_ = 0;
  std::uint32_t free_large_ = 0;
};

}  // namespace sinew::event
