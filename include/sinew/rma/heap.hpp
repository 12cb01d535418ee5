// SPDX-License-Identifier: BSD-3-Clause
// One rank's heap: memory that every rank of the node has mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sinew::rma {

/// Addresses that a rank reserves. Pages exist once they are touched, so growing is free.
struct heap_sizes {
  std::size_t symmetric;
  std::size_t local;
};

/// SINEW_RMA_HEAP and SINEW_RMA_LOCAL_HEAP; where they are 0, half of the node's memory each,
/// shared by its ranks, so that a program too large for the machine gets an error. In a job on
/// several nodes all must get the same: `local_ranks` is the most of a node then, and up to a
/// sixteenth of the memory, in which nodes of one kind differ, is rounded away. Cold.
enum class nodes : std::uint8_t { one, several };
[[nodiscard]] heap_sizes default_heap_sizes(int local_ranks, nodes of_job = nodes::one);

/// Where things begin in every rank's part: words of the module itself, then the two heaps.
struct heap_shape {
  heap_shape(int ranks, heap_sizes sizes);

  static constexpr std::size_t armed_at = 64;  ///< see waiting.cpp

  std::size_t pairs_at;    ///< a line for each rank
  std::size_t barrier_at;  ///< of all ranks; used in rank 0's part only
  std::size_t symmetric_at;
  std::size_t local_at;
  std::size_t bytes;
};

/// The heaps of a job as this process has them mapped: rank r's part begins at parts[r], or is on
/// another node if that is null. Each is zero-filled and as long as the heap_shape of the same
/// sizes says.
struct heap_memory {
  std::vector<std::byte*> parts;
  heap_sizes sizes;
  std::vector<int> node_of = {};  ///< by rank; empty: all are mapped
};

enum class part : std::uint8_t { symmetric, local };

class arena;

/// Hands out this rank's memory. Any thread; cold, though O(log n). Blocks begin on a cache line.
/// What they hold is undefined, but for memory never used before, which is zero.
class heap {
 public:
  heap(const heap_shape& shape, heap_sizes sizes, std::byte* mine);
  ~heap();
  heap(const heap&) = delete;
  heap& operator=(const heap&) = delete;

  /// Offset of a new block, or 0 if there is no room. `symmetric`: every rank makes the same calls
  /// (allocate and release, of that part) in the same order, and gets the same offsets without a
  /// word to the others; nobody waits. `local`: as each likes.
  [[nodiscard]] std::uint64_t try_allocate(part where, std::size_t bytes,
                                           std::size_t alignment = 64);
  /// The same; throws sinew::error that names the setting and what would be enough.
  [[nodiscard]] std::uint64_t allocate(part where, std::size_t bytes, std::size_t alignment = 64);
  /// At the end of the highest free piece: for small blocks that stay long, which would split what
  /// large ones need.
  [[nodiscard]] std::uint64_t try_allocate_high(part where, std::size_t bytes,
                                                std::size_t alignment = 64);

  /// For who plans what goes where once blocks will have been released.
  [[nodiscard]] arena& blocks(part where) const noexcept;
  /// Of either part. Nobody may still use it; large blocks go back to the system. Throws
  /// sinew::error for what is not allocated.
  void release(std::uint64_t offset);
  /// The pages of these bytes go back to the system, if they are many: for who cuts a block itself.
  void give_back_pages(std::uint64_t offset, std::size_t bytes);

  [[nodiscard]] std::size_t bytes_of(std::uint64_t offset) const;  ///< 0: no block begins there
  [[nodiscard]] std::size_t used(part where) const;
  [[nodiscard]] std::size_t bytes(part where) const;  ///< used or not
  [[nodiscard]] std::size_t largest_free(part where) const;

 private:
  [[nodiscard]] arena& arena_of(std::uint64_t offset) const noexcept;
  std::byte* mine_;
  std::unique_ptr<arena> symmetric_;
  std::unique_ptr<arena> local_;
};

}  // namespace sinew::rma
