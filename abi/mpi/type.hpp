// SPDX-License-Identifier: BSD-3-Clause
// Datatypes behind their handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi/mpi/attributes.hpp"
#include "abi/mpi/errors.hpp"
#include "abi/mpi/handles.hpp"
#include "sinew/base/check.hpp"
#include "sinew/layout/datatype.hpp"

namespace sinew::mpi {

/// How a type was made, for MPI_Type_get_envelope and MPI_Type_get_contents.
struct recipe {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;  ///< made by a large-count function: counts are in `counts`
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Datatype> types;  ///< each holds a reference
};

struct type_object : object {
  static constexpr kind tag = kind::type;
  type_object(layout::datatype_ref l, recipe r)
      : object(tag), layout(std::move(l)), made(std::move(r)) {
    SINEW_EXPECT(layout.get() != nullptr);
  }
  ~type_object();

  layout::datatype_ref layout;
  bool committed = false;
  std::string name;
  recipe made;
  attributes attached;
};

/// Handles of predefined datatypes have the values from MPI_DATATYPE_NULL's on (MPI-5.0 appendix
/// A).
inline constexpr std::uintptr_t first_type_value = abi::handle_datatype_null;
inline constexpr std::uintptr_t type_values = 256;
[[nodiscard]] constexpr bool is_predefined_type(std::uintptr_t value) noexcept {
  return value - first_type_value < type_values;
}
static_assert(first_type_value + type_values <= first_address);
static_assert(is_predefined_type(abi::handle_complex32));

/// The predefined ones by value - first_type_value; null where there is none.
extern const layout::datatype* predefined_layouts[type_values];

/// Throw MPI_ERR_TYPE and say why. Cold.
[[noreturn, gnu::cold]] void bad_type(MPI_Datatype handle);
[[noreturn, gnu::cold]] void uncommitted_type(MPI_Datatype handle);
/// MPI_DATATYPE_NULL with no data is a type of no bytes, as programs have it from MPICH, mostly
/// where the partner is MPI_PROC_NULL. Throws for anything else.
[[nodiscard, gnu::cold]] const layout::datatype& no_data(MPI_Datatype handle, bool empty);

/// The layout of a type that is to be used in communication: must be committed. Hot.
[[nodiscard]] inline const layout::datatype& layout_of(MPI_Datatype handle) {
  const std::uintptr_t v = value_of(handle);
  if (is_predefined_type(v)) [[likely]] {
    const layout::datatype* found = predefined_layouts[v - first_type_value];
    if (found == nullptr) [[unlikely]] {
      bad_type(handle);
    }
    return *found;
  }
  auto* found = resolve<type_object>(handle);
  if (found == nullptr) [[unlikely]] {
    bad_type(handle);
  }
  if (!found->committed) [[unlikely]] {
    uncommitted_type(handle);
  }
  SINEW_ENSURE(found->layout.get() != nullptr);
  return *found->layout;
}

/// The same; null where layout_of() throws. Cold.
[[nodiscard]] const layout::datatype* layout_if_usable(MPI_Datatype handle) noexcept;

/// The same for a buffer, of which it is known whether it is empty. Hot.
[[nodiscard]] inline const layout::datatype& layout_of(MPI_Datatype handle, bool empty) {
  const std::uintptr_t v = value_of(handle);
  if (is_predefined_type(v)) [[likely]] {
    const layout::datatype* found = predefined_layouts[v - first_type_value];
    return found != nullptr ? *found : no_data(handle, empty);
  }
  return layout_of(handle);
}

/// Throws MPI_ERR_COUNT: a count times a size overflows. Cold.
[[noreturn, gnu::cold]] void size_overflows();
/// Bytes of one instance in external32; throws MPI_ERR_COUNT.
[[nodiscard]] std::size_t external_size_of(const layout::datatype& t);

/// The object, predefined ones included (made on first use). Cold.
[[nodiscard]] type_object& type_of(MPI_Datatype handle);

}  // namespace sinew::mpi
