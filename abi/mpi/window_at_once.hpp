// SPDX-License-Identifier: BSD-3-Clause
// The fast path of MPI_Put, MPI_Get and MPI_Win_flush, before the generated binding sets up its
// error handling (as at_once.hpp): the same predefined datatype on both sides, memory that the
// window has made, an open epoch. In all other cases, wrong arguments included, nothing has been
// done and the caller takes the general path.
#pragma once

#include <atomic>
#include <cstring>

#include "abi/mpi/type.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"

namespace sinew::mpi {

/// Hot.
[[gnu::always_inline]] inline void copy_at_once(void* to, const void* from,
                                                std::size_t bytes) noexcept {
  if (bytes == 8) [[likely]] {
    std::memcpy(to, from, 8);
  } else {
    copy_bytes(to, from, bytes);
  }
}

/// The other side's place, or null. Hot.
[[nodiscard, gnu::always_inline]] inline std::byte* other_side_at_once(
    const void* buffer, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count,
    MPI_Datatype target_type, MPI_Win win, std::size_t& bytes) noexcept {
  const std::uintptr_t t = value_of(type);
  const auto* const w = resolve<window_object>(win);
  if (!is_open() || w == nullptr || type != target_type || count != target_count || count < 0 ||
      buffer == nullptr || !is_predefined_type(t)) [[unlikely]] {
    return nullptr;
  }
  const layout::datatype* const layout = predefined_layouts[t - first_type_value];
  if (layout == nullptr || !layout->dense()) [[unlikely]] {
    return nullptr;
  }
  SINEW_ASSERT(layout->extent() == static_cast<std::ptrdiff_t>(layout->size()));
  bytes = static_cast<std::size_t>(count) * layout->size();
  return w->directly(target, disp, count, layout->size());
}

/// Hot.
[[nodiscard, gnu::always_inline]] inline bool put_at_once(const void* origin, int count,
                                                          MPI_Datatype type, int target,
                                                          MPI_Aint disp, int target_count,
                                                          MPI_Datatype target_type,
                                                          MPI_Win win) noexcept {
  std::size_t bytes = 0;
  std::byte* const there =
      other_side_at_once(origin, count, type, target, disp, target_count, target_type, win, bytes);
  if (there == nullptr) [[unlikely]] {
    return false;
  }
  copy_at_once(there, origin, bytes);
  return true;
}

/// Hot.
[[nodiscard, gnu::always_inline]] inline bool got_at_once(void* origin, int count,
                                                          MPI_Datatype type, int target,
                                                          MPI_Aint disp, int target_count,
                                                          MPI_Datatype target_type,
                                                          MPI_Win win) noexcept {
  std::size_t bytes = 0;
  const std::byte* const there =
      other_side_at_once(origin, count, type, target, disp, target_count, target_type, win, bytes);
  if (there == nullptr) [[unlikely]] {
    return false;
  }
  copy_at_once(origin, there, bytes);
  return true;
}

/// Of most ranks operations have been done when their calls return: what is left is their order
/// with accesses to other memory (as in win_sync.cpp). Hot.
[[nodiscard, gnu::always_inline]] inline bool flushed_at_once(int rank, MPI_Win win) noexcept {
  const auto* const w = resolve<window_object>(win);
  const std::size_t r = static_cast<unsigned>(rank);
  if (!is_open() || w == nullptr || r >= w->locks.size() || !w->locks[r].at_once()) [[unlikely]] {
    return false;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace sinew::mpi
