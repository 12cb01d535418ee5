// SPDX-License-Identifier: BSD-3-Clause
// Windows behind their handles (MPI-5.0 chapter 12).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/world.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/window/memory.hpp"

namespace sinew::mpi {

/// Whether and how this rank has locked another one's window. There is one for each rank.
class window_lock {
 public:
  window_lock() = default;
  window_lock(bool exclusive, bool checked, bool at_once) noexcept
      : bits_(static_cast<std::uint8_t>(held_bit | (exclusive ? exclusive_bit : 0) |
                                        (checked ? checked_bit : 0) |
                                        (at_once ? at_once_bit : 0))) {}
  [[nodiscard]] bool held() const noexcept { return bits_ != 0; }
  [[nodiscard]] bool exclusive() const noexcept { return (bits_ & exclusive_bit) != 0; }
  /// Its owner has been asked; else MPI_MODE_NOCHECK promises that it need not be.
  [[nodiscard]] bool checked() const noexcept { return (bits_ & checked_bit) != 0; }
  /// Operations have been done when their calls return: no flush is needed.
  [[nodiscard]] bool at_once() const noexcept { return (bits_ & at_once_bit) != 0; }

 private:
  static constexpr unsigned held_bit = 1;
  static constexpr unsigned exclusive_bit = 2;
  static constexpr unsigned checked_bit = 4;
  static constexpr unsigned at_once_bit = 8;
  std::uint8_t bits_ = 0;
};

struct window_object : object {
  static constexpr kind tag = kind::window;
  window_object() : object(tag) {}

  comm_object* comm = nullptr;  ///< its own, of the window's ranks; has its error handler
  std::unique_ptr<window::memory> memory;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  /// Not 0: operations have more to do than usual. Changed by observe() while other threads look;
  /// a tool need not see what happens at the same time, so relaxed.
  static constexpr std::uint8_t dynamic = 1;   ///< the flavor
  static constexpr std::uint8_t observed = 2;  ///< by a performance variable
  std::atomic<std::uint8_t> special{0};
  int model = MPI_WIN_UNIFIED;
  int unit = 1;  ///< these two: what MPI_Win_get_attr points to
  MPI_Aint bytes = 0;
  std::string name;
  attributes attached;
  info_object* hints = nullptr;  ///< what MPI_Win_get_info returns

  void observe(bool wanted) noexcept {
    if (wanted) {
      special.fetch_or(observed, std::memory_order_relaxed);
    } else {
      special.fetch_and(static_cast<std::uint8_t>(~observed), std::memory_order_relaxed);
    }
  }

  // Epochs. A rank's own; several threads may use an epoch, one opens or closes it.
  bool fence_open = false;
  std::vector<window_lock> locks;       ///< MPI_Win_lock and MPI_Win_lock_all, by rank
  bool all_held = false;                ///< MPI_Win_lock_all
  std::vector<int> started;             ///< MPI_Win_start: the targets
  std::vector<bool> is_started;         ///< by rank; empty: no such epoch
  std::vector<int> posted;              ///< MPI_Win_post: the origins
  std::vector<p2p::request*> arrivals;  ///< what those send when they complete
  bool is_posted = false;

  /// Whether operations on `target` may be called now.
  [[nodiscard]] bool access_open(int target) const noexcept {
    const auto t = static_cast<std::size_t>(target);
    SINEW_EXPECT(t < locks.size());
    SINEW_ASSERT(is_started.empty() || is_started.size() == locks.size());
    return fence_open || all_held || locks[t].held() || (!is_started.empty() && is_started[t]);
  }

  /// Where `count` times `size` bytes lie at `target`, if the call is a usual one: an epoch is
  /// open, the bytes are inside the window and mapped here, and nobody counts. Otherwise null: the
  /// general way does it, or says what is wrong. Hot.
  [[nodiscard]] std::byte* directly(int target, MPI_Aint disp, MPI_Count count,
                                    std::size_t size) const noexcept {
    const std::size_t t = static_cast<unsigned>(target);
    if (t >= locks.size() || special.load(std::memory_order_relaxed) != 0 || !access_open(target))
        [[unlikely]] {
      return nullptr;
    }
    const window::record& r = memory->of(target);
    std::int64_t begin = 0;
    std::uint64_t wanted = 0;
    if (count < 0 || r.offset == 0 || __builtin_mul_overflow(disp, r.unit, &begin) || begin < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(count), size, &wanted) ||
        wanted > r.bytes || static_cast<std::uint64_t>(begin) > r.bytes - wanted) [[unlikely]] {
      return nullptr;
    }
    SINEW_ENSURE(memory->base_of(target) != nullptr);
    return memory->mapped(r) + begin;
  }
};

/// Throws MPI_ERR_WIN. Cold.
[[noreturn, gnu::cold]] void bad_window(MPI_Win handle);
/// The window, or MPI_ERR_WIN. Hot.
[[nodiscard]] inline window_object& window_of(MPI_Win handle) {
  auto* found = resolve<window_object>(handle);
  if (found == nullptr) [[unlikely]] {
    bad_window(handle);
  }
  SINEW_ENSURE(found->memory != nullptr && found->comm != nullptr);
  return *found;
}

/// Runs a call on a window: what goes wrong is for the window's error handler.
template <class Call>
int on_window(MPI_Win win, Call call) {
  window_object& w = window_of(win);
  try {
    return call(w);
  } catch (failure& f) {
    if (f.comm == nullptr) {
      f.comm = w.comm;
    }
    throw;
  }
}

inline void check_target(const window_object& w, int rank) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(w.comm->comm->size())) [[unlikely]] {
    bad_rank(*w.comm, rank, "target rank");
  }
}

/// Throws MPIX_ERR_PROC_FAILED if that rank has died, where the others go on, or could not be
/// reached because of that. What was read from it before means nothing then.
inline void check_lives(const window_object& w, int rank, bool reached = true) {
  const core::communicator& c = *w.comm->comm;
  if (!reached || process.engine->is_dead(c.job_rank(comm_rank{rank}))) [[unlikely]] {
    fail(MPIX_ERR_PROC_FAILED, "rank %d has died", rank);
  }
}
/// The same for all ranks of the window.
inline void check_all_live(const window_object& w) {
  if (process.engine->has_dead(*w.comm->comm)) [[unlikely]] {
    fail(MPIX_ERR_PROC_FAILED, "a rank of the window has died");
  }
}

}  // namespace sinew::mpi
