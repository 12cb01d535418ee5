// SPDX-License-Identifier: BSD-3-Clause
#include "abi/fortran/section.hpp"

#include <cstdio>
#include <cstring>
#include <new>

#include "abi/fortran/section_cache.hpp"

namespace sinew::fortran {
namespace {

/// Copies between the section and a contiguous buffer, element by element.
template <class Move>
void each_element(const shape& s, char* base, Move move) {
  std::ptrdiff_t at[shape::most] = {};
  const std::size_t count = s.elements();
  char* element = base;
  for (std::size_t i = 0; i < count; ++i) {
    move(element, i);
    for (int d = 0; d < s.rank; ++d) {
      element += s.stride[d];
      if (++at[d] < s.extent[d]) {
        break;
      }
      element -= s.stride[d] * s.extent[d];
      at[d] = 0;
    }
  }
}

/// A datatype while it is built: freed unless it is released.
class building {
 public:
  building() = default;
  building(const building&) = delete;
  building& operator=(const building&) = delete;
  ~building() {
    if (type_ != MPI_DATATYPE_NULL) {
      PMPI_Type_free(&type_);
    }
  }
  MPI_Datatype* to() { return &type_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  MPI_Datatype release() {
    MPI_Datatype released = type_;
    type_ = MPI_DATATYPE_NULL;
    return released;
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// What is behind one element of the section: `per_element` of the caller's datatypes.
struct unit {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Count of_it = 0;     ///< units that make one element
  MPI_Count elements = 1;  ///< elements that one of the caller's datatypes covers
  bool known = false;
};

/// How the datatype lies over elements of `bytes` bytes. A datatype without holes may be cut or
/// joined as bytes; another must cover one element exactly.
unit unit_of(MPI_Datatype datatype, std::size_t bytes) {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;
  if (PMPI_Type_size_c(datatype, &size) != MPI_SUCCESS ||
      PMPI_Type_get_extent_c(datatype, &lower, &extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_c(datatype, &true_lower, &true_extent) != MPI_SUCCESS) {
    return {};
  }
  const auto element = static_cast<MPI_Count>(bytes);
  if (lower == 0 && extent == element) {
    return {datatype, 1, 1, true};
  }
  const bool dense = lower == 0 && true_lower == 0 && size == extent && size == true_extent;
  if (!dense || size == 0) {
    return {};
  }
  if (element % size == 0) {
    return {datatype, element / size, 1, true};
  }
  if (size % element == 0) {
    return {MPI_BYTE, element, size / element, true};
  }
  return {};
}

/// The first `elements` of the section's lowest `rank` dimensions, from `base` units an element.
int describe(const shape& s, int rank, MPI_Count elements, const unit& u, building& to) {
  if (rank == 0) {
    return PMPI_Type_contiguous_c(u.of_it, u.type, to.to());
  }
  if (rank == 1) {
    return PMPI_Type_create_hvector_c(elements, u.of_it, s.stride[0], u.type, to.to());
  }
  MPI_Count plane = 1;
  for (int d = 0; d < rank - 1; ++d) {
    plane *= s.extent[d];
  }
  const MPI_Count whole = elements / plane;
  const MPI_Count rest = elements % plane;
  building one;
  building planes;
  if (int code = describe(s, rank - 1, plane, u, one); code != MPI_SUCCESS) {
    return code;
  }
  building& all = rest == 0 ? to : planes;
  if (int code = PMPI_Type_create_hvector_c(whole, 1, s.stride[rank - 1], one.type(), all.to());
      code != MPI_SUCCESS || rest == 0) {
    return code;
  }
  building last;
  if (int code = describe(s, rank - 1, rest, u, last); code != MPI_SUCCESS) {
    return code;
  }
  const MPI_Count lengths[2] = {1, 1};
  const MPI_Count places[2] = {0, whole * s.stride[rank - 1]};
  const MPI_Datatype types[2] = {planes.type(), last.type()};
  return PMPI_Type_create_struct_c(2, lengths, places, types, to.to());
}

}  // namespace

shape::shape(const descriptor& of) : element(element_bytes(of)) {
  for (int d = 0; d < rank_of(of); ++d) {
    const std::ptrdiff_t count = extent_of(of, d);
    const std::ptrdiff_t step = stride_of(of, d);
    if (count == 1) {
      continue;
    }
    if (rank > 0 && step == stride[rank - 1] * extent[rank - 1]) {
      extent[rank - 1] *= count;
      continue;
    }
    extent[rank] = count;
    stride[rank] = step;
    ++rank;
  }
}

std::size_t shape::elements() const {
  std::size_t count = 1;
  for (int d = 0; d < rank; ++d) {
    count *= static_cast<std::size_t>(extent[d]);
  }
  return count;
}

void section::copy_or_fail(use how) {
  if (at_ != base_of(*buffer_)) {
    return;  // a special address
  }
  if (!how.may_copy) {
    failed_ = true;
    return;
  }
  const shape s(*buffer_);
  copy_ = new char[s.elements() * s.element];
  // Also what is only written is copied: the call may leave a part as it is.
  each_element(s, static_cast<char*>(at_), [&](const char* element, std::size_t i) {
    std::memcpy(copy_ + i * s.element, element, s.element);
  });
  write_back_ = how.written;
  at_ = copy_;
}

void section::use_type(held_type* held) {
  held_ = held;
  type_ = type_of(*held);
}

void section::end() {
  if (held_ != nullptr) {
    release(held_);
  }
  if (copy_ != nullptr) {
    if (write_back_) {
      const shape s(*buffer_);
      each_element(s, static_cast<char*>(base_of(*buffer_)), [&](char* element, std::size_t i) {
        std::memcpy(element, copy_ + i * s.element, s.element);
      });
    }
    delete[] copy_;
  }
}

void counted_section::describe(use how) {
  if (at_ != base_of(*buffer_) || count_ <= 0) {
    return;  // a special address; nothing; or an error that C reports
  }
  const shape s(*buffer_);
  if (s.contiguous()) {
    return;
  }
  const section_key key{section_key::counted, type_, count_, s};
  if (held_type* const known = find_type(key)) {
    use_type(known);
    count_ = 1;
    return;
  }
  const unit u = unit_of(type_, s.element);
  const MPI_Count elements =
      u.of_it > 1 && u.type == type_ ? count_ / u.of_it : count_ * u.elements;
  const bool ends_inside = u.of_it > 1 && u.type == type_ && count_ % u.of_it != 0;
  building made;
  if (!u.known || ends_inside || elements > static_cast<MPI_Count>(s.elements()) ||
      fortran::describe(s, s.rank, elements, u, made) != MPI_SUCCESS ||
      PMPI_Type_commit(made.to()) != MPI_SUCCESS) {
    copy_or_fail(how);
    return;
  }
  use_type(keep_type(key, made.release()));
  count_ = 1;
}

void block_section::describe(use how) {
  if (at_ != base_of(*buffer_)) {
    return;
  }
  const shape s(*buffer_);
  if (s.contiguous()) {
    return;
  }
  const section_key key{section_key::blocks, type_, 0, s};
  if (held_type* const known = find_type(key)) {
    use_type(known);
    return;
  }
  const unit u = unit_of(type_, s.element);
  building made;
  if (!s.even() || s.stride[0] < 0 || !u.known || u.type != type_ || u.of_it != 1 ||
      PMPI_Type_create_resized_c(type_, 0, s.stride[0], made.to()) != MPI_SUCCESS ||
      PMPI_Type_commit(made.to()) != MPI_SUCCESS) {
    copy_or_fail(how);
    return;
  }
  use_type(keep_type(key, made.release()));
}

int refuse_section(MPI_Comm comm, const char* procedure, const char* argument) {
  std::fprintf(stderr,
               "sinew: error: %s: %s is an array section that no datatype describes for this call, "
               "which returns before it is done with it: pass a contiguous array, and copy it.\n",
               procedure, argument);
  PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

}  // namespace sinew::fortran
