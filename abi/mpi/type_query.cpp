// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 5.1.5 to 5.1.14: what a datatype is, how it was made, which one fits.
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

void check_room(std::size_t needed, MPI_Count room, const char* what) {
  if (room < 0 || needed > static_cast<std::size_t>(room)) {
    fail(MPI_ERR_ARG, "there is room for %lld %s of %zu", static_cast<long long>(room), what,
         needed);
  }
}

/// Types that come out of MPI_Type_get_contents are new handles, but for predefined ones.
void give_types(const recipe& made, MPI_Datatype* to) {
  for (std::size_t i = 0; i < made.types.size(); ++i) {
    keep(resolve<type_object>(made.types[i]));
    to[i] = made.types[i];
  }
}

const recipe& unmade(MPI_Datatype datatype) {
  const recipe& made = type_of(datatype).made;
  if (made.combiner == MPI_COMBINER_NAMED || made.combiner == MPI_COMBINER_F90_REAL ||
      made.combiner == MPI_COMBINER_F90_COMPLEX || made.combiner == MPI_COMBINER_F90_INTEGER) {
    if (made.integers.empty()) {
      fail(MPI_ERR_TYPE, "a predefined datatype has no contents");
    }
  }
  return made;
}

template <class T>
void copy_list(const std::vector<T>& from, T* to) {
  if (!from.empty()) {
    std::memcpy(to, from.data(), from.size() * sizeof(T));
  }
}

/// The types of MPI_Type_create_f90_*: the same arguments give the same handle.
int f90(int combiner, int precision, int range, MPI_Datatype base, MPI_Datatype* to) {
  check_out(to, "newtype");
  static auto& lock = *new std::mutex;
  static auto& known = *new std::map<std::tuple<int, int, int>, MPI_Datatype>;
  const std::lock_guard held(lock);
  MPI_Datatype& found = known[{combiner, precision, range}];
  if (found == nullptr) {
    recipe made;
    made.combiner = combiner;
    if (combiner != MPI_COMBINER_F90_INTEGER) {
      made.integers.push_back(precision);
    }
    made.integers.push_back(range);
    auto* t = arena<type_object>::make(layout::share(*type_of(base).layout), std::move(made));
    t->committed = true;
    t->references = 1 << 30;  // lives for ever, as if predefined
    t->name = type_of(base).name;
    found = handle_of<MPI_Datatype>(t);
  }
  SINEW_ENSURE(found != nullptr);
  *to = found;
  return MPI_SUCCESS;
}

/// 4, 8 or 16 bytes for a real of this many decimal digits and exponent range.
int real_bytes(int p, int r) {
  const int digits = p == MPI_UNDEFINED ? 0 : p;
  const int range = r == MPI_UNDEFINED ? 0 : r;
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) {
    fail(MPI_ERR_ARG, "precision and range are both MPI_UNDEFINED");
  }
  if (digits <= 6 && range <= 37) {
    return 4;
  }
  if (digits <= 15 && range <= 307) {
    return 8;
  }
  if (digits <= 33 && range <= 4931) {
    return 16;
  }
  fail(MPI_ERR_ARG, "there is no real kind of %d digits and range %d", p, r);
}

}  // namespace

int impl::Type_size(MPI_Datatype datatype, MPI_Count* size) {
  check_out(size, "size");
  *size = static_cast<MPI_Count>(type_of(datatype).layout->size());
  return MPI_SUCCESS;
}
int impl::Type_size_x(MPI_Datatype datatype, MPI_Count* size) { return Type_size(datatype, size); }

int impl::Type_get_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  check_out(lb, "lb");
  check_out(extent, "extent");
  const layout::datatype& t = *type_of(datatype).layout;
  *lb = t.lower();
  *extent = t.extent();
  return MPI_SUCCESS;
}
int impl::Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return Type_get_extent(datatype, lb, extent);
}

int impl::Type_get_true_extent(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  check_out(true_lb, "true_lb");
  check_out(true_extent, "true_extent");
  const layout::datatype& t = *type_of(datatype).layout;
  *true_lb = t.true_lower();
  *true_extent = t.true_extent();
  return MPI_SUCCESS;
}
int impl::Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb,
                                 MPI_Count* true_extent) {
  return Type_get_true_extent(datatype, true_lb, true_extent);
}

int impl::Type_set_name(MPI_Datatype datatype, const char* type_name) {
  check_out(type_name, "type_name");
  type_of(datatype).name = std::string(type_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int impl::Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  check_out(type_name, "type_name");
  check_out(resultlen, "resultlen");
  const std::string name =
      datatype == MPI_DATATYPE_NULL ? std::string("MPI_DATATYPE_NULL") : type_of(datatype).name;
  SINEW_ASSERT(name.size() < MPI_MAX_OBJECT_NAME);
  std::memcpy(type_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return MPI_SUCCESS;
}

int impl::Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses,
                            int* num_datatypes, int* combiner) {
  check_out(num_integers, "num_integers");
  check_out(num_addresses, "num_addresses");
  check_out(num_datatypes, "num_datatypes");
  check_out(combiner, "combiner");
  const recipe& made = type_of(datatype).made;
  if (!made.counts.empty()) {
    fail(MPI_ERR_TYPE, "the datatype was made with large counts: ask MPI_Type_get_envelope_c");
  }
  *num_integers = static_cast<int>(made.integers.size());
  *num_addresses = static_cast<int>(made.addresses.size());
  *num_datatypes = static_cast<int>(made.types.size());
  *combiner = made.combiner;
  return MPI_SUCCESS;
}

int impl::Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers,
                              MPI_Count* num_addresses, MPI_Count* num_large_counts,
                              MPI_Count* num_datatypes, int* combiner) {
  check_out(num_integers, "num_integers");
  check_out(num_addresses, "num_addresses");
  check_out(num_large_counts, "num_large_counts");
  check_out(num_datatypes, "num_datatypes");
  check_out(combiner, "combiner");
  const recipe& made = type_of(datatype).made;
  *num_integers = static_cast<MPI_Count>(made.integers.size());
  *num_addresses = static_cast<MPI_Count>(made.addresses.size());
  *num_large_counts = static_cast<MPI_Count>(made.counts.size());
  *num_datatypes = static_cast<MPI_Count>(made.types.size());
  *combiner = made.combiner;
  return MPI_SUCCESS;
}

