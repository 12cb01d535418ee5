// Reduction operators on elements: the predefined ones of MPI-5.0 section 6.9.2, and the user's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/layout/type.hpp"

namespace sinew::coll {

enum class op_kind : std::uint8_t {
  sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op, user,
};

/// inout = in (op) inout, `count` instances of `type`, in the order MPI gives: `in` comes from the
/// lower rank.
struct op {
  op_kind kind = op_kind::sum;
  bool commutative = true;
  /// For op_kind::user; `handle` is whatever the face needs to call the user's function.
  void (*call)(void* handle, const void* in, void* inout, std::size_t count,
               const layout::type& type) = nullptr;
  void* handle = nullptr;

  /// Any context; warm. `allowed` must hold.
  void apply(const void* in, void* inout, std::size_t count, const layout::type& type) const;
  /// Whether this operator is defined for the elements of `type` (MPI-5.0 table in 6.9.2; for
  /// user operators always).
  [[nodiscard]] bool allowed(const layout::type& type) const noexcept;
};

}  // namespace sinew::coll
