// SPDX-License-Identifier: BSD-3-Clause
// Blocks of shared memory that destroyed instances have left, kept for new ones because their pages
// exist already. Pure: knows offsets and sizes only. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinew::region {

struct memory_block {
  std::uint64_t offset = 0;  ///< 0: none
  std::size_t bytes = 0;
};

class kept_blocks {
 public:
  /// Smaller blocks are not worth keeping: the heap hands them out as fast.
  static constexpr std::size_t least_bytes = 16 << 10;
  static constexpr std::size_t most_blocks = 256;

  /// The smallest block of at least `bytes` that wastes less than half of itself (best fit);
  /// offset 0 if there is none.
  [[nodiscard]] memory_block take(std::size_t bytes);
  /// Whether it is kept: not if it is too small, or together with the others beyond `limit`.
  [[nodiscard]] bool keep(const memory_block& b, std::size_t limit);
  /// All of them; nothing is kept any more.
  [[nodiscard]] std::vector<memory_block> drain();
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<memory_block> blocks_;
  std::size_t bytes_ = 0;  ///< of all blocks
};

}  // namespace sinew::region
