// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators on elements: the predefined ones of MPI-5.0 section 6.9.2, and the user's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/layout/datatype.hpp"

namespace sinew::coll {

enum class op_kind : std::uint8_t {
  sum,
  min,
  max,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  replace,
  no_op,
  user,
};

/// inout = in (op) inout, `count` instances of `type`, in the order MPI gives: `in` comes from the
/// lower rank.
struct op {
  op_kind kind = op_kind::sum;
  bool commutative = true;
  /// For op_kind::user; `handle` is whatever the binding needs to call the user's function.
  void (*call)(void* handle, const void* in, void* inout, std::size_t count,
               const layout::datatype& type) = nullptr;
  void* handle = nullptr;

  /// Any context; warm. `in` and `inout` do not overlap. The operator must be defined for the
  /// elements of `type`, which may be any type made of one kind of element (accumulate needs it).
  void apply(const void* in, void* inout, std::size_t count, const layout::datatype& type) const;
  /// Whether a reduction may use this operator on `type`: user operators always, predefined ones
  /// on single elements for which they are defined (MPI-5.0 6.9.2; pairs for minloc and maxloc).
  [[nodiscard]] bool allowed(const layout::datatype& type) const noexcept;
  /// Whether a predefined operator is defined for this element (replace and no_op for all).
  [[nodiscard]] bool allowed(layout::element e) const noexcept;
};

}  // namespace sinew::coll
