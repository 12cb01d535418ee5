#include "fabric/shm/cma.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace sinew::fabric::shm {
namespace {

template <class Call>
bool move_all(Call call, pid_t pid, std::byte* local, std::uint64_t remote, std::size_t bytes) {
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
    skip = left;
  }
  return nullptr;
}

}  // namespace

const piece* read_process(pid_t from, std::span<const piece> pieces) noexcept {
  return move_pieces(&process_vm_readv, from, pieces);
}

const piece* write_process(pid_t to, std::span<const piece> pieces) noexcept {
  return move_pieces(&process_vm_writev, to, pieces);
}

bool read_process(pid_t from, void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  return move_all(&process_vm_readv, from, static_cast<std::byte*>(local), remote, bytes);
}

bool write_process(pid_t to, const void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  // The kernel only reads through `here`.
  return move_all(&process_vm_writev, to,
                  const_cast<std::byte*>(static_cast<const std::byte*>(local)), remote, bytes);
}

}  // namespace sinew::fabric::shm
