// SPDX-License-Identifier: BSD-3-Clause
// The predefined datatypes (MPI-5.0 section 3.2.2 and appendix A) and the lookup of handles.
#include "abi/mpi/type.hpp"

#include <mpi-ext.h>

#include <iterator>
#include <mutex>
#include <optional>

#include "abi/mpi/comm.hpp"
#include "sinew/base/check.hpp"
#include "sinew/layout/external32.hpp"

namespace sinew::mpi {
namespace {

using layout::element;

struct entry {
  MPI_Datatype handle;
  const char* name;
  element kind;
};

const entry entries[] = {
    {MPI_AINT, "MPI_AINT", element::address},
    {MPI_COUNT, "MPI_COUNT", element::count},
    {MPI_OFFSET, "MPI_OFFSET", element::offset_},
    {MPI_PACKED, "MPI_PACKED", element::byte},
    {MPI_SHORT, "MPI_SHORT", element::i16},
    {MPI_INT, "MPI_INT", element::i32},
    {MPI_LONG, "MPI_LONG", element::c_long},
    {MPI_LONG_LONG, "MPI_LONG_LONG_INT", element::i64},
    {MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", element::u16},
    {MPI_UNSIGNED, "MPI_UNSIGNED", element::u32},
    {MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", element::c_ulong},
    {MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", element::u64},
    {MPI_FLOAT, "MPI_FLOAT", element::f32},
    {MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", element::c32},
    {MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", element::c32},
    {MPI_DOUBLE, "MPI_DOUBLE", element::f64},
    {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", element::c64},
    {MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", element::c64},
    {MPI_LOGICAL, "MPI_LOGICAL", element::logical4},
    {MPI_INTEGER, "MPI_INTEGER", element::i32},
    {MPI_REAL, "MPI_REAL", element::f32},
    {MPI_COMPLEX, "MPI_COMPLEX", element::c32},
    {MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", element::f64},
    {MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", element::c64},
    {MPI_CHARACTER, "MPI_CHARACTER", element::character},
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", element::f80},
    {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", element::c80},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", element::c80},
    {MPI_FLOAT_INT, "MPI_FLOAT_INT", element::pair_f32_i32},
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", element::pair_f64_i32},
    {MPI_LONG_INT, "MPI_LONG_INT", element::pair_long_i32},
    {MPI_2INT, "MPI_2INT", element::pair_i32_i32},
    {MPI_SHORT_INT, "MPI_SHORT_INT", element::pair_i16_i32},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", element::pair_f80_i32},
    {MPI_2REAL, "MPI_2REAL", element::pair_f32_f32},
    {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", element::pair_f64_f64},
    {MPI_2INTEGER, "MPI_2INTEGER", element::pair_i32_i32},
    {MPI_C_BOOL, "MPI_C_BOOL", element::boolean},
    {MPI_CXX_BOOL, "MPI_CXX_BOOL", element::boolean},
    {MPI_WCHAR, "MPI_WCHAR", element::wide_character},
    {MPI_INT8_T, "MPI_INT8_T", element::i8},
    {MPI_UINT8_T, "MPI_UINT8_T", element::u8},
    {MPI_CHAR, "MPI_CHAR", element::c_char},
    {MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", element::i8},
    {MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", element::u8},
    {MPI_BYTE, "MPI_BYTE", element::byte},
    {MPI_INT16_T, "MPI_INT16_T", element::i16},
    {MPI_UINT16_T, "MPI_UINT16_T", element::u16},
    {MPIX_C_FLOAT16, "MPIX_C_FLOAT16", element::f16},
    {MPIX_BFLOAT16, "MPIX_BFLOAT16", element::bf16},
    {MPI_INT32_T, "MPI_INT32_T", element::i32},
    {MPI_UINT32_T, "MPI_UINT32_T", element::u32},
    {MPI_INT64_T, "MPI_INT64_T", element::i64},
    {MPI_UINT64_T, "MPI_UINT64_T", element::u64},
    {MPI_LOGICAL1, "MPI_LOGICAL1", element::logical1},
    {MPI_INTEGER1, "MPI_INTEGER1", element::i8},
    {MPI_LOGICAL2, "MPI_LOGICAL2", element::logical2},
    {MPI_INTEGER2, "MPI_INTEGER2", element::i16},
    {MPI_REAL2, "MPI_REAL2", element::f16},
    {MPI_LOGICAL4, "MPI_LOGICAL4", element::logical4},
    {MPI_INTEGER4, "MPI_INTEGER4", element::i32},
    {MPI_REAL4, "MPI_REAL4", element::f32},
    {MPI_COMPLEX4, "MPI_COMPLEX4", element::c16},
    {MPI_LOGICAL8, "MPI_LOGICAL8", element::logical8},
    {MPI_INTEGER8, "MPI_INTEGER8", element::i64},
    {MPI_REAL8, "MPI_REAL8", element::f64},
    {MPI_COMPLEX8, "MPI_COMPLEX8", element::c32},
    {MPI_LOGICAL16, "MPI_LOGICAL16", element::logical16},
    {MPI_INTEGER16, "MPI_INTEGER16", element::i128},
    {MPI_REAL16, "MPI_REAL16", element::f128},
    {MPI_COMPLEX16, "MPI_COMPLEX16", element::c64},
    {MPI_COMPLEX32, "MPI_COMPLEX32", element::c128},
};

static_assert(std::size(entries) <= type_values);

type_object* objects[type_values];

/// Fills both tables before main(); constructors of layouts have no order to depend on.
struct filler {
  filler() {
    for (const entry& e : entries) {
      const std::size_t at = value_of(e.handle) - first_type_value;
      SINEW_ASSERT(is_predefined_type(value_of(e.handle)));
      SINEW_ASSERT(objects[at] == nullptr);
      layout::datatype_ref made = layout::share(layout::of(e.kind));
      SINEW_ASSERT(made.get() != nullptr && made->size() == layout::size_of(e.kind));
      predefined_layouts[at] = made.get();
      auto* o = new type_object(std::move(made), {});
      o->committed = true;
      o->name = e.name;
      o->references = 1 << 30;
      objects[at] = o;
    }
  }
};
const filler filled;

}  // namespace

const layout::datatype* predefined_layouts[type_values];

type_object::~type_object() {
  for (MPI_Datatype t : made.types) {
    drop(resolve<type_object>(t));
  }
}

const layout::datatype* layout_if_usable(MPI_Datatype handle) noexcept {
  const std::uintptr_t v = value_of(handle);
  if (is_predefined_type(v)) {
    return predefined_layouts[v - first_type_value];
  }
  const auto* const found = resolve<type_object>(handle);
  return found != nullptr && found->committed ? found->layout.get() : nullptr;
}

void bad_type(MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL) {
    fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  }
  fail(MPI_ERR_TYPE, "the datatype %p has been freed or never was one",
       static_cast<const void*>(handle));
}

const layout::datatype& no_data(MPI_Datatype handle, bool empty) {
  if (handle != MPI_DATATYPE_NULL || !empty) {
    bad_type(handle);
  }
  return layout::of(element::byte);
}

void uncommitted_type(MPI_Datatype handle) {
  const auto* t = resolve<type_object>(handle);
  SINEW_EXPECT(t != nullptr && !t->committed);
  fail(MPI_ERR_TYPE, "the datatype %s has not been committed (MPI_Type_commit)",
       t->name.empty() ? "of this call" : t->name.c_str());
}

void size_overflows() { fail(MPI_ERR_COUNT, "the size of the data overflows"); }

std::size_t external_size_of(const layout::datatype& t) {
  const std::optional<std::size_t> bytes = layout::external_size(t);
  if (!bytes) {
    size_overflows();
  }
  return *bytes;
}

type_object& type_of(MPI_Datatype handle) {
  const std::uintptr_t v = value_of(handle);
  auto* found =
      is_predefined_type(v) ? objects[v - first_type_value] : resolve<type_object>(handle);
  if (found == nullptr) {
    bad_type(handle);
  }
  SINEW_ENSURE(found->layout.get() != nullptr);
  return *found;
}

}  // namespace sinew::mpi
