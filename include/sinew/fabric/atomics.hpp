// SPDX-License-Identifier: BSD-3-Clause
// The fabric's atomic operations on memory that this process can reach. Sequentially consistent:
// who waits for memory relies on that (rma, waiting.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/fabric/corrupt.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

/// Returns the old value. Hot.
template <class Word>
Word apply_atomic(atomic_op op, std::atomic_ref<Word> target, Word operand,
                  Word compare = {}) noexcept {
  switch (op) {
    case atomic_op::add:
    case atomic_op::fetch_add:
      return target.fetch_add(operand);
    case atomic_op::swap:
      return target.exchange(operand);
    case atomic_op::compare_swap:
      (void)target.compare_exchange_strong(compare, operand);
      return compare;
    case atomic_op::fetch_and:
      return target.fetch_and(operand);
    case atomic_op::fetch_or:
      return target.fetch_or(operand);
    case atomic_op::fetch_xor:
      return target.fetch_xor(operand);
  }
  return {};
}

/// The same on a word of 4 or 8 bytes, aligned to that. Hot.
inline std::uint64_t apply_atomic(atomic_op op, void* at, std::size_t width, std::uint64_t operand,
                                  std::uint64_t compare) noexcept {
  SINEW_EXPECT((width == 4 || width == 8) && reinterpret_cast<std::uintptr_t>(at) % width == 0);
  if (width == 8) {
    return apply_atomic(op, std::atomic_ref(*static_cast<std::uint64_t*>(at)), operand, compare);
  }
  return apply_atomic(op, std::atomic_ref(*static_cast<std::uint32_t*>(at)),
                      static_cast<std::uint32_t>(operand), static_cast<std::uint32_t>(compare));
}

/// The same as `asker`, another rank, wants it by a message. What is no atomic of an aligned word
/// ends the process (corrupt.hpp). Warm.
inline std::uint64_t apply_asked_atomic(job_rank asker, std::uint8_t op, void* at,
                                        std::uint64_t width, std::uint64_t operand,
                                        std::uint64_t compare) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if ((width != 4 && width != 8) || address % width != 0 ||
      op > static_cast<std::uint8_t>(atomic_op::fetch_xor)) [[unlikely]] {
    corrupt_peer(asker, "it asks for an atomic operation that there is not", address);
  }
  return apply_atomic(static_cast<atomic_op>(op), at, width, operand, compare);
}

}  // namespace sinew::fabric
