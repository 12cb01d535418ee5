// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators: how to apply a contribution to a value, how to combine two contributions,
// and the contribution that changes nothing. Users bring their own as types:
//
//   struct longest {
//     using lhs = track;                 // what is reduced
//     using rhs = float;                 // what is contributed
//     static constexpr rhs identity = 0;
//     static void apply(lhs& value, const rhs& by) noexcept;
//     static void fold(rhs& value, const rhs& by) noexcept;  // may be missing; region::fold and
//                                                            // region::adaptive need it
//   };
//
// The order in which apply and fold are called does not matter to their result. system::add makes
// an operator known on a rank.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sinew/base/check.hpp"
#include "sinew/region/names.hpp"

namespace sinew::region {

template <class Op>
concept reduction = std::is_trivially_copyable_v<typename Op::lhs> &&
                    std::is_trivially_copyable_v<typename Op::rhs> &&
                    requires(typename Op::lhs& value, const typename Op::rhs& by) {
                      Op::apply(value, by);
                      { Op::identity } -> std::convertible_to<typename Op::rhs>;
                    };

template <class Op>
concept folding = reduction<Op> && requires(typename Op::rhs& value, const typename Op::rhs& by) {
  Op::fold(value, by);
};

/// exclusive: no other thread touches these elements meanwhile; any lhs. atomic: other threads may
/// reduce the same elements, atomically too; lhs of 1, 2, 4 or 8 aligned bytes.
enum class sharing : std::uint8_t { exclusive, atomic };

namespace detail {
template <std::size_t Bytes>
struct word_of {};
template <>
struct word_of<1> {
  using type = std::uint8_t;
};
template <>
struct word_of<2> {
  using type = std::uint16_t;
};
template <>
struct word_of<4> {
  using type = std::uint32_t;
};
template <>
struct word_of<8> {
  using type = std::uint64_t;
};
}  // namespace detail

template <class T>
inline constexpr bool fits_a_word = requires { typename detail::word_of<sizeof(T)>::type; };

/// change(value) as one atomic step, against other threads that do the same. Relaxed: reductions
/// promise no order among themselves, and the event that ends them orders everything. Hot.
template <class T, class Change>
  requires fits_a_word<T>
void atomically(T& place, Change change) noexcept {
  using word = typename detail::word_of<sizeof(T)>::type;
  static_assert(std::atomic_ref<word>::is_always_lock_free, "other processes use it, too");
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(word));
  constexpr std::size_t width = sizeof(word);
  SINEW_EXPECT(reinterpret_cast<std::uintptr_t>(&place) % width == 0);
  const std::atomic_ref<word> there(reinterpret_cast<word&>(place));
  word before = there.load(std::memory_order_relaxed);
  for (;;) {
    T value = std::bit_cast<T>(before);
    change(value);
    if (there.compare_exchange_weak(before, std::bit_cast<word>(value), std::memory_order_relaxed,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
}

/// One contribution. Any context; hot.
template <reduction Op, sharing How = sharing::exclusive>
void apply(typename Op::lhs& value, const typename Op::rhs& by) noexcept {
  if constexpr (How == sharing::exclusive) {
    Op::apply(value, by);
  } else if constexpr (requires { Op::apply_atomic(value, by); }) {
    Op::apply_atomic(value, by);
  } else {
    atomically(value, [&](typename Op::lhs& v) { Op::apply(v, by); });
  }
}

// --- sum, product, minimum and maximum -----------------------------------------------------------

template <class T>
struct sum {
  using lhs = T;
  using rhs = T;
  static constexpr T identity{};
  static void apply(T& value, const T& by) noexcept { value = static_cast<T>(value + by); }
  static void fold(T& value, const T& by) noexcept { apply(value, by); }
  static void apply_atomic(T& value, const T& by) noexcept
    requires std::integral<T>
  {
    std::atomic_ref<T>(value).fetch_add(by, std::memory_order_relaxed);
  }
};
template <class T>
struct product {
  using lhs = T;
  using rhs = T;
  static constexpr T identity{1};
  static void apply(T& value, const T& by) noexcept { value = static_cast<T>(value * by); }
  static void fold(T& value, const T& by) noexcept { apply(value, by); }
};
template <class T>
struct minimum {
  using lhs = T;
  using rhs = T;
  static constexpr T identity = std::numeric_limits<T>::has_infinity
                                    ? std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::max();
  static void apply(T& value, const T& by) noexcept { value = by < value ? by : value; }
  static void fold(T& value, const T& by) noexcept { apply(value, by); }
};
template <class T>
struct maximum {
  using lhs = T;
  using rhs = T;
  static constexpr T identity = std::numeric_limits<T>::has_infinity
                                    ? -std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::lowest();
  static void apply(T& value, const T& by) noexcept { value = value < by ? by : value; }
  static void fold(T& value, const T& by) noexcept { apply(value, by); }
};

// --- the same, by a number that messages carry ---------------------------------------------------

/// Values and contributions in two arrays, with their steps in bytes.
struct paired_run {
  std::byte* to;
  std::int64_t to_step;
  const std::byte* from;
  std::int64_t from_step;
  std::uint64_t count;
  sharing how;
};

/// A contribution in a log, and the number of its element within the part: at most 2^31 elements.
template <class Rhs>
struct logged {
  std::uint32_t element;
  Rhs value;
};

/// A log, and where the elements of its part lie.
struct log_run {
  std::byte* to;
  std::int64_t to_step;
  const std::byte* entries;
  std::uint64_t count;
  std::uint64_t limit;  ///< elements of the part; entries beyond are left out and counted
};

/// An operator at run time. Its functions are compiled where it is added.
struct operator_entry {
  std::uint64_t id = 0;
  short_name name;
  short_name lhs_name;
  short_name rhs_name;
  std::uint64_t lhs_type = 0;
  std::uint64_t rhs_type = 0;
  std::uint32_t lhs_bytes = 0;
  std::uint32_t rhs_bytes = 0;
  std::uint32_t entry_bytes = 0;
  bool atomic = false;
  void (*apply)(const paired_run&) noexcept = nullptr;
  void (*fold)(const paired_run&) noexcept = nullptr;  ///< null: it does not fold
  /// Returns how many entries lay beyond the limit.
  std::uint64_t (*replay)(const log_run&) noexcept = nullptr;
  void (*identity)(std::byte* to) noexcept = nullptr;
};

namespace detail {

template <class To, class From, class Each>
void for_pairs(const paired_run& r, Each each) noexcept {
  SINEW_EXPECT(r.count == 0 || (r.to != nullptr && r.from != nullptr));
  SINEW_EXPECT(r.count == 0 || reinterpret_cast<std::uintptr_t>(r.to) % alignof(To) == 0);
  if (r.to_step == sizeof(To) && r.from_step == sizeof(From)) {
    auto* to = reinterpret_cast<To*>(r.to);
    const auto* from = reinterpret_cast<const From*>(r.from);
    for (std::uint64_t i = 0; i < r.count; ++i) {
      each(to[i], from[i]);
    }
    return;
  }
  std::byte* to = r.to;
  const std::byte* from = r.from;
  for (std::uint64_t i = 0; i < r.count; ++i, to += r.to_step, from += r.from_step) {
    each(*reinterpret_cast<To*>(to), *reinterpret_cast<const From*>(from));
  }
}

template <reduction Op>
void apply_run(const paired_run& r) noexcept {
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;
  if (r.how == sharing::exclusive) {
    for_pairs<lhs, rhs>(r, [](lhs& to, const rhs& by) { Op::apply(to, by); });
  } else if constexpr (fits_a_word<lhs>) {
    for_pairs<lhs, rhs>(r, [](lhs& to, const rhs& by) { apply<Op, sharing::atomic>(to, by); });
  }
}

template <folding Op>
void fold_run(const paired_run& r) noexcept {
  using rhs = typename Op::rhs;
  for_pairs<rhs, rhs>(r, [](rhs& to, const rhs& by) { Op::fold(to, by); });
}

template <reduction Op>
std::uint64_t replay_log(const log_run& r) noexcept {
  using lhs = typename Op::lhs;
  SINEW_EXPECT(r.count == 0 || (r.to != nullptr && r.entries != nullptr));
  const auto* entries = reinterpret_cast<const logged<typename Op::rhs>*>(r.entries);
  std::uint64_t beyond = 0;
  if (r.to_step == sizeof(lhs)) {
    auto* to = reinterpret_cast<lhs*>(r.to);
    for (std::uint64_t i = 0; i < r.count; ++i) {
      if (entries[i].element < r.limit) [[likely]] {
        Op::apply(to[entries[i].element], entries[i].value);
      } else {
        ++beyond;
      }
    }
    return beyond;
  }
  for (std::uint64_t i = 0; i < r.count; ++i) {
    if (entries[i].element < r.limit) [[likely]] {
      Op::apply(*reinterpret_cast<lhs*>(r.to + entries[i].element * r.to_step), entries[i].value);
    } else {
      ++beyond;
    }
  }
  return beyond;
}

}  // namespace detail

template <reduction Op>
[[nodiscard]] operator_entry entry_of() noexcept {
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;
  static_assert(sizeof(logged<rhs>) > sizeof(rhs) && alignof(logged<rhs>) <= 64,
                "chunks of logs begin on a cache line");
  operator_entry e;
  e.id = hash_of(type_name<Op>());
  e.name = short_name(type_name<Op>());
  e.lhs_name = short_name(type_name<lhs>());
  e.rhs_name = short_name(type_name<rhs>());
  e.lhs_type = hash_of(type_name<lhs>());
  e.rhs_type = hash_of(type_name<rhs>());
  e.lhs_bytes = sizeof(lhs);
  e.rhs_bytes = sizeof(rhs);
  e.entry_bytes = sizeof(logged<rhs>);
  e.atomic = fits_a_word<lhs>;
  e.apply = detail::apply_run<Op>;
  if constexpr (folding<Op>) {
    e.fold = detail::fold_run<Op>;
  }
  e.replay = detail::replay_log<Op>;
  e.identity = [](std::byte* to) noexcept { *reinterpret_cast<rhs*>(to) = Op::identity; };
  return e;
}

}  // namespace sinew::region
