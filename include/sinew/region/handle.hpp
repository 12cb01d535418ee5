// Memories and instances as values that mean the same on every rank.
#pragma once

#include <compare>
#include <cstdint>

namespace sinew::region {

/// Where an instance may lie. More kinds (a device's memory) would be more values here, and their
/// ways to move bytes an edge beside src/region/peer_memory.hpp: nothing else knows kinds.
enum class memory_kind : std::uint8_t {
  heap,    ///< private memory of one rank: large, and reached by the kernel or by messages
  shared,  ///< one rank's part of the rma module's heap, which all ranks of the node have mapped
  global,  ///< striped over all ranks, in their parts of that heap
  /// All of it on every rank, at the same offset of each rank's symmetric heap, which all ranks of
  /// the node have mapped: an image for each rank (system::image).
  symmetric,
};

/// A value.
struct memory {
  memory_kind kind = memory_kind::heap;
  std::int32_t rank = 0;

  [[nodiscard]] static constexpr memory heap(int rank) noexcept {
    return {memory_kind::heap, rank};
  }
  [[nodiscard]] static constexpr memory shared(int rank) noexcept {
    return {memory_kind::shared, rank};
  }
  [[nodiscard]] static constexpr memory global() noexcept { return {memory_kind::global, 0}; }
  [[nodiscard]] static constexpr memory symmetric() noexcept { return {memory_kind::symmetric, 0}; }
  friend bool operator==(memory, memory) = default;
};

/// Names an instance. Its creator, a slot there, the slot's generation: a handle of a destroyed
/// instance is told from a new one in the same slot until the slot was used 2^20 times more.
/// In symmetric memory it names one rank's image: creator() is that rank, and index() tells the
/// creator too, so that the images' handles follow from each other.
class instance {
 public:
  static constexpr unsigned index_bits = 24;
  static constexpr unsigned generation_bits = 20;

  constexpr instance() noexcept = default;
  constexpr instance(int creator, std::uint32_t index, std::uint32_t generation) noexcept
      : bits_(static_cast<std::uint64_t>(creator + 1) << (index_bits + generation_bits) |
              static_cast<std::uint64_t>(index) << generation_bits | generation) {}
  [[nodiscard]] static constexpr instance from_bits(std::uint64_t bits) noexcept {
    instance i;
    i.bits_ = bits;
    return i;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool exists() const noexcept { return bits_ != 0; }
  [[nodiscard]] constexpr int creator() const noexcept {
    return static_cast<int>(bits_ >> (index_bits + generation_bits)) - 1;
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

static_assert(sizeof(instance) == 8);

}  // namespace sinew::region
