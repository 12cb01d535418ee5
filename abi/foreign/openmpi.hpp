// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's ABI, version 40 of its library (4.0 to 5.0): what a handle, a status and an address
// are. A handle is an address: of an exported object for a predefined one, and of the standard's
// object, which is its handle, too, for all others. A program may have its own copy of an exported
// object (its linker puts it there, with what it holds here), so what is looked at is what it
// holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/foreign/pairs.hpp"
#include "abi/mpi/generated/functions.hpp"

namespace sinew::foreign {

using handle_pair = pair_of_handles<const void*>;

using comm = void*;
using datatype = void*;
using errhandler = void*;
using file = void*;
using group = void*;
using info = void*;
using message = void*;
using op = void*;
using request = void*;
using session = void*;
using win = void*;

struct status {
  int source;
  int tag;
  int error;
  int cancelled;
  std::size_t bytes;
};
static_assert(sizeof(status) == 24);

/// What an exported object begins with. No object of the standard's begins so: those have the tag
/// of their kind there (abi/mpi/handles.hpp).
struct predefined_object {
  static constexpr std::uint64_t sign = 0x8d1f'0b2e'73c6'594aU;
  std::uint64_t signature;
  std::uint32_t standard;
  std::int32_t fortran;  ///< the handle there
};
/// With the size that programs give their copies.
template <std::size_t Bytes>
struct object : predefined_object {
  std::byte rest[Bytes - sizeof(predefined_object)];
};

/// A handle that nobody has.
inline constexpr std::uint16_t nobodys = 0xfff;

}  // namespace sinew::foreign

#include "abi/foreign/generated/openmpi_objects.hpp"
// The objects come first.
#include "abi/foreign/generated/openmpi.hpp"

namespace sinew::foreign {

[[nodiscard]] inline const sinew_mpi_functions& standard() noexcept { return SINEW_mpi_functions; }

/// The standard's handles below are predefined.
inline constexpr std::uintptr_t first_made = 0x1000;

/// Addresses of the objects by the standard's values.
struct predefined_handles {
  static constexpr std::uint32_t most = 0x300;
  const void* foreign[most];
};
extern const predefined_handles all_predefined;  // openmpi.cpp

template <class Standard>
[[nodiscard]] inline Standard predefined(std::uint32_t value) noexcept {
  return reinterpret_cast<Standard>(static_cast<std::uintptr_t>(value));
}

[[nodiscard]] inline bool is_object(const void* handle) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= first_made && value % alignof(predefined_object) == 0;
}
[[nodiscard]] inline bool is_predefined(const void* handle) noexcept {
  return is_object(handle) &&
         static_cast<const predefined_object*>(handle)->signature == predefined_object::sign;
}

template <class Standard>
[[nodiscard]] inline Standard from_foreign(void* handle) noexcept {
  if (is_predefined(handle)) {
    return predefined<Standard>(static_cast<const predefined_object*>(handle)->standard);
  }
  return is_object(handle) ? static_cast<Standard>(handle) : predefined<Standard>(nobodys);
}

template <class Standard>
[[nodiscard]] inline void* to_foreign(Standard handle) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value < predefined_handles::most ? const_cast<void*>(all_predefined.foreign[value])
                                          : static_cast<void*>(handle);
}

/// Whether it may be one.
template <class Standard>
[[nodiscard]] bool is_handle(void* handle) noexcept {
  return from_foreign<Standard>(handle) != predefined<Standard>(nobodys);
}

[[nodiscard]] inline bool is_ignored(const status* s) noexcept { return s == nullptr; }
/// Sizes and the flag lie in the standard's status where abi/mpi/status.hpp says.
inline void size_to(const MPI_Status& from, status& to) noexcept {
  to.bytes = static_cast<std::uint32_t>(from.MPI_internal[0]) |
             static_cast<std::size_t>(static_cast<std::uint32_t>(from.MPI_internal[1])) << 32;
  to.cancelled = from.MPI_internal[2];
}
inline void size_from(const status& from, MPI_Status& to) noexcept {
  to.MPI_internal[0] = static_cast<int>(from.bytes);
  to.MPI_internal[1] = static_cast<int>(from.bytes >> 32);
  to.MPI_internal[2] = from.cancelled;
}

// The special addresses are the standard's.
static_assert(in_place == 1 && bottom == 0);
[[nodiscard]] inline void* address_from(const void* at) noexcept { return const_cast<void*>(at); }
[[nodiscard]] inline void* address_to(void* at) noexcept { return at; }

template <class Int>
[[nodiscard]] Int* weights_at(Int* at) noexcept {
  const auto value = reinterpret_cast<std::intptr_t>(at);
  return value == unweighted ? MPI_UNWEIGHTED : value == weights_empty ? MPI_WEIGHTS_EMPTY : at;
}

[[nodiscard]] inline MPI_T_pvar_handle variable(MPI_T_pvar_handle handle) noexcept {
  return reinterpret_cast<std::intptr_t>(handle) == t_pvar_all_handles ? MPI_T_PVAR_ALL_HANDLES
                                                                       : handle;
}

/// The program's functions that stand for the standard's predefined ones.
[[nodiscard]] bool is_null_copy(void (*function)()) noexcept;
[[nodiscard]] bool is_null_delete(void (*function)()) noexcept;
[[nodiscard]] bool is_duplicate(void (*function)()) noexcept;
[[nodiscard]] inline bool is_null_conversion(void (*function)()) noexcept {
  return function == nullptr;
}

}  // namespace sinew::foreign
