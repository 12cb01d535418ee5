// SPDX-License-Identifier: BSD-3-Clause
// The hot part of put and get, shared by the bindings.
#pragma once

#include "abi/coarray/images.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/transfer.hpp"

namespace sinew::coarray {

/// Bytes of an array whose elements follow each other; 0: there are none, or they do not.
inline std::size_t contiguous_bytes(const descriptor& d) noexcept {
  std::size_t bytes = d.element.bytes;
  for (int i = 0; i < d.rank(); ++i) {
    const dimension& dim = d.dim[i];
    if (dim.stride * d.step() != static_cast<index>(bytes)) {
      return 0;
    }
    bytes *= static_cast<std::size_t>(dim.extent());
  }
  return bytes;
}

/// Bytes of two arrays of one shape and type without gaps, which need no description of sides; 0
/// for all others.
inline std::size_t plain_arrays(const descriptor& a, int a_kind, const descriptor& b,
                                int b_kind) noexcept {
  const bool alike = a.rank() == b.rank() && a_kind == b_kind &&
                     a.element.bytes == b.element.bytes && a.element.type == b.element.type;
  if (!alike) {
    return 0;
  }
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim[i].extent() != b.dim[i].extent()) {
      return 0;
    }
  }
  return contiguous_bytes(a) == contiguous_bytes(b) ? contiguous_bytes(a) : 0;
}

inline rma::place shifted(rma::place p, std::size_t bytes) noexcept {
  return {p.rank, p.offset + bytes};
}

}  // namespace sinew::coarray
