// SPDX-License-Identifier: BSD-3-Clause
// Memories and instances as values that mean the same on every rank.
#pragma once

#include <compare>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

/// Where an instance may lie. Another kind (a device's memory) would be another value here, and its
/// way to move bytes an edge beside src/region/peer_memory.hpp: nothing else knows kinds.
enum class memory_kind : std::uint8_t {
  heap,    ///< private memory of one rank: large, and reached by the kernel or by messages
  shared,  ///< one rank's part of the rma module's heap, which all ranks of the node have mapped
  global,  ///< striped over all ranks, in their parts of that heap
  /// All of it on every rank, at the same offset of each rank's symmetric heap, which all ranks of
  /// the node have mapped: an image for each rank (system::image).
  symmetric,
};

/// A kind of memory, and whose it is. A value; equal on all ranks for the same memory.
struct memory {
  memory_kind kind = memory_kind::heap;
  job_rank rank = 0;

  [[nodiscard]] static constexpr memory heap(job_rank rank) noexcept {
    return {memory_kind::heap, rank};
  }
  [[nodiscard]] static constexpr memory shared(job_rank rank) noexcept {
    return {memory_kind::shared, rank};
  }
  [[nodiscard]] static constexpr memory global() noexcept { return {memory_kind::global, 0}; }
  [[nodiscard]] static constexpr memory symmetric() noexcept { return {memory_kind::symmetric, 0}; }
  friend bool operator==(memory, memory) = default;
};

/// Names an instance by its creator, a slot there and the slot's generation: so a handle of a
/// destroyed instance differs from that of a new one in the same slot, until the slot has been used
/// 2^20 times more. In symmetric memory it names one rank's image: creator() is that rank, and
/// index() contains the creator as well, so that the images' handles follow from each other.
class instance {
 public:
  static constexpr unsigned index_bits = 24;
  static constexpr unsigned generation_bits = 20;
  static constexpr unsigned creator_bits = 64 - index_bits - generation_bits;

  constexpr instance() noexcept = default;
  constexpr instance(job_rank creator, std::uint32_t index, std::uint32_t generation) noexcept
      : bits_((creator.index() + 1) << (index_bits + generation_bits) |
              static_cast<std::uint64_t>(index) << generation_bits | generation) {
    SINEW_EXPECT(creator.below((1 << creator_bits) - 1));
    SINEW_EXPECT(index < 1u << index_bits && generation < 1u << generation_bits);
  }
  [[nodiscard]] static constexpr instance from_bits(std::uint64_t bits) noexcept {
    instance i;
    i.bits_ = bits;
    return i;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool exists() const noexcept { return bits_ != 0; }
  [[nodiscard]] constexpr job_rank creator() const noexcept {
    return job_rank{static_cast<int>(bits_ >> (index_bits + generation_bits)) - 1};
  }
  [[nodiscard]] constexpr std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> generation_bits) & ((1u << index_bits) - 1);
  }
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits_) & ((1u << generation_bits) - 1);
  }
  friend constexpr auto operator<=>(instance, instance) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

static_assert(sizeof(instance) == 8, "a handle is one word, which programs put into messages");
static_assert(instance(5, 77, 9).creator() == 5 && instance(5, 77, 9).index() == 77 &&
              instance(5, 77, 9).generation() == 9);
static_assert(!instance().exists() && instance(0, 0, 0).exists(), "rank 0's first is not `none`");

}  // namespace sinew::region
