// SPDX-License-Identifier: BSD-3-Clause
// What a window's ranks have of each other's memory, and the words by which they agree: MPI-5.0
// chapter 12 without its handles, epochs and checks.
//
// On each node a window has one piece of memory that all its ranks there map: a record for every
// rank, and behind them, where the window allocates it, the memory of this node's ranks. Puts, gets
// and accumulates there are loads and stores of the caller's. Memory that a program brings
// (MPI_Win_create, attached memory) is reached by the kernel's copies between processes. In both
// cases an operation has been done, at the target too, when its call returns: completing and
// flushing need no communication, and the two copies of MPI's separate memory model are one
// (MPI_WIN_UNIFIED). A rank on another node is reached by rma: by its puts and gets, and what
// excludes others by requests that the owner carries out (requests.cpp); what has been done there
// is known by complete().
//
// Accumulates to one rank exclude each other by a lock in that rank's record, whichever way its
// memory is reached; so they are atomic element by element, and ordered. The record that counts is
// the one on the owner's node; others have its constants only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/op.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/layout/datatype.hpp"
#include "sinew/p2p/engine.hpp"
#include "sinew/rma/engine.hpp"
#include "sinew/window/record.hpp"

namespace sinew::window {

/// A place at a rank: an address here, or, if that is null, one there.
struct place {
  std::byte* here = nullptr;
  std::uint64_t there = 0;
};

class memory {
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
  [[nodiscard]] static std::unique_ptr<memory> make(coll::participant at, placement how,
                                                    const part& mine);
  /// After a barrier behind which no rank uses it any more.
  ~memory();
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  [[nodiscard]] record& of(int rank) const noexcept {
    SINEW_EXPECT(rank >= 0 && rank < comm_.size());
    SINEW_EXPECT(shared_.base() != nullptr);
    return reinterpret_cast<record*>(shared_.base())[rank];
  }
  /// This rank's.
  [[nodiscard]] record& own() const noexcept { return of(own_); }
  /// Where the memory that the window has made for that rank lies in this process. Hot.
  [[nodiscard]] std::byte* mapped(const record& r) const noexcept {
    SINEW_EXPECT(r.offset != 0);
    return shared_.base() + r.offset;
  }
  /// Where memory of `rank` lies in this process; null: nowhere.
  [[nodiscard]] std::byte* base_of(int rank) const noexcept {
    const record& r = of(rank);
    if (r.offset != 0) {
      return mapped(r);
    }
    return rank == own_ ? reinterpret_cast<std::byte*>(r.base) : nullptr;
  }
  /// `from_base` bytes behind the base of `rank`. Hot.
  [[nodiscard]] place behind_base(int rank, std::int64_t from_base) const noexcept {
    std::byte* base = base_of(rank);
    const auto offset = static_cast<std::uint64_t>(from_base);
    return base != nullptr ? place{base + from_base, 0} : place{nullptr, of(rank).base + offset};
  }
  /// An absolute address at `rank`.
  [[nodiscard]] place at_address(int rank, std::uint64_t address) const noexcept {
    return rank == own_ ? place{reinterpret_cast<std::byte*>(address), 0} : place{nullptr, address};
  }

  // Puts and gets: copies from or to instances of `there.type`, whose addresses count from `at`;
  // `there.base` is not looked at. All have read their source when they return. False: the rank has
  // died; where true is returned it may be known only later that it has. Throw sinew::error if the
  // kernel does not let this process do it. Warm.

  [[nodiscard]] bool write(int rank, place at, const p2p::buffer& from,
                           const p2p::buffer& there) const;
  [[nodiscard]] bool read(int rank, place at, const p2p::buffer& into,
                          const p2p::buffer& there) const;
  /// The same, but the data may come up to complete() or finish_gets().
  [[nodiscard]] bool read_later(int rank, place at, const p2p::buffer& into,
                                const p2p::buffer& there) const;

  // What excludes others. These may fill `before` up to finish_gets(), and be under way at the
  // target up to complete(). Results as above. Warm.

  /// target = from (op) target, element by element of one kind; what was there goes to `before`, if
  /// that is not null. Both of these have the elements side by side.
  [[nodiscard]] bool combine(int rank, place at, const p2p::buffer& there, const coll::op& op,
                             const std::byte* from, std::byte* before) const;
  static constexpr std::size_t longest_word = 16;
  /// `before` becomes what was there; `value` is stored if that is `expected`.
  [[nodiscard]] bool compare_swap(int rank, place at, const layout::datatype& type,
                                  const void* value, const void* expected, void* before) const;
  /// Whether it is had now.
  [[nodiscard]] bool try_lock(int rank, bool exclusively) const {
    return needs_flush(rank) ? ask_to_lock(rank, exclusively) : of(rank).try_lock(exclusively);
  }
  /// Behind all that this rank has done there.
  void unlock(int rank, bool exclusively) const {
    needs_flush(rank) ? ask_to_unlock(rank, exclusively) : of(rank).unlock(exclusively);
  }

