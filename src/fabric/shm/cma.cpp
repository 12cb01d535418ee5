// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/shm/cma.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>

#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"

namespace sinew::fabric::shm {
namespace {

template <class Call>
bool move_all(Call call, pid_t pid, std::byte* local, std::uint64_t remote, std::size_t bytes) {
  SINEW_EXPECT(pid > 0);
  while (bytes > 0) {
    const iovec here{local, bytes};
    const iovec there{reinterpret_cast<void*>(remote), bytes};
    const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) {
      if (moved < 0 && errno == EINTR) {
        continue;
      }
      return false;
    }
    const auto n = static_cast<std::size_t>(moved);
    SINEW_ASSERT(n <= bytes);
    local += n;
    remote += n;
    bytes -= n;
  }
  return true;
}

template <class Call>
const piece* move_pieces(Call call, pid_t pid, std::span<const piece> pieces) {
  constexpr std::size_t batch = 256;  // iovecs of both sides: 8 KiB of stack
  iovec here[batch];
  iovec there[batch];
  std::size_t skip = 0;  // bytes of the first piece that have been moved
  for (std::size_t at = 0; at < pieces.size();) {
    const std::size_t n = std::min(batch, pieces.size() - at);
    for (std::size_t i = 0; i < n; ++i) {
      const piece& p = pieces[at + i];
      const std::size_t moved = i == 0 ? skip : 0;
      here[i] = {static_cast<std::byte*>(p.local) + moved, p.bytes - moved};
      there[i] = {reinterpret_cast<void*>(p.remote + moved), p.bytes - moved};
    }
    const ssize_t moved = call(pid, here, n, there, n, 0);
    if (moved < 0 && errno == EINTR) {
      continue;
    }
    if (moved < 0) {
      return &pieces[at];
    }
    // The kernel may stop early; what stopped it shows when the rest is tried.
    auto left = static_cast<std::size_t>(moved) + skip;
    const std::size_t before = at;
    while (at < before + n && left >= pieces[at].bytes) {
      left -= pieces[at].bytes;
      ++at;
    }
    if (at == before && left == skip) {
      return &pieces[at];
    }
    SINEW_ASSERT(at == pieces.size() ? left == 0 : left < pieces[at].bytes || left == 0);
    skip = left;
  }
  return nullptr;
}

/// The kernel copies by the processor's own instruction, so where that is slow (base/copy.hpp) a
/// piece of memory in between is faster, placed within its page as the other process's is.
class between {
 public:
  static constexpr std::size_t room = std::size_t{32} << 10;

  /// Null if there is no memory for it. Of this thread: nothing here suspends.
  static std::byte* placed_as(std::uint64_t remote) noexcept {
    thread_local const std::unique_ptr<block> mine(new (std::nothrow) block);
    return mine == nullptr ? nullptr : mine->data() + remote % page;
  }

 private:
  static constexpr std::size_t page = 4096;
  struct alignas(page) block : std::array<std::byte, room + page> {};
};

bool needs_between(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  return bytes >= least_odd_copy && copies_oddly(to, from);
}

}  // namespace

const piece* read_process(pid_t from, std::span<const piece> pieces) noexcept {
  return move_pieces(&process_vm_readv, from, pieces);
}

const piece* write_process(pid_t to, std::span<const piece> pieces) noexcept {
  return move_pieces(&process_vm_writev, to, pieces);
}

bool read_process(pid_t from, void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  auto* to = static_cast<std::byte*>(local);
  if (needs_between(reinterpret_cast<std::uintptr_t>(to), remote, bytes)) {
    if (std::byte* const piece = between::placed_as(remote)) {
      for (std::size_t n = 0; bytes > 0; to += n, remote += n, bytes -= n) {
        n = std::min(bytes, between::room);
        if (!move_all(&process_vm_readv, from, piece, remote, n)) {
          return false;
        }
        copy_lines(to, piece, n);
      }
      return true;
    }
  }
  return move_all(&process_vm_readv, from, to, remote, bytes);
}

bool write_process(pid_t to, const void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(local);
  if (needs_between(remote, reinterpret_cast<std::uintptr_t>(from), bytes)) {
    if (std::byte* const piece = between::placed_as(remote)) {
      for (std::size_t n = 0; bytes > 0; from += n, remote += n, bytes -= n) {
        n = std::min(bytes, between::room);
        copy_lines(piece, from, n);
        if (!move_all(&process_vm_writev, to, piece, remote, n)) {
          return false;
        }
      }
      return true;
    }
  }
  // The kernel only reads through `here`.
  return move_all(&process_vm_writev, to, const_cast<std::byte*>(from), remote, bytes);
}

}  // namespace sinew::fabric::shm
