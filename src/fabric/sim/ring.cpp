// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fabric/virtual_world.hpp"

namespace sinew::fabric::virtual_world {

// A record lies in one piece: where it would not, what is left is skipped.
record* ring::reserve(std::size_t payload) noexcept {
  SINEW_EXPECT(payload <= longest_message);
  const std::size_t needed = record_bytes(payload);
  std::uint64_t at = written.load(std::memory_order_relaxed);
  const std::size_t left = ring_bytes - at % ring_bytes;
  const std::size_t skipped = left < needed ? left : 0;
  if (at + skipped + needed - read.load(std::memory_order_acquire) > ring_bytes) {
    return nullptr;
  }
  if (skipped != 0) {
    if (skipped >= sizeof(record)) {
      reinterpret_cast<record*>(bytes + at % ring_bytes)->peer = wrap;
    }
    at += skipped;
    written.store(at, std::memory_order_release);
  }
  return reinterpret_cast<record*>(bytes + at % ring_bytes);
}

void ring::put(const record& reserved) noexcept {
  const std::size_t payload = reserved.id == credit ? 0 : reserved.size;
  written.store(written.load(std::memory_order_relaxed) + record_bytes(payload),
                std::memory_order_release);
}

record* ring::front() noexcept {
  std::uint64_t at = read.load(std::memory_order_relaxed);
  const std::uint64_t end = written.load(std::memory_order_acquire);
  while (at != end) {
    const std::size_t left = ring_bytes - at % ring_bytes;
    auto* const next = reinterpret_cast<record*>(bytes + at % ring_bytes);
    if (left >= sizeof(record) && next->peer != wrap) {
      return next;
    }
    at += left;
    read.store(at, std::memory_order_release);
  }
  return nullptr;
}

void ring::pop(const record& taken) noexcept {
  const std::size_t payload = taken.id == credit ? 0 : taken.size;
  read.store(read.load(std::memory_order_relaxed) + record_bytes(payload),
             std::memory_order_release);
}

}  // namespace sinew::fabric::virtual_world
