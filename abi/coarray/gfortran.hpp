// SPDX-License-Identifier: BSD-3-Clause
// What gfortran passes to its coarray runtime: layouts of GCC 8 to 16 on 64-bit systems, as its
// -fdump-tree-original shows them. Not ISO_Fortran_binding's descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::coarray {

using index = std::ptrdiff_t;

inline constexpr int most_dimensions = 15;

enum class type : std::int8_t {
  unknown = 0,
  integer = 1,
  logical = 2,
  real = 3,
  complex = 4,
  derived = 5,
  character = 6,
  polymorphic = 7,
  nothing = 10,  ///< void
};

struct dimension {
  index stride;  ///< in elements of `span` bytes
  index lower;
  index upper;
  [[nodiscard]] index extent() const noexcept { return upper < lower ? 0 : upper - lower + 1; }
};

struct element_type {
  std::size_t bytes;
  int version;
  std::int8_t rank;
  coarray::type type;
  std::int16_t attribute;
};

/// The compiler makes it as long as the rank asks for; never copied whole.
struct descriptor {
  void* base;
  std::size_t offset;  ///< in elements, signed
  element_type element;
  index span;
  dimension dim[most_dimensions];

  [[nodiscard]] int rank() const noexcept {
    SINEW_ENSURE(element.rank >= 0 && element.rank <= most_dimensions);
    return element.rank;
  }
  /// The bytes from one element to the next. Old code leaves span zero.
  [[nodiscard]] index step() const noexcept {
    return span != 0 ? span : static_cast<index>(element.bytes);
  }
};

/// One dimension of a vector subscript; `count` 0: a triplet.
struct vector_subscript {
  std::size_t count;
  union {
    struct {
      index lower, upper, stride;
    } triplet;
    struct {
      void* values;  ///< absolute subscripts
      int kind;
    } vector;
  };
};

enum class reference_type : int { component = 0, array = 1, static_array = 2 };
enum class subscript : unsigned char {
  none = 0,
  vector = 1,
  full = 2,
  range = 3,
  single = 4,
  open_end = 5,
  open_start = 6,
};

/// One step of x[i]%a%b(3:5)%c.
struct reference {
  reference* next;
  reference_type type;
  std::size_t item_bytes;
  union {
    struct {
      index offset;
      index token_offset;  ///< 0: neither allocatable nor pointer
    } component;
    struct {
      subscript mode[most_dimensions];
      int static_type;
      union {
        struct {
          index start, end, stride;  ///< of static arrays: in elements from the first one
        } range;
        struct {
          void* values;
          std::size_t count;
          int kind;
        } vector;
      } dim[most_dimensions];
    } array;
  };
};

enum class registration : int {
  static_object = 0,
  allocatable = 1,
  static_lock = 2,
  allocatable_lock = 3,
  critical = 4,
  static_event = 5,
  allocatable_event = 6,
  component_token = 7,
  component_memory = 8,
  alias = 9,
};
enum class deregistration : int { everything = 0, memory_only = 1 };

/// STAT values of ISO_FORTRAN_ENV as gfortran defines them, and ours for what it leaves open.
namespace stat {
inline constexpr int ok = 0;
inline constexpr int unlocked = 0;
inline constexpr int locked = 1;
inline constexpr int locked_other_image = 2;
inline constexpr int duplicate_image = 3;
inline constexpr int stopped_image = 6000;
inline constexpr int failed_image = 6001;
inline constexpr int unlocked_failed_image = 6002;
inline constexpr int other = 7000;  ///< any other failure; ERRMSG says which
}  // namespace stat

static_assert(sizeof(element_type) == 16 && offsetof(descriptor, element) == 16);
static_assert(offsetof(descriptor, span) == 32 && sizeof(vector_subscript) == 32);
static_assert(sizeof(dimension) == 24 && offsetof(descriptor, dim) == 40);
static_assert(offsetof(reference, component) == 24);
static_assert(offsetof(reference, array.dim) == 48);

}  // namespace sinew::coarray
