// What a window's ranks have of each other's memory, and the words by which they agree. Knows no
// handles.
//
// On each node a window has one piece of memory that all its ranks there map: a record for every
// rank, and behind them, where the window allocates it, the memory of this node's ranks. Puts, gets
// and accumulates there are loads and stores of the caller's. Memory that a program brings
// (MPI_Win_create, attached memory) is reached by the kernel's copies between processes. In both
// cases an operation has been done, at the target too, when its call returns: completing and
// flushing need no communication, and the two copies of MPI's separate memory model are one
// (MPI_WIN_UNIFIED). A rank on another node is reached by messages (window_far.hpp); what has been
// done there is known by complete().
//
// Accumulates to one rank exclude each other by a lock in that rank's record, whichever way its
// memory is reached; so they are atomic element by element, and ordered. The record that counts is
// the one on the owner's node; others have its constants only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/mpi/window_far.hpp"
#include "sinew/base/check.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi {

/// Of one rank, in memory that all map.
struct alignas(64) window_record {
  static constexpr std::size_t most_listed = 64;

  /// MPI_Win_lock: how many hold it shared, or `exclusive`. Acquired and released with those
  /// orders: what the last holder has stored is seen by the next.
  std::atomic<std::uint32_t> lock;
  static constexpr std::uint32_t exclusive = 1U << 31;
  /// While a rank accumulates to this one: its number in the job plus 1; orders likewise.
  std::atomic<std::uint32_t> accumulating;
  std::uint64_t name;    ///< of the window, among those of its rank; 0: on one node
  std::uint64_t base;    ///< in the rank's own address space
  std::uint64_t bytes;   ///< of its memory
  std::uint64_t offset;  ///< of its memory in the mapping; 0: it is not there
  std::int64_t unit;     ///< displacement unit
  /// Attached memory: first address and the one behind the last; equal: none. Written by the owner,
  /// the end first and last 0, so that no reader sees memory that is not attached.
  struct attached_memory {
    std::atomic<std::uint64_t> begin;
    std::atomic<std::uint64_t> end;
  } attached[most_listed];
  /// Pieces beside those, of which others cannot know where they lie. Released by the owner after
  /// the piece is there.
  std::atomic<std::uint32_t> unlisted;

  /// Whether it is had now.
  [[nodiscard]] bool try_lock(bool exclusively) noexcept;
  void unlock(bool exclusively) noexcept;
  /// Whether [from, to) lies in attached pieces, as far as one knows.
  [[nodiscard]] bool has_attached(std::uint64_t from, std::uint64_t to) const noexcept;
};

// Processes share the records.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(window_record) % 64 == 0);

