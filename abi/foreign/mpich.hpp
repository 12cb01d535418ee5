// SPDX-License-Identifier: BSD-3-Clause
// MPICH's ABI, version 12 of its libraries, which Intel MPI, Cray MPICH and MVAPICH share: what a
// handle, a status and an address are. A handle is an int: two bits say whether it is predefined,
// four which kind of object it is, and the others which object.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "abi/foreign/pairs.hpp"
#include "abi/mpi/generated/functions.hpp"

namespace sinew::foreign {

using handle_pair = pair_of_handles<std::uint32_t>;

using comm = int;
using datatype = int;
using errhandler = int;
using file = void*;
using group = int;
using info = int;
using message = int;
using op = int;
using request = int;
using session = int;
using win = int;

struct status {
  int bytes_low;
  int bytes_high_and_cancelled;  ///< the lowest bit: cancelled
  int source;
  int tag;
  int error;
};
static_assert(sizeof(status) == 20);

/// Of MPICH's kinds of objects: the four bits below the highest two.
template <class Standard>
struct kind_of;

}  // namespace sinew::foreign

#include "abi/foreign/generated/mpich.hpp"

namespace sinew::foreign {

[[nodiscard]] inline const sinew_mpi_functions& standard() noexcept { return SINEW_mpi_functions; }

#define SINEW_KIND(Standard, number, all, function)                                    \
  template <>                                                                          \
  struct kind_of<Standard> {                                                           \
    static constexpr std::uint32_t value = number;                                     \
    static constexpr const auto& predefined = all;                                     \
    static int to_int(Standard handle) { return standard().function##_toint(handle); } \
    static Standard from_int(int n) { return standard().function##_fromint(n); }       \
  }
SINEW_KIND(MPI_Comm, 1, comms, Comm);
SINEW_KIND(MPI_Group, 2, groups, Group);
SINEW_KIND(MPI_Datatype, 3, datatypes, Type);
SINEW_KIND(MPI_Errhandler, 5, errhandlers, Errhandler);
SINEW_KIND(MPI_Op, 6, ops, Op);
SINEW_KIND(MPI_Info, 7, infos, Info);
SINEW_KIND(MPI_Win, 8, wins, Win);
SINEW_KIND(MPI_Request, 11, requests, Request);
SINEW_KIND(MPI_Message, 11, messages, Message);
SINEW_KIND(MPI_Session, 14, sessions, Session);
#undef SINEW_KIND

/// The standard's handles below are predefined.
inline constexpr std::uintptr_t first_made = 0x1000;
/// A handle that nobody has.
inline constexpr std::uint16_t nobodys = 0xfff;

/// MPICH's predefined handles by their kind's first and last bits, and the standard's by their
/// value.
struct predefined_handles {
  static constexpr std::uint32_t most = 0x300;
  std::uint16_t built_in[256];  ///< by the last byte
  std::uint16_t direct[16];     ///< datatypes of pairs, which look like made ones
  std::uint32_t foreign[most];  ///< by the standard's value

  template <class Pairs>
  static constexpr predefined_handles of(const Pairs& pairs) {
    predefined_handles made{};
    for (std::uint16_t& each : made.built_in) {
      each = nobodys;
    }
    for (std::uint16_t& each : made.direct) {
      each = nobodys;
    }
    for (const handle_pair& p : pairs) {
      if (p.foreign >> 30 == 1) {
        made.built_in[p.foreign & 0xff] = p.standard;
      } else if (p.foreign >> 30 == 2) {
        made.direct[p.foreign & 0xf] = p.standard;
      }
      if (made.foreign[p.standard] == 0) {
        made.foreign[p.standard] = p.foreign;
      }
    }
    return made;
  }
};
template <class Standard>
inline constexpr predefined_handles predefined_of =
    predefined_handles::of(kind_of<Standard>::predefined);

template <class Standard>
[[nodiscard]] inline Standard predefined(std::uint16_t value) noexcept {
  return reinterpret_cast<Standard>(static_cast<std::uintptr_t>(value));
}

inline constexpr std::uint32_t number_bits = 26;
inline constexpr std::uint32_t number_mask = (1U << number_bits) - 1;

/// Says so on standard error, once for each number: nobody can find it by what the standard's
/// function then says. Cold.
[[gnu::cold]] inline void tell_unknown(std::uint32_t handle) noexcept {
  static std::atomic<std::uint32_t> told{0};  // a message alone, so relaxed
  if (told.exchange(handle, std::memory_order_relaxed) != handle) {
    std::fprintf(stderr,
                 "sinew: the program passes the handle 0x%08x of MPICH's ABI, which Sinew does not "
                 "have, or which nobody has made.\n",
                 handle);
  }
}

/// Of a number that a table has.
template <class Standard>
[[nodiscard]] inline Standard known_or_nobodys(std::uint16_t value, std::uint32_t handle) noexcept {
  if (value == nobodys) [[unlikely]] {
    tell_unknown(handle);
  }
  return predefined<Standard>(value);
}

/// The upper six bits of a predefined handle of this kind, and of one that has been made.
template <class Standard>
inline constexpr std::uint32_t built_in_bits = 1U << 4 | kind_of<Standard>::value;
template <class Standard>
inline constexpr std::uint32_t made_bits = 2U << 4 | kind_of<Standard>::value;

template <class Standard>
[[nodiscard, gnu::noinline]] Standard from_seldom(std::uint32_t h) {
  const auto& known = predefined_of<Standard>;
  if (h >> number_bits == built_in_bits<Standard>) {
    return known_or_nobodys<Standard>(known.built_in[h & 0xff], h);
  }
  if (h >> number_bits == made_bits<Standard>) {
    const std::uint32_t number = h & number_mask;
    return number >= first_made
               ? kind_of<Standard>::from_int(static_cast<int>(number))
               : known_or_nobodys<Standard>(number < 16 ? known.direct[number] : nobodys, h);
  }
  for (const handle_pair& p : kind_of<Standard>::predefined) {
    if (p.foreign == h) {
      return predefined<Standard>(p.standard);
    }
  }
  return known_or_nobodys<Standard>(nobodys, h);
}

/// Requests have mostly been made, handles of other kinds are mostly predefined. Hot.
template <class Standard>
[[nodiscard, gnu::always_inline]] inline Standard from_foreign(int handle) {
  const auto h = static_cast<std::uint32_t>(handle);
  if constexpr (std::is_same_v<Standard, MPI_Request>) {
    const std::uint32_t number = h & number_mask;
    if (h >> number_bits == made_bits<Standard> && number >= first_made) [[likely]] {
      return kind_of<Standard>::from_int(static_cast<int>(number));
    }
  } else if (h >> number_bits == built_in_bits<Standard>) [[likely]] {
    const std::uint16_t value = predefined_of<Standard>.built_in[h & 0xff];
    if (value != nobodys) [[likely]] {
      return predefined<Standard>(value);
    }
  }
  return from_seldom<Standard>(h);
}

template <class Standard>
[[nodiscard]] int to_foreign(Standard handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < predefined_handles::most) {
    return static_cast<int>(predefined_of<Standard>.foreign[value]);
  }
  const auto number = static_cast<std::uint32_t>(kind_of<Standard>::to_int(handle));
  return static_cast<int>(2U << 30 | kind_of<Standard>::value << number_bits | number);
}

/// A file is a pointer in both.
[[nodiscard]] inline void* to_foreign(MPI_File handle) {
  return handle == MPI_FILE_NULL ? nullptr : handle;
}
template <class Standard>
[[nodiscard]] Standard from_foreign(void* handle) {
  return handle == nullptr ? MPI_FILE_NULL : static_cast<MPI_File>(handle);
}

[[nodiscard]] inline bool is_ignored(const status* s) noexcept {
  return reinterpret_cast<std::intptr_t>(s) == status_ignore || s == nullptr;
}
/// Sizes and the flag lie in the standard's status where abi/mpi/status.hpp says.
inline void size_to(const MPI_Status& from, status& to) noexcept {
  to.bytes_low = from.MPI_internal[0];
  to.bytes_high_and_cancelled = from.MPI_internal[1] << 1 | (from.MPI_internal[2] & 1);
}
inline void size_from(const status& from, MPI_Status& to) noexcept {
  to.MPI_internal[0] = from.bytes_low;
  to.MPI_internal[1] = from.bytes_high_and_cancelled >> 1;
  to.MPI_internal[2] = from.bytes_high_and_cancelled & 1;
}

[[nodiscard]] inline void* address_from(const void* at) noexcept {
  const auto value = reinterpret_cast<std::intptr_t>(at);
  if (value < 0 && value >= buffer_automatic) [[unlikely]] {
    return value == in_place ? MPI_IN_PLACE : MPI_BUFFER_AUTOMATIC;
  }
  return const_cast<void*>(at);
}
[[nodiscard]] inline void* address_to(void* at) noexcept {
  return at == MPI_BUFFER_AUTOMATIC ? reinterpret_cast<void*>(buffer_automatic) : at;
}

/// What the program's MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY point to; mpich.cpp.
extern int unweighted_mark;
extern int weights_empty_mark;
template <class Int>
[[nodiscard]] Int* weights_at(Int* at) noexcept {
  return at == &unweighted_mark      ? MPI_UNWEIGHTED
         : at == &weights_empty_mark ? MPI_WEIGHTS_EMPTY
                                     : at;
}

/// Whether it may be one: it is of that kind.
template <class Standard>
[[nodiscard]] bool is_handle(int handle) noexcept {
  return from_foreign<Standard>(handle) != predefined<Standard>(nobodys);
}

/// The program's functions that stand for the standard's predefined ones.
extern "C" int MPIR_Dup_fn(int from, int key, void* extra, void* in, void* out, int* flag);
[[nodiscard]] inline bool is_null_copy(void (*function)()) noexcept { return function == nullptr; }
[[nodiscard]] inline bool is_null_delete(void (*function)()) noexcept {
  return function == nullptr;
}
[[nodiscard]] inline bool is_duplicate(void (*function)()) noexcept {
  return function == reinterpret_cast<void (*)()>(&MPIR_Dup_fn);
}
[[nodiscard]] inline bool is_null_conversion(void (*function)()) noexcept {
  return function == nullptr;
}

/// What MPI_T_PVAR_ALL_HANDLES is.
extern int all_variables_mark;
[[nodiscard]] inline MPI_T_pvar_handle variable(MPI_T_pvar_handle handle) noexcept {
  return reinterpret_cast<int*>(handle) == &all_variables_mark ? MPI_T_PVAR_ALL_HANDLES : handle;
}

}  // namespace sinew::foreign
