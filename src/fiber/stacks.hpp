// SPDX-License-Identifier: BSD-3-Clause
// Where fibers' stacks and control blocks come from: slots of address space in chunks of 512.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fiber/control.hpp"
#include "fiber/lazy_memory.hpp"
#include "fiber/memory_limit.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

inline constexpr std::uint32_t slots_per_chunk = 512;
/// Stack class c has room for 4 KiB << c.
inline constexpr std::size_t stack_classes = 20;

/// A slot is, upwards: [guard pages] stack, control block. Its number (chunk * 512 + slot) is the
/// fiber's for good; its address follows from two words per chunk, so finding a fiber by number
/// touches no memory of its own. Slots are an odd number of cache lines apart: equal frames of
/// different fibers then fall into different cache sets.
///
/// The first slots have guard pages, which cost two of the kernel's 65,530 mappings each. Later
/// ones have a canary below the stack, checked whenever the fiber is switched out, and a guard
/// below each chunk; the last chunks none, so that neighbours are one mapping. A guard is as large
/// as a frame that might jump over it (guard_of in stacks.cpp). All of it stays mapped until the
/// end: a control block is always a control block.
class stacks {
 public:
  /// Where one worker takes fresh slots of one class.
  struct cursor {
    std::uint32_t chunk = 0;
    std::uint32_t used = 0;
    std::uint32_t end = 0;  ///< slots that this chunk has
    /// A chunk number kept for this cursor, so that its fibers have low positions; or none.
    std::uint32_t reserved = nobody;
    /// The kernel's number of the NUMA node whose memory it takes, if there is any left; or -1.
    int node = -1;
  };
  struct place {
    std::byte* first = nullptr;  ///< control block of slot 0
    std::size_t stride = 0;
  };

  /// `reserved` chunk numbers are given out by cursors only. Where stacks would take more than
  /// `most_bytes` at least, there are no more. Throws sinew::error.
  stacks(std::uint32_t reserved, const guard_counts& guards, std::uint64_t most_bytes);
  ~stacks();
  stacks(const stacks&) = delete;
  stacks& operator=(const stacks&) = delete;

  /// A slot that never was used, or null: no memory, and nothing has changed. Warm.
  [[nodiscard]] fiber* carve(cursor& from, std::uint8_t stack_class) noexcept;

  /// The smallest class with so many bytes; stack_classes if none.
  [[nodiscard]] static std::uint8_t class_of(std::size_t bytes) noexcept;
  [[nodiscard]] static std::size_t bytes_of(std::uint8_t c) noexcept {
    return std::size_t{4096} << c;
  }

  /// Hot.
  [[nodiscard]] const place* table() const noexcept { return table_; }
  [[nodiscard]] static fiber* at(const place& p, std::uint32_t slot) noexcept {
    return reinterpret_cast<fiber*>(p.first + slot * p.stride);
  }
  /// Numbers below this may be in use. Grows.
  [[nodiscard]] std::uint64_t numbers() const noexcept {
    return std::uint64_t{chunks_.load(std::memory_order_acquire)} * slots_per_chunk;
  }
  /// Numbers that can ever be: as many as the machine has pages for stacks.
  [[nodiscard]] std::uint32_t most_numbers() const noexcept { return most_; }

  /// The fiber in whose guard `address` lies, or null. Usable in a signal handler.
  [[nodiscard]] fiber* guarding(const void* address) const noexcept;
  /// The fiber on whose stack `address` lies, or null. Usable in a signal handler.
  [[nodiscard]] fiber* containing(const void* address) const noexcept;
  /// cursor::node of whoever carved it.
  [[nodiscard]] int node_of(const fiber& f) const noexcept {
    return chunks_info_[f.slot / slots_per_chunk].node;
  }
  void describe(struct debug_view& to) const noexcept;
  /// Every slot ever carved.
  template <class Visit>
  void each(Visit visit) const {
    const std::uint32_t chunks = chunks_.load(std::memory_order_acquire);
    for (std::uint32_t c = 0; c < chunks; ++c) {
      const std::uint32_t carved = chunks_info_[c].carved.load(std::memory_order_acquire);
      for (std::uint32_t s = 0; s < carved; ++s) {
        visit(*at(table_[c], s));
      }
    }
  }

 private:
  struct chunk {
    std::byte* memory;
    std::size_t bytes;
    std::uint32_t guarded;
    std::uint8_t stack_class;
    int node;                 ///< see cursor
    std::size_t guard_bytes;  ///< below each guarded slot, and below the chunk; 0: all is usable
    /// Slots whose control block is written. Release by whoever carves, acquire in each().
    std::atomic<std::uint32_t> carved;
  };

  [[nodiscard]] static std::size_t least_use(const chunk& c, std::size_t stride) noexcept;
  [[nodiscard]] bool take_memory(std::size_t bytes) noexcept;
  void tell_of_refusal() noexcept;  ///< once, and not after take_memory() has
  [[nodiscard]] bool reserve(cursor& from, std::uint8_t stack_class) noexcept;
  [[nodiscard]] bool commit(const chunk& c, std::uint32_t slot, std::size_t stride) noexcept;
  [[nodiscard]] const chunk* chunk_of(const void* address) const noexcept;

  const std::uint32_t most_;
  lazy_memory table_memory_;
  lazy_memory info_memory_;
  place* table_;
  chunk* chunks_info_;
  spin_lock lock_;
  /// For slots that have not been carved yet; orders nothing, so relaxed, as the next.
  std::atomic<std::uint64_t> bytes_left_;
  std::atomic<bool> told_{false};
  guard_counts guards_left_;  ///< guarded by lock_, as is next_
  std::uint32_t next_;
  /// Entries of the table below it may be read: memory is null while a chunk is only reserved.
  std::atomic<std::uint32_t> chunks_;
};

/// Free slots of one class and one worker, last in, first out. Two batches: when both are full one
/// goes to the depot, when both are empty one comes from there; so slots freed by one worker and
/// used by another do not pile up, at a lock per batch.
class slot_cache {
 public:
  static constexpr std::uint32_t batch = 64;

  /// Batches that are too many for a worker. A batch is a list; the first of it links to the next.
  struct depot {
    spin_lock lock;
    /// Written under the lock; atomic because a look at it decides whether to take that.
    std::atomic<fiber*> batches{nullptr};
  };

  [[nodiscard]] fiber* get(depot& d) noexcept {
    if (current_ == nullptr && !refill(d)) {
      return nullptr;
    }
    fiber* f = current_;
    current_ = f->next;
    SINEW_ASSERT(count_ != 0);
    --count_;
    return f;
  }
  void put(fiber* f, depot& d) noexcept {
    SINEW_EXPECT(f->owner.load(std::memory_order_relaxed) == nobody);
    if (count_ == batch) [[unlikely]] {
      flush(d);
    }
    f->next = current_;
    current_ = f;
    ++count_;
  }

 private:
  bool refill(depot& d) noexcept;
  void flush(depot& d) noexcept;

  fiber* current_ = nullptr;
  std::uint32_t count_ = 0;  ///< of current_
  fiber* full_ = nullptr;
};

}  // namespace sinew::fiber