inline bool window_record::try_lock(bool exclusively) noexcept {
  std::uint32_t now = 0;
  if (exclusively) {
    return lock.compare_exchange_strong(now, exclusive, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  now = lock.load(std::memory_order_relaxed);
  while ((now & exclusive) == 0) {
    if (lock.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                   std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

inline void window_record::unlock(bool exclusively) noexcept {
  if (exclusively) {
    SINEW_ASSERT(lock.load(std::memory_order_relaxed) == exclusive);
    lock.store(0, std::memory_order_release);
    return;
  }
  [[maybe_unused]] const std::uint32_t before = lock.fetch_sub(1, std::memory_order_release);
  SINEW_ASSERT(before != 0 && (before & exclusive) == 0);
}

/// A place at a rank: an address here, or, if that is null, one there.
struct window_place {
  std::byte* here = nullptr;
  std::uint64_t there = 0;
};

class window_memory {
 public:
  enum class placement { own, separate, contiguous };  ///< own: the program brings it
  /// What a rank brings to make().
  struct part {
    void* base;
    std::uint64_t bytes;
    std::int64_t unit;
  };

  /// Collective over `at`. Throws sinew::error, on all ranks, if there is no memory. Suspends.
  /// Cold.
  [[nodiscard]] static std::unique_ptr<window_memory> make(coll::participant at, placement how,
                                                           const part& mine);

  [[nodiscard]] window_record& of(int rank) const noexcept {
    SINEW_EXPECT(rank >= 0 && rank < comm_.size());
    SINEW_EXPECT(shared_.base() != nullptr);
    return reinterpret_cast<window_record*>(shared_.base())[rank];
  }
  /// Where the memory that the window has made for that rank lies in this process. Hot.
  [[nodiscard]] std::byte* mapped(const window_record& r) const noexcept {
    SINEW_EXPECT(r.offset != 0);
    return shared_.base() + r.offset;
  }
  /// Where memory of `rank` lies in this process; null: nowhere.
  [[nodiscard]] std::byte* base_of(int rank) const noexcept {
    const window_record& r = of(rank);
    if (r.offset != 0) {
      return mapped(r);
    }
    return rank == own_ ? reinterpret_cast<std::byte*>(r.base) : nullptr;
  }
  /// `from_base` bytes behind the base of `rank`. Hot.
  [[nodiscard]] window_place place(int rank, std::int64_t from_base) const noexcept {
    std::byte* base = base_of(rank);
    const auto offset = static_cast<std::uint64_t>(from_base);
    return base != nullptr ? window_place{base + from_base, 0}
                           : window_place{nullptr, of(rank).base + offset};
  }
  /// How a rank of another node is reached; null: it is on this one.
  [[nodiscard]] const window_far* far(int rank) const noexcept {
    return far_ != nullptr && far_->has(rank) ? far_.get() : nullptr;
  }
  /// Whatever this rank has done to ranks of other nodes has been done there. Suspends.
  void complete() const {
    if (far_ != nullptr) [[unlikely]] {
      far_->complete();
    }
  }
  /// An absolute address at `rank`.
  [[nodiscard]] window_place at_address(int rank, std::uint64_t address) const noexcept {
    return rank == own_ ? window_place{reinterpret_cast<std::byte*>(address), 0}
                        : window_place{nullptr, address};
  }

  /// Copies from or to instances of `there.type`, whose addresses count from `at`; `there.base` is
  /// not looked at. Throws sinew::error if the kernel does not let this process do it. Warm.
  void write(int rank, window_place at, const p2p::buffer& from, const p2p::buffer& there) const;
  void read(int rank, window_place at, const p2p::buffer& into, const p2p::buffer& there) const;
  /// The same, but from a rank of another node the data may come up to complete() or finish_gets().
  void read_later(int rank, window_place at, const p2p::buffer& into,
                  const p2p::buffer& there) const;
  /// What read_later() has begun is here. Suspends.
  void finish_gets() const {
    if (far_ != nullptr) [[unlikely]] {
      far_->finish_gets();
    }
  }

 private:
  window_memory(coll::participant at, boot::memory_mapping shared)
      : endpoint_(at.engine.runtime().endpoint()),
        comm_(at.comm),
        own_(at.comm.rank().value()),
        shared_(std::move(shared)) {}
  /// Makes far_; all ranks, of which `near` share this node.
  void reach_far(coll::participant at, const std::vector<int>& near);
  enum class moment : std::uint8_t { now, later };
  /// Memory that is not mapped here.
  void elsewhere(int rank, std::uint64_t address, const p2p::buffer& packed,
                 const p2p::buffer& there, fabric::direction way, moment when = moment::now) const;

  fabric::endpoint& endpoint_;
  const core::communicator& comm_;
  int own_;
  boot::memory_mapping shared_;
  std::unique_ptr<window_far> far_;  ///< null where all ranks share a node
};

/// Excludes other accumulates to a rank. Held without suspending. What a rank was combining when it
/// died may be half done; the next one goes on from there, where the job does.
class accumulating {
 public:
  explicit accumulating(window_record& r) noexcept;
  accumulating(const accumulating&) = delete;
  accumulating& operator=(const accumulating&) = delete;
  ~accumulating() {
    SINEW_ASSERT(word_.load(std::memory_order_relaxed) != 0);
    word_.store(0, std::memory_order_release);
  }

 private:
  void wait(std::uint32_t mine) noexcept;

  std::atomic<std::uint32_t>& word_;
};

}  // namespace sinew::mpi
