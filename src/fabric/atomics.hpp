// The fabric's atomic operations on memory that this process can reach.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

template <class Word>
[[nodiscard]] Word apply_atomic(atomic_op op, Word& at, Word operand, Word compare) noexcept {
  const std::atomic_ref<Word> target(at);
  constexpr auto order = std::memory_order_acq_rel;
  switch (op) {
    case atomic_op::add:
    case atomic_op::fetch_add:
      return target.fetch_add(operand, order);
    case atomic_op::swap:
      return target.exchange(operand, order);
    case atomic_op::compare_swap:
      target.compare_exchange_strong(compare, operand, order, std::memory_order_acquire);
      return compare;
    case atomic_op::fetch_and:
      return target.fetch_and(operand, order);
    case atomic_op::fetch_or:
      return target.fetch_or(operand, order);
    case atomic_op::fetch_xor:
      return target.fetch_xor(operand, order);
  }
  return {};
}

/// Returns the old value. `width` is 4 or 8, the address aligned to it. Hot.
[[nodiscard]] inline std::uint64_t apply_atomic(atomic_op op, void* at, std::size_t width,
                                                std::uint64_t operand,
                                                std::uint64_t compare) noexcept {
  SINEW_EXPECT((width == 4 || width == 8) && reinterpret_cast<std::uintptr_t>(at) % width == 0);
  if (width == 8) {
    return apply_atomic<std::uint64_t>(op, *static_cast<std::uint64_t*>(at), operand, compare);
  }
  return apply_atomic<std::uint32_t>(op, *static_cast<std::uint32_t*>(at),
                                     static_cast<std::uint32_t>(operand),
                                     static_cast<std::uint32_t>(compare));
}

}  // namespace sinew::fabric