  /// Whether operations on that rank may be under way when their calls return. Hot.
  [[nodiscard]] bool needs_flush(int rank) const noexcept {
    return engine_ != nullptr && !engine_->maps(job(rank));
  }
  /// Whatever this rank has done to others has been done there, and what it gets is here. Suspends.
  void complete() const {
    if (engine_ != nullptr) [[unlikely]] {
      engine_->flush_all();
      engine_->finish_gets();
    }
  }
  /// What was to come is here. Suspends.
  void finish_gets() const {
    if (engine_ != nullptr) [[unlikely]] {
      engine_->finish_gets();
    }
  }
  /// Who knows when what is to come from that rank has come; null: it has.
  [[nodiscard]] const rma::engine* bringing(int rank) const noexcept {
    return needs_flush(rank) && !engine_->gets_ended(engine_->gets_begun()) ? engine_ : nullptr;
  }

  // Memory that is attached (MPI_Win_create_dynamic). Cold.

  /// False: a part of it is attached already. `bytes` is not 0.
  [[nodiscard]] bool attach(std::uint64_t begin, std::uint64_t bytes);
  /// False: no piece begins there.
  [[nodiscard]] bool detach(std::uint64_t begin);
  /// Whether [from, to) lies in pieces that the rank has attached, as far as one knows. Suspends.
  [[nodiscard]] bool has_attached(int rank, std::uint64_t from, std::uint64_t to) const;

 private:
  friend class exclusion;
  memory(coll::participant at, boot::memory_mapping shared);
  [[nodiscard]] job_rank job(int rank) const noexcept { return comm_.job_rank(comm_rank{rank}); }
  /// Makes engine_; all ranks, of which `near` share this node.
  void reach_others(coll::participant at, const std::vector<int>& near);
  enum class moment : std::uint8_t { now, later };
  /// Memory that is not mapped here.
  [[nodiscard]] bool elsewhere(int rank, std::uint64_t address, const p2p::buffer& packed,
                               const p2p::buffer& there, fabric::direction way,
                               moment when = moment::now) const;

  // requests.cpp
  static std::uint64_t enter(memory& made);
  static void leave(std::uint64_t name);
  void ask_to_combine(int rank, std::uint64_t address, const p2p::buffer& there, coll::op_kind op,
                      const std::byte* from, std::byte* before) const;
  void ask_to_compare_swap(int rank, std::uint64_t address, std::size_t bytes, const void* value,
                           const void* expected, void* before) const;
  [[nodiscard]] bool ask_whether(int rank, std::span<const std::byte> data) const;
  [[nodiscard]] bool ask_to_lock(int rank, bool exclusively) const;
  void ask_to_unlock(int rank, bool exclusively) const;

  fabric::endpoint& endpoint_;
  const core::communicator& comm_;
  const core::losses& losses_;
  int own_;
  std::uint32_t excluder_;  ///< what this rank writes to `accumulating`
  boot::memory_mapping shared_;
  rma::engine* engine_ = nullptr;  ///< null where all ranks share a node
  /// What this rank has attached.
  struct piece {
    std::uint64_t end;
    record::attached_memory* listed;  ///< where others see it; null: they do not
  };
  std::mutex pieces_lock_;
  std::map<std::uint64_t, piece> pieces_;  ///< by their first address; guarded by pieces_lock_
};

/// Excludes other accumulates to a rank. Held without suspending. What a rank was combining when it
/// died may be half done; the next one goes on from there, where the job does.
class exclusion {
 public:
  exclusion(const memory& in, record& r) noexcept : word_(r.accumulating) {
    std::uint32_t nobody = 0;
    if (!word_.compare_exchange_strong(nobody, in.excluder_, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]] {
      wait(in);
    }
  }
  exclusion(const exclusion&) = delete;
  exclusion& operator=(const exclusion&) = delete;
  ~exclusion() {
    SINEW_ASSERT(word_.load(std::memory_order_relaxed) != 0);
    word_.store(0, std::memory_order_release);
  }

 private:
  void wait(const memory& in) noexcept;

  std::atomic<std::uint32_t>& word_;
};

}  // namespace sinew::window
