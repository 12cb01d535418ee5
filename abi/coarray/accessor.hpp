// SPDX-License-Identifier: BSD-3-Clause
// GCC 15 and 16 make a function for each place of the program that touches another image's data. It
// is told where that data is mapped here, and can then do everything but follow allocatable and
// pointer components, which hold addresses of the other process: such functions must run there
// (remote_request.hpp).
//
// The compiler does not say which functions do so. Each is tried once, in a child process, on
// memory in which every word is an invalid address: a function that follows one ends with a fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/coarray/gfortran.hpp"

namespace sinew::coarray {

enum class role : std::uint32_t {
  fetch,        ///< of one element: gives its address
  fetch_array,  ///< fills an array, whose memory it makes if there is none or it has another shape
  store,
  ask,  ///< ALLOCATED() or ASSOCIATED()
};

/// What the function gets of the other image's data.
enum class form : std::uint32_t { object, pointer_to_object, shape };

/// One call. `shape` describes the other image's array, but for where it lies.
struct remote_call {
  role what;
  form given = form::object;
  descriptor shape;
  int caller;  ///< this image's number
  void* add_data = nullptr;
  std::size_t add_bytes = 0;
  descriptor* array = nullptr;   ///< of fetch_array
  const void* source = nullptr;  ///< of store: the element, or an array's descriptor
  bool source_is_array = false;
  bool has_dst_length = false;
  bool has_src_length = false;
  std::size_t dst_length = 0;  ///< characters; fetch may change it
  std::size_t src_length = 0;

  void* found = nullptr;  ///< by fetch, fetch_array
  bool made = false;      ///< `found` is for free()
  std::int32_t present = 0;
};

/// Functions are known by a number here, and by the compiler's hash on all images.
void add_accessor(int hash, void* function);
[[nodiscard]] int accessor_of(int hash) noexcept;  ///< -1: there is none
[[nodiscard]] int hash_of(int accessor);           ///< throws sinew::error

/// Runs it on data at `object`.
void perform(int accessor, remote_call& a, std::byte* object);

/// False only if it is sure that the function touches nothing but the `bytes` of the object. Costs
/// a process the first time.
[[nodiscard]] bool follows(int accessor, const remote_call& a, std::size_t bytes);

/// Elements of a descriptor times their size.
[[nodiscard]] std::size_t bytes_of(const descriptor& d) noexcept;
/// The descriptor up to its last dimension.
void copy_descriptor(descriptor& to, const descriptor& from) noexcept;
/// The same elements by subscripts from 1: the compiler's functions take that for granted.
void count_from_one(descriptor& d) noexcept;

}  // namespace sinew::coarray
