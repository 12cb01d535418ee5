// The hot part of put and get, shared by the faces.
#pragma once

#include "abi/coarray/images.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/transfer.hpp"

namespace sinew::coarray {

/// One element each of the same type: what needs no description of sides.
inline bool plain_scalars(const descriptor& a, int a_kind, const descriptor& b,
                          int b_kind) noexcept {
  return (a.element.rank | b.element.rank) == 0 && a_kind == b_kind &&
         a.element.bytes == b.element.bytes && a.element.type == b.element.type;
}

inline rma::place shifted(rma::place p, std::size_t bytes) noexcept {
  return {p.rank, p.offset + bytes};
}

}  // namespace sinew::coarray
