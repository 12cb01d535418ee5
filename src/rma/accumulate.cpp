// SPDX-License-Identifier: BSD-3-Clause
// Accumulate: element by element with the processor's atomics, so that it is atomic against the
// engine's other atomics, too.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "rma/far.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::rma {
namespace {

template <class T>
[[nodiscard]] T combined_bits(T old, T operand, combine op) noexcept {
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case combine::bit_and:
        return static_cast<T>(old & operand);
      case combine::bit_or:
        return static_cast<T>(old | operand);
      case combine::bit_xor:
        return static_cast<T>(old ^ operand);
      default:
        break;
    }
  }
  SINEW_EXPECT(false && "bit operations are for integers");
  return old;
}

template <class T>
[[nodiscard]] T combined(T old, T operand, combine op) noexcept {
  // Integers wrap: computed modulo 2^64 and cut off.
  using wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  switch (op) {
    case combine::sum:
      return static_cast<T>(static_cast<wide>(old) + static_cast<wide>(operand));
    case combine::product:
      return static_cast<T>(static_cast<wide>(old) * static_cast<wide>(operand));
    case combine::min:
      return std::min(old, operand);
    case combine::max:
      return std::max(old, operand);
    case combine::replace:
      return operand;
    case combine::keep:
      return old;
    default:
      return combined_bits(old, operand, op);
  }
}

template <class T>
T apply(std::atomic_ref<T> target, T operand, combine op) noexcept {
  if constexpr (std::is_integral_v<T>) {
    if (op == combine::sum) {
      return target.fetch_add(operand, std::memory_order_seq_cst);
    }
  }
  T old = target.load(std::memory_order_acquire);
  // Sequentially consistent as every atomic of the engine (waiting.cpp says why). `keep` stores
  // what is there, so that it is atomic like the rest.
  while (!target.compare_exchange_weak(old, combined(old, operand, op), std::memory_order_seq_cst,
                                       std::memory_order_acquire)) {
  }
  return old;
}

/// Calls work(T{}) with the type that `e` names.
template <class Work>
void with_type(element e, Work work) {
  switch (e) {
    case element::i8:
      return work(std::int8_t{});
    case element::i16:
      return work(std::int16_t{});
    case element::i32:
      return work(std::int32_t{});
    case element::i64:
      return work(std::int64_t{});
    case element::u8:
      return work(std::uint8_t{});
    case element::u16:
      return work(std::uint16_t{});
    case element::u32:
      return work(std::uint32_t{});
    case element::u64:
      return work(std::uint64_t{});
    case element::f32:
      return work(float{});
    case element::f64:
      return work(double{});
  }
}

template <class T>
T read(const void* from, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void write(void* to, std::size_t i, T value) noexcept {
  std::memcpy(static_cast<std::byte*>(to) + i * sizeof(T), &value, sizeof(T));
}

}  // namespace

void engine::accumulate(place to, const void* from, std::size_t count, element type, combine op,
                        void* before) {
  SINEW_EXPECT(count <= (shape_.bytes - to.offset) / size_of(type));
  if (!maps(to.rank)) [[unlikely]] {
    order_far_puts(to.rank);
    far_->combine_at(far_ranks::at(to), {from, count, type, op, before});
    puts_.note(to.rank);
    return;
  }
  order_far_puts();
  accumulate_mapped(at(to), from, count, type, op, before);
  alert(to.rank);
}

void engine::accumulate_mapped(std::byte* to, const void* from, std::size_t count, element type,
                               combine op, void* before) noexcept {
  SINEW_EXPECT(reinterpret_cast<std::uintptr_t>(to) % size_of(type) == 0);
  SINEW_EXPECT(count == 0 || (to != nullptr && (from != nullptr || op == combine::keep)));
  with_type(type, [&]<class T>(T) {
    T* target = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      const T operand = op == combine::keep ? T{} : read<T>(from, i);
      const T old = apply(std::atomic_ref<T>(target[i]), operand, op);
      if (before != nullptr) {
        write(before, i, old);
      }
    }
  });
}

std::uint64_t engine::atomic_outside(outside at, fabric::atomic_op op, std::size_t width,
                                     std::uint64_t operand, std::uint64_t compare) {
  SINEW_EXPECT((width == 4 || width == 8) && at.address % width == 0);
  std::uint64_t old = 0;
  core::carry_through(runtime_, [&](fabric::callback done) {
    return runtime_.endpoint().atomic(at.rank, op, {at.address, {}}, width, operand, compare, &old,
                                      done);
  });
  forget_copies();  // those too that another thread has made meanwhile
  return old;
}

namespace {

/// The bytes of a value as a word of the fabric, and back.
template <class T>
std::uint64_t bits(T value) noexcept {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

}  // namespace

// Everything that is atomic there is done by the owner's processor when the owner makes progress,
// so a compare-and-swap loop from here is atomic against all of it.
void engine::accumulate(outside to, const void* from, std::size_t count, element type, combine op,
                        void* before) {
  const std::size_t width = size_of(type);
  if (!maps(to.rank)) [[unlikely]] {
    order_far_puts(to.rank);
    far_->combine_at(far_ranks::at(to), {from, count, type, op, before});
    puts_.note(to.rank);
    return;
  }
  order_far_puts();
  if (std::byte* there = reach(to, count * width)) {
    accumulate_mapped(there, from, count, type, op, before);
    alert(to.rank);
    return;
  }
  SINEW_EXPECT(width >= 4);
  with_type(type, [&]<class T>(T) {
    if constexpr (sizeof(T) >= 4) {
      for (std::size_t i = 0; i < count; ++i) {
        const outside at = outside::of(to.rank, to.address + i * width);
        const T operand = op == combine::keep ? T{} : read<T>(from, i);
        std::uint64_t seen = atomic_outside(at, fabric::atomic_op::fetch_or, width, 0, 0);
        for (;;) {
          const T old = read<T>(&seen, 0);
          const std::uint64_t found = atomic_outside(at, fabric::atomic_op::compare_swap, width,
                                                     bits(combined(old, operand, op)), bits(old));
          if (found == bits(old)) {
            break;
          }
          seen = found;
        }
        if (before != nullptr) {
          write(before, i, read<T>(&seen, 0));
        }
      }
    }
  });
}

}  // namespace sinew::rma