int impl::Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                            int max_datatypes, int array_of_integers[],
                            MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]) {
  const recipe& made = unmade(datatype);
  if (!made.counts.empty()) {
    fail(MPI_ERR_TYPE, "the datatype was made with large counts: ask MPI_Type_get_contents_c");
  }
  check_room(made.integers.size(), max_integers, "integers");
  check_room(made.addresses.size(), max_addresses, "addresses");
  check_room(made.types.size(), max_datatypes, "datatypes");
  copy_list(made.integers, array_of_integers);
  copy_list(made.addresses, array_of_addresses);
  give_types(made, array_of_datatypes);
  return MPI_SUCCESS;
}

int impl::Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
                              MPI_Count max_addresses, MPI_Count max_large_counts,
                              MPI_Count max_datatypes, int array_of_integers[],
                              MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                              MPI_Datatype array_of_datatypes[]) {
  const recipe& made = unmade(datatype);
  check_room(made.integers.size(), max_integers, "integers");
  check_room(made.addresses.size(), max_addresses, "addresses");
  check_room(made.counts.size(), max_large_counts, "large counts");
  check_room(made.types.size(), max_datatypes, "datatypes");
  copy_list(made.integers, array_of_integers);
  copy_list(made.addresses, array_of_addresses);
  copy_list(made.counts, array_of_large_counts);
  give_types(made, array_of_datatypes);
  return MPI_SUCCESS;
}

int impl::Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  check_out(datatype, "datatype");
  static const std::map<std::pair<int, int>, MPI_Datatype> fitting = {
      {{MPI_TYPECLASS_INTEGER, 1}, MPI_INTEGER1},   {{MPI_TYPECLASS_INTEGER, 2}, MPI_INTEGER2},
      {{MPI_TYPECLASS_INTEGER, 4}, MPI_INTEGER4},   {{MPI_TYPECLASS_INTEGER, 8}, MPI_INTEGER8},
      {{MPI_TYPECLASS_INTEGER, 16}, MPI_INTEGER16}, {{MPI_TYPECLASS_REAL, 2}, MPI_REAL2},
      {{MPI_TYPECLASS_REAL, 4}, MPI_REAL4},         {{MPI_TYPECLASS_REAL, 8}, MPI_REAL8},
      {{MPI_TYPECLASS_REAL, 16}, MPI_REAL16},       {{MPI_TYPECLASS_COMPLEX, 4}, MPI_COMPLEX4},
      {{MPI_TYPECLASS_COMPLEX, 8}, MPI_COMPLEX8},   {{MPI_TYPECLASS_COMPLEX, 16}, MPI_COMPLEX16},
      {{MPI_TYPECLASS_COMPLEX, 32}, MPI_COMPLEX32},
  };
  const auto at = fitting.find({typeclass, size});
  if (at == fitting.end()) {
    fail(MPI_ERR_ARG, "no datatype of class %d has %d bytes", typeclass, size);
  }
  *datatype = at->second;
  return MPI_SUCCESS;
}

int impl::Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  const int bytes = real_bytes(p, r);
  return f90(MPI_COMBINER_F90_REAL, p, r,
             bytes == 4   ? MPI_REAL4
             : bytes == 8 ? MPI_REAL8
                          : MPI_REAL16,
             newtype);
}

int impl::Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  const int bytes = real_bytes(p, r);
  return f90(MPI_COMBINER_F90_COMPLEX, p, r,
             bytes == 4   ? MPI_COMPLEX8
             : bytes == 8 ? MPI_COMPLEX16
                          : MPI_COMPLEX32,
             newtype);
}

int impl::Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  if (r > 18) {
    fail(MPI_ERR_ARG, "there is no integer kind of range %d", r);
  }
  return f90(MPI_COMBINER_F90_INTEGER, 0, r,
             r <= 2   ? MPI_INTEGER1
             : r <= 4 ? MPI_INTEGER2
             : r <= 9 ? MPI_INTEGER4
                      : MPI_INTEGER8,
             newtype);
}

int impl::Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                               MPI_Datatype* pair_type) {
  check_out(pair_type, "pair_type");
  (void)type_of(value_type);
  (void)type_of(index_type);
  *pair_type = MPI_DATATYPE_NULL;
  if (index_type == MPI_INT) {
    *pair_type = value_type == MPI_FLOAT         ? MPI_FLOAT_INT
                 : value_type == MPI_DOUBLE      ? MPI_DOUBLE_INT
                 : value_type == MPI_LONG        ? MPI_LONG_INT
                 : value_type == MPI_INT         ? MPI_2INT
                 : value_type == MPI_SHORT       ? MPI_SHORT_INT
                 : value_type == MPI_LONG_DOUBLE ? MPI_LONG_DOUBLE_INT
                                                 : MPI_DATATYPE_NULL;
  }
  return MPI_SUCCESS;
}

int impl::Get_address(const void* location, MPI_Aint* address) {
  check_out(address, "address");
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

MPI_Aint impl::Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}
MPI_Aint impl::Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}

}  // namespace sinew::mpi
