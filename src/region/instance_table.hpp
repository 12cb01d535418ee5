// SPDX-License-Identifier: BSD-3-Clause
// The table of instances: which handle stands for which record.
//
// Each rank has a row of slots, at the same offset of every rank's shared heap: one word a slot,
// with a generation and the offset of a record, or 0 while the slot is free. The handle carries
// rank, slot and generation; so any rank finds the record of any instance without a message, and
// notices that an instance has been destroyed by the generation, which destroying raises. Of the
// instances of other nodes' ranks it has the records that directory.hpp has asked for.
//
// A rank whose row is full takes more slots from its own heap: blocks, each twice as long as the
// one before, whose offsets stand behind the row. Their numbers follow those that name images.
//
// Pure: the heaps are plain memory to it. It sends nothing, waits for nothing and allocates no
// shared memory but by `more`, so tests give it arrays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "region/record.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/rma/place.hpp"

namespace sinew::region {

/// The shared heaps of all ranks as they are mapped here.
struct shared_heaps {
  std::vector<std::byte*> begins;  ///< one a rank; null: on another node
  job_rank rank = 0;               ///< whose table this is
  std::vector<int> nodes = {};     ///< by rank; empty: all are on one

  [[nodiscard]] int size() const noexcept { return static_cast<int>(begins.size()); }
  [[nodiscard]] bool maps(job_rank whose) const noexcept {
    return begins[whose.index()] != nullptr;
  }
  [[nodiscard]] int node_of(job_rank whose) const noexcept {
    return nodes.empty() ? 0 : nodes[whose.index()];
  }
  [[nodiscard]] std::byte* at(job_rank whose, std::uint64_t offset) const noexcept {
    SINEW_EXPECT(whose.below(size()) && maps(whose));
    return begins[whose.index()] + offset;
  }
};

/// A slot's word. The bits of the generation are as many as a handle has for it.
struct slot_word {
  std::uint32_t generation = 0;
  std::uint64_t offset = 0;  ///< of the record in the creator's heap; 0: there is no instance

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
    return static_cast<std::uint64_t>(generation) << rma::offset_bits | offset;
  }
  [[nodiscard]] static constexpr slot_word from(std::uint64_t bits) noexcept {
    return {static_cast<std::uint32_t>(bits >> rma::offset_bits),
            bits & ((std::uint64_t{1} << rma::offset_bits) - 1)};
  }
  [[nodiscard]] static constexpr std::uint32_t after(std::uint32_t generation) noexcept {
    return (generation + 1) & ((1u << instance::generation_bits) - 1);
  }
};
static_assert(rma::offset_bits + instance::generation_bits == 64, "a slot is one word");
static_assert(slot_word::from(slot_word{7, 4096}.bits()).generation == 7);
static_assert(slot_word::from(slot_word{7, 4096}.bits()).offset == 4096);
static_assert(slot_word::after((1u << instance::generation_bits) - 1) == 0, "generations wrap");

/// Any thread, if `threaded`. find() is warm, the rest cold.
class instance_table {
 public:
  /// Bytes of this rank's heap: their offset, a multiple of 8, or 0 if there are none.
  using taker = std::function<std::uint64_t(std::size_t)>;

  /// `slots_at`: offset in every heap of row_bytes(slots), which are zero at first. Without `more`
  /// a rank has no more instances than that.
  instance_table(shared_heaps heaps, std::uint64_t slots_at, std::uint32_t slots, bool threaded,
                 taker more = {});
  [[nodiscard]] static constexpr std::size_t row_bytes(std::uint32_t slots) noexcept {
    return sizeof(std::uint64_t) * (std::size_t{slots} + most_blocks);
  }

  // --- the creator's part ---

  /// Writes a record into memory of this rank's heap (record::bytes of it) and gives it a slot and
  /// a handle. Nothing if there is no slot, of the row if it is symmetric: only these have numbers
  /// left for images. Then the memory is not used.
  [[nodiscard]] std::optional<instance> enter(std::uint64_t offset, const layout& l,
                                              memory_kind kind, std::span<const job_rank> owners);
  /// Makes the handle of an instance of this rank invalid; returns the offset of its record, whose
  /// memory the caller gives back. Nothing if it is invalid already.
  [[nodiscard]] std::optional<std::uint64_t> retire(instance i);

  // --- everybody's ---

  /// Throws sinew::error for handles that stand for no instance, or for a destroyed one, and for
  /// one of another node's rank that is not known here.
  [[nodiscard]] known_ptr find(instance i) const;

  // --- instances of other nodes' ranks: known once their records have come ---

