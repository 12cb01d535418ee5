// SPDX-License-Identifier: BSD-3-Clause
// A range of offsets cut into blocks. The bookkeeping lies apart from the memory, so that nobody's
// stray store can break it and untouched pages stay untouched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace sinew::rma {

/// Best fit, the lowest of equals: what it answers depends on the calls made and on nothing else.
class arena {
 public:
  static constexpr std::size_t grain = 64;
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t large = std::size_t{16} << 10;
  /// The least that a block of so many bytes has.
  [[nodiscard]] static constexpr std::uint64_t rounded(std::uint64_t bytes) noexcept {
    return std::max<std::uint64_t>(grain, (bytes + grain - 1) / grain * grain);
  }
  struct piece {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
  };

  arena(std::uint64_t begin, std::uint64_t bytes);

  /// Offset, or 0 if nothing fits. `alignment` is a power of two. Large blocks begin, where there
  /// is room, a quarter, a half and three quarters of a page behind a page's beginning, in turn.
  /// The C library's large blocks begin at the beginning, and where a loop's stores run up to a
  /// quarter of a page ahead of its loads, the processor takes them for the same at first (it
  /// compares the low 12 bits): loops over two arrays take up to 40% longer, a pressure solver 7%.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// The same at the end of the highest free piece that has room.
  [[nodiscard]] std::uint64_t allocate_high(std::uint64_t bytes, std::uint64_t alignment);
  /// Makes a block of free bytes; false if they are not all free. Begin and length are multiples of
  /// the grain.
  [[nodiscard]] bool claim(const piece& free);
  /// Makes one block of bytes that are all in blocks: these are cut at both ends, and joined.
  void recut(const piece& block);
  /// The block's size, or 0 if no block begins there.
  std::uint64_t release(std::uint64_t offset);
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t largest_free() const;
  /// In the order of their offsets.
  [[nodiscard]] std::vector<piece> free_pieces() const;
  [[nodiscard]] bool covers(std::uint64_t offset) const noexcept {
    return offset - begin_ < bytes_;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  using search = std::uint64_t (arena::*)(std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment, search where);
  std::uint64_t take_best(std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t take_highest(std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t take_at(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t residue);
  void carve(piece from, piece block);
  void cut(std::uint64_t offset);
  void add_free(std::uint64_t begin, std::uint64_t bytes);
  void change_free(std::uint64_t old_begin, std::uint64_t begin, std::uint64_t bytes) noexcept;
  void remove_free(std::uint64_t begin, std::uint64_t bytes) noexcept;

  const std::uint64_t begin_;
  const std::uint64_t bytes_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::uint64_t used_ = 0;
  std::uint64_t placed_ = 0;                                   ///< large blocks handed out so far
  std::map<std::uint64_t, std::uint64_t> free_;                ///< size by beginning
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  ///< size, beginning
  std::map<std::uint64_t, std::uint64_t> taken_;               ///< size by beginning
};

}  // namespace sinew::rma
