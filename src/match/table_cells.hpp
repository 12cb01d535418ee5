// SPDX-License-Identifier: BSD-3-Clause
// The memory under the concurrent table: cells of one cache line, in address space that is reserved
// once and touched as needed, so that a cell's address never changes and nothing must be reclaimed.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {

/// One line of memory in one of three roles. All zero (a fresh page) is a bucket not yet born.
///
/// bucket: control {held, level, chain}, small[i], word[i], word[3+i]: context, envelope and value
///         of entry i; a value of 0 means that the entry is free.
/// spill:  the same entries; control holds only the chain.
/// queue:  control's chain is the next cell, in a ring; values in word[small[0]..small[1]).
struct alignas(64) cell {
  std::atomic<std::uint32_t> control;
  std::uint32_t small[3];
  std::uint64_t word[6];
};
static_assert(sizeof(cell) == 64, "one cache line");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Address space for `count` cells, all zero, touched lazily.
class cell_range {
 public:
  explicit cell_range(std::size_t count) : bytes_(count * sizeof(cell)) {
    // A huge page more than asked for, so that the cells can begin at one.
    void* at = mmap(nullptr, bytes_ + huge, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SINEW_CHECK(at != MAP_FAILED, "no address space for a matching table",
                std::to_string(bytes_ >> 20) + " MiB were refused",
                "ask for fewer most_lines and most_cells, or lift the limit (ulimit -v)");
    mapped_ = at;
    const auto address = (reinterpret_cast<std::uintptr_t>(at) + huge - 1) / huge * huge;
    cells_ = reinterpret_cast<cell*>(address);
    SINEW_ENSURE(address + bytes_ <= reinterpret_cast<std::uintptr_t>(at) + bytes_ + huge);
  }
  ~cell_range() { (void)munmap(mapped_, bytes_ + huge); }
  cell_range(const cell_range&) = delete;
  cell_range& operator=(const cell_range&) = delete;

  [[nodiscard]] cell& operator[](std::size_t i) const noexcept {
    SINEW_EXPECT(i < bytes_ / sizeof(cell));
    return cells_[i];
  }
  /// In bytes.
  [[nodiscard]] cell& at_offset(std::size_t offset) const noexcept {
    SINEW_EXPECT(offset < bytes_ && offset % sizeof(cell) == 0);
    return *reinterpret_cast<cell*>(reinterpret_cast<std::byte*>(cells_) + offset);
  }

  /// Asks for huge pages from cell `from` on: cells that are visited at random want few pages.
  void use_huge_pages(std::size_t from) const noexcept {
    from = (from * sizeof(cell) + huge - 1) / huge * huge;
    if (from < bytes_) {
      (void)madvise(&cells_[from / sizeof(cell)], bytes_ - from, MADV_HUGEPAGE);
    }
  }

  /// Makes whole pages of [from, to) fresh again; the rest keeps its content. The caller sees to it
  /// that nothing is stored there.
  void forget(std::size_t from, std::size_t to) const noexcept {
    constexpr std::size_t per_page = 4096 / sizeof(cell);
    from = (from + per_page - 1) / per_page * per_page;
    to = to / per_page * per_page;
    if (from < to) {
      (void)madvise(cells_ + from, (to - from) * sizeof(cell), MADV_DONTNEED);
    }
  }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
  cell* cells_ = nullptr;
  std::size_t bytes_;
  void* mapped_ = nullptr;
};

/// Free cells by index; 0 is none. Striped, so that threads seldom meet; a cell goes back to the
/// stripe of the bucket for which it was taken, so stripes stay balanced by themselves.
template <class Steps>
class cell_stock {
 public:
  static constexpr std::size_t stripes = 16;

  explicit cell_stock(std::size_t most)
      : cells_(most + 1), end_(static_cast<std::uint32_t>(most + 1)) {}

  [[nodiscard]] cell& operator[](std::uint32_t i) const noexcept { return cells_[i]; }

  /// 0 when all are in use.
  [[nodiscard]] std::uint32_t take(std::size_t stripe) noexcept {
    for (std::size_t i = 0; i < stripes; ++i) {
      if (const std::uint32_t c = take_from(stripes_[(stripe + i) % stripes])) {
        return c;
      }
    }
    return 0;
  }

  void put(std::size_t stripe, std::uint32_t c) noexcept {
    SINEW_EXPECT(c != 0 && c < end_);
    part& p = stripes_[stripe % stripes];
    acquire(p);
    cells_[c].control.store(p.first, std::memory_order_relaxed);
    p.first = c;
    ++p.count;
    release(p);
  }

  /// If no cell is in use, returns the memory of all. Cold.
  void forget_if_unused() noexcept {
    for (part& p : stripes_) {
      acquire(p);
    }
    std::uint32_t free = 0;
    for (const part& p : stripes_) {
      free += p.count;
    }
    // fresh_ changes only under some stripe's lock: it stands still now.
    const std::uint32_t fresh = fresh_.load(std::memory_order_relaxed);
    SINEW_ASSERT(fresh >= 1 && fresh <= end_ && free < fresh);
    if (free == fresh - 1) {
      for (part& p : stripes_) {
        p.first = p.count = 0;
      }
      cells_.forget(0, fresh + 63);
      fresh_.store(1, std::memory_order_relaxed);
    }
    for (part& p : stripes_) {
      release(p);
    }
  }

  [[nodiscard]] std::size_t touched() const noexcept {
    return fresh_.load(std::memory_order_relaxed) - 1;
  }

 private:
  struct alignas(64) part {
    std::atomic<bool> held{false};  ///< guards the rest: taking is an acquire, leaving a release
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  [[nodiscard]] std::uint32_t take_from(part& p) noexcept {
    acquire(p);
    std::uint32_t c = p.first;
    SINEW_ASSERT((c == 0) == (p.count == 0));
    if (c != 0) {
      p.first = cells_[c].control.load(std::memory_order_relaxed);
      --p.count;
    } else {
      // Relaxed: it only hands out numbers, and a cell's content begins with its new owner.
      c = fresh_.load(std::memory_order_relaxed);
      while (c < end_ && !fresh_.compare_exchange_weak(c, c + 1, std::memory_order_relaxed)) {
      }
      if (c >= end_) {
        c = 0;
      }
    }
    release(p);
    SINEW_ENSURE(c < end_);
    return c;
  }

  static void acquire(part& p) noexcept {
    for (unsigned attempt = 0; Steps::step(), p.held.exchange(true, std::memory_order_acquire);
         ++attempt) {
      Steps::wait(attempt);
    }
  }
  static void release(part& p) noexcept {
    Steps::step();
    p.held.store(false, std::memory_order_release);
  }

  cell_range cells_;
  std::uint32_t end_;
  std::atomic<std::uint32_t> fresh_{1};  ///< the first that was never used; see take_from
  std::array<part, stripes> stripes_;
};

}  // namespace sinew::match