  [[nodiscard]] bool one_node() const noexcept { return heaps_.nodes.empty(); }
  /// find() needs no message, and the record does not change any more: or this rank's node has it.
  [[nodiscard]] bool knows(instance i) const;
  /// The same, but perhaps it was still being made.
  [[nodiscard]] bool has_heard_of(instance i) const;
  /// The record of an instance of this rank as others may keep it; empty: there is none.
  [[nodiscard]] std::vector<std::byte> copy_of(instance i) const;
  void learn(instance i, std::shared_ptr<std::byte[]> copy);
  void forget(instance i);

  /// The handle by which its creator knows it: of a symmetric instance, not that of an image.
  [[nodiscard]] instance base_of(instance i) const noexcept;
  [[nodiscard]] instance image_of(instance base, job_rank of) const noexcept;
  /// Whether handles have bits enough to name an image on every rank.
  [[nodiscard]] bool can_name_images() const noexcept;

  /// The first byte of a part as mapped here, or null: another rank's private memory, or memory of
  /// another node.
  [[nodiscard]] std::byte* reach(const known& k, std::uint32_t part) const noexcept;
  [[nodiscard]] bool sees(const known& k) const noexcept { return k.seen; }
  [[nodiscard]] record& record_at(job_rank creator, std::uint64_t offset) const noexcept {
    SINEW_EXPECT(offset != 0 && offset % alignof(record) == 0);
    return *reinterpret_cast<record*>(heaps_.at(creator, offset));
  }
  [[nodiscard]] std::uint64_t offset_of(const record& r) const noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&r) -
                                      heaps_.at(heaps_.rank, 0));
  }
  [[nodiscard]] const shared_heaps& heaps() const noexcept { return heaps_; }
  [[nodiscard]] job_rank rank() const noexcept { return heaps_.rank; }
  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }

 private:
  static constexpr std::size_t most_blocks = instance::index_bits;
  /// Of slots beyond the row: the block, and the place in it.
  struct beyond {
    std::size_t block;
    std::uint64_t at;
  };
  /// Numbers of slots beyond the row begin here.
  [[nodiscard]] std::uint64_t first_beyond() const noexcept {
    return (static_cast<std::uint64_t>(heaps_.size()) + 1) * slots_;
  }
  [[nodiscard]] beyond place_of(std::uint32_t index) const noexcept;
  [[nodiscard]] std::uint64_t slot_beyond(job_rank whose, std::uint32_t index) const noexcept;
  [[nodiscard]] bool grow();
  [[nodiscard]] std::optional<std::uint32_t> take_slot(bool of_row);
  [[nodiscard]] known_ptr find_far(instance i, instance base) const;
  [[nodiscard]] std::shared_ptr<known> known_from(instance i, record& r) const;
  /// Stored with release once the record is written, by its creator only; loaded with acquire.
  [[nodiscard]] std::atomic_ref<std::uint64_t> slot(job_rank whose,
                                                    std::uint32_t index) const noexcept {
    return word(whose,
                index < slots_ ? slots_at_ + 8 * std::uint64_t{index} : slot_beyond(whose, index));
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(job_rank whose,
                                                    std::uint64_t offset) const noexcept {
    SINEW_EXPECT(offset != 0);
    return std::atomic_ref<std::uint64_t>(
        *reinterpret_cast<std::uint64_t*>(heaps_.at(whose, offset)));
  }
  /// Of handles that anybody may have made up: an instance's own, or an image's.
  [[nodiscard]] bool has_slot(job_rank whose, std::uint32_t index) const noexcept {
    return index < slots_ || (index >= first_beyond() && slot_beyond(whose, index) != 0);
  }
  [[nodiscard]] static std::uint64_t cache_key(instance i) noexcept {
    return i.bits() >> instance::generation_bits;
  }

  const shared_heaps heaps_;
  const std::uint64_t slots_at_;
  const std::uint32_t slots_;
  const bool threaded_;
  const taker more_;
  mutable base::lock lock_;                                     ///< guards all below
  mutable std::unordered_map<std::uint64_t, known_ptr> cache_;  ///< by handle without generation
  struct far_record {
    instance id;
    std::shared_ptr<std::byte[]> copy;
    [[nodiscard]] record& get() const noexcept { return *reinterpret_cast<record*>(copy.get()); }
  };
  std::unordered_map<std::uint64_t, far_record> far_;  ///< likewise
  std::deque<std::uint32_t> free_;  ///< in the order of retirement: a slot rests as long as it can
  std::uint32_t fresh_ = 0;         ///< slots from here on have never been used
  std::deque<std::uint32_t> free_beyond_;  ///< likewise, beyond the row
  std::uint64_t fresh_beyond_ = 0;         ///< counted from the first beyond the row
  std::uint64_t beyond_ = 0;               ///< slots beyond the row
  std::size_t blocks_ = 0;
};

}  // namespace sinew::region
