// SPDX-License-Identifier: BSD-3-Clause
// How mpi_f08 passes choice buffers and texts to procedures with bind(C): as C's descriptors. An
// ABI whose procedures have no bind(C) has another form of all that is here in its header.
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>

namespace sinew::fortran {

using descriptor = CFI_cdesc_t;

inline void* base_of(const descriptor& array) { return array.base_addr; }
inline std::size_t element_bytes(const descriptor& array) { return array.elem_len; }
inline int rank_of(const descriptor& array) { return array.rank; }
/// Negative: the last extent of an array whose size nobody has said.
inline std::ptrdiff_t extent_of(const descriptor& array, int d) { return array.dim[d].extent; }
/// Bytes.
inline std::ptrdiff_t stride_of(const descriptor& array, int d) { return array.dim[d].sm; }

}  // namespace sinew::fortran

// A text beside a choice buffer: the parameter, a further parameter at the end, address and length.
#define F08TS_TEXT(name) const descriptor* name
#define F08TS_LENGTH(name)
#define F08TS_GIVEN(name) static_cast<const char*>(base_of(*(name))), element_bytes(*(name))
