// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/coll/op.hpp"

#include <cstring>

#include "coll/elements.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

using elements::kind_of;
using layout::element;

/// MPI-5.0 6.9.2: which operator goes with which class of elements.
template <class T>
constexpr bool defined(op_kind kind) noexcept {
  using k = kind_of<T>;
  constexpr bool real = !k::truth && !k::complex && !k::pair && !k::raw;  // integer or floating
  switch (kind) {
    case op_kind::sum:
    case op_kind::prod:
      return real || k::complex;
    case op_kind::min:
    case op_kind::max:
      return real;
    case op_kind::land:
    case op_kind::lor:
    case op_kind::lxor:
      return k::integer || k::truth;
    case op_kind::band:
    case op_kind::bor:
    case op_kind::bxor:
      return k::integer || k::raw;
    case op_kind::minloc:
    case op_kind::maxloc:
      return k::pair;
    case op_kind::replace:
    case op_kind::no_op:
    case op_kind::user:
      return true;
  }
  return false;
}

/// Sums and products of integers wrap: they are done without sign, and wide enough that narrow
/// types are not promoted to int.
template <class T>
using wrapping =
    typename std::conditional_t<(sizeof(T) < sizeof(unsigned)), std::type_identity<unsigned>,
                                elements::unsigned_of<T>>::type;

template <class T>
T sum(T a, T b) noexcept {
  if constexpr (elements::is_integer<T>) {
    return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

template <class T>
T product(T a, T b) noexcept {
  if constexpr (elements::is_integer<T>) {
    return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
  } else {
    return static_cast<T>(a * b);
  }
}

template <class T>
auto bits_of(T a) noexcept {
  if constexpr (elements::is_integer<T>) {
    return a;
  } else {
    return a.bits;
  }
}

template <class T, class Bits>
T from_bits(Bits b) noexcept {
  if constexpr (elements::is_integer<T>) {
    return static_cast<T>(b);
  } else {
    return T{static_cast<decltype(T::bits)>(b)};
  }
}

/// One element: the lower rank's `a` with `b`.
template <op_kind Kind, class T>
T combine(const T& a, const T& b) noexcept {
  if constexpr (Kind == op_kind::sum) {
    return sum(a, b);
  }
  if constexpr (Kind == op_kind::prod) {
    return product(a, b);
  }
  if constexpr (Kind == op_kind::min) {
    return a < b ? a : b;
  }
  if constexpr (Kind == op_kind::max) {
    return b < a ? a : b;
  }
  if constexpr (Kind == op_kind::land) {
    return from_bits<T>(static_cast<unsigned>(bits_of(a) != 0) & unsigned{bits_of(b) != 0});
  }
  if constexpr (Kind == op_kind::lor) {
    return from_bits<T>(static_cast<unsigned>(bits_of(a) != 0) | unsigned{bits_of(b) != 0});
  }
  if constexpr (Kind == op_kind::lxor) {
    return from_bits<T>(static_cast<unsigned>(bits_of(a) != 0) ^ unsigned{bits_of(b) != 0});
  }
  if constexpr (Kind == op_kind::band) {
    return from_bits<T>(bits_of(a) & bits_of(b));
  }
  if constexpr (Kind == op_kind::bor) {
    return from_bits<T>(bits_of(a) | bits_of(b));
  }
  if constexpr (Kind == op_kind::bxor) {
    return from_bits<T>(bits_of(a) ^ bits_of(b));
  }
  if constexpr (Kind == op_kind::minloc || Kind == op_kind::maxloc) {
    const bool first = Kind == op_kind::minloc ? a.value < b.value : b.value < a.value;
    const bool second = Kind == op_kind::minloc ? b.value < a.value : a.value < b.value;
    if (first) {
      return a;
    }
    if (second) {
      return b;
    }
    return {b.value, a.index < b.index ? a.index : b.index};
  }
}

template <op_kind Kind, class T>
void loop(const void* in, void* inout, std::size_t n) noexcept {
  if constexpr (defined<T>(Kind)) {
    const T* __restrict a = static_cast<const T*>(in);
    T* __restrict b = static_cast<T*>(inout);
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = combine<Kind>(a[i], b[i]);
    }
  }
}

template <class T>
void run_of(op_kind kind, const void* in, void* inout, std::size_t n) noexcept {
  switch (kind) {
    case op_kind::sum:
      return loop<op_kind::sum, T>(in, inout, n);
    case op_kind::min:
      return loop<op_kind::min, T>(in, inout, n);
    case op_kind::max:
      return loop<op_kind::max, T>(in, inout, n);
    case op_kind::prod:
      return loop<op_kind::prod, T>(in, inout, n);
    case op_kind::band:
      return loop<op_kind::band, T>(in, inout, n);
    case op_kind::bor:
      return loop<op_kind::bor, T>(in, inout, n);
    case op_kind::bxor:
      return loop<op_kind::bxor, T>(in, inout, n);
    case op_kind::land:
      return loop<op_kind::land, T>(in, inout, n);
    case op_kind::lor:
      return loop<op_kind::lor, T>(in, inout, n);
    case op_kind::lxor:
      return loop<op_kind::lxor, T>(in, inout, n);
    case op_kind::minloc:
      return loop<op_kind::minloc, T>(in, inout, n);
    case op_kind::maxloc:
      return loop<op_kind::maxloc, T>(in, inout, n);
    case op_kind::replace:
    case op_kind::no_op:
    case op_kind::user:
      return;
  }
}

/// Adjacent elements of one kind.
void run(op_kind kind, element e, const void* in, void* inout, std::size_t n) noexcept {
  elements::visit(
      e,
      [&](auto t) {
        run_of<typename decltype(t)::type>(kind, in, inout, n);
        return true;
      },
      false);
}

}  // namespace

void op::apply(const void* in, void* inout, std::size_t count, const layout::datatype& type) const {
  switch (kind) {
    case op_kind::user:
      SINEW_EXPECT(call != nullptr);
      return call(handle, in, inout, count, type);
    case op_kind::no_op:
      return;
    case op_kind::replace:
      return layout::copy(type, count, in, type, count, inout);
    default:
      break;
  }
  SINEW_EXPECT(allowed(type.base()));
  if (type.dense()) {
    return run(kind, type.base(), in, inout, count * type.elements());
  }
  layout::for_each_leaf(type, count, [&](std::ptrdiff_t offset, std::size_t n, element e) {
    run(kind, e, static_cast<const std::byte*>(in) + offset,
        static_cast<std::byte*>(inout) + offset, n);
  });
}

bool op::allowed(const layout::datatype& type) const noexcept {
  return kind == op_kind::user || (type.elements() == 1 && allowed(type.base()));
}

bool op::allowed(layout::element e) const noexcept {
  if (kind == op_kind::replace || kind == op_kind::no_op || kind == op_kind::user) {
    return true;
  }
  return elements::visit(
      e, [&](auto t) { return defined<typename decltype(t)::type>(kind); }, false);
}

}  // namespace sinew::coll
