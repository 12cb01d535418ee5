// SPDX-License-Identifier: BSD-3-Clause
// How gfortran passes an assumed-rank array to a procedure without bind(C), as MPICH's mpi_f08 has
// them: by the compiler's own descriptor, as its -fdump-tree-original shows it, not by C's. A text
// is an address there, and its length comes behind all arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::fortran {

/// The compiler makes it as long as the rank asks for; never copied whole.
struct descriptor {
  struct dimension {
    std::ptrdiff_t stride;  ///< in units of `span` bytes
    std::ptrdiff_t lower;
    std::ptrdiff_t upper;
  };

  void* base;  ///< the first element
  std::size_t offset;
  std::size_t element;  ///< bytes
  int version;
  std::int8_t rank;
  std::int8_t type;
  std::int16_t attribute;
  std::ptrdiff_t span;
  dimension dim[15];
};

inline void* base_of(const descriptor& array) { return array.base; }
inline std::size_t element_bytes(const descriptor& array) { return array.element; }
inline int rank_of(const descriptor& array) { return array.rank; }
/// Negative: the last extent of an array whose size nobody has said.
inline std::ptrdiff_t extent_of(const descriptor& array, int d) {
  return array.dim[d].upper - array.dim[d].lower + 1;
}
/// Bytes. Old compilers leave span zero.
inline std::ptrdiff_t stride_of(const descriptor& array, int d) {
  const auto unit = array.span != 0 ? array.span : static_cast<std::ptrdiff_t>(array.element);
  return array.dim[d].stride * unit;
}

}  // namespace sinew::fortran

#define F08TS_TEXT(name) const char* name
#define F08TS_LENGTH(name) , std::size_t name##_length
#define F08TS_GIVEN(name) name, name##_length
