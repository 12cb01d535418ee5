#include "fabric/shm/cma.hpp"

#include <sys/uio.h>

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

}  // namespace

bool read_process(pid_t from, void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  return move_all(&process_vm_readv, from, static_cast<std::byte*>(local), remote, bytes);
}

bool write_process(pid_t to, const void* local, std::uint64_t remote, std::size_t bytes) noexcept {
  // The kernel only reads through `here`.
  return move_all(&process_vm_writev, to,
                  const_cast<std::byte*>(static_cast<const std::byte*>(local)), remote, bytes);
}

}  // namespace sinew::fabric::shm
