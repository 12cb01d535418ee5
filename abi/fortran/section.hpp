// SPDX-License-Identifier: BSD-3-Clause
// Choice buffers of mpi_f08: array sections as MPI sees them, without a copy where a datatype can
// say where their elements lie (MPI-5.0 sections 19.1.2 and 19.1.12).
#pragma once

#include <cstddef>

#include "abi/fortran/convert.hpp"

namespace sinew::fortran {

struct use {
  bool may_copy;  ///< the call returns only when the buffer is free: a copy can stand in for it
  bool written;   ///< by the call
};

/// A section of an array as extents and strides, the fastest first; neighbouring dimensions that
/// lie one behind the other are one, so that a contiguous array has no stride but its element's.
struct shape {
  static constexpr int most = 15;  ///< dimensions

  shape() = default;
  explicit shape(const descriptor& of);

  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] bool contiguous() const {
    return rank == 0 || (rank == 1 && stride[0] == static_cast<std::ptrdiff_t>(element));
  }
  /// All elements are equally far from their neighbours.
  [[nodiscard]] bool even() const { return rank <= 1; }

  int rank = 0;
  std::size_t element = 0;  ///< bytes
  std::ptrdiff_t extent[most];
  std::ptrdiff_t stride[most];  ///< bytes
};

/// Whether the array is contiguous, the usual case: a few instructions.
inline bool contiguous(const descriptor& array) {
  auto next = static_cast<std::ptrdiff_t>(element_bytes(array));
  for (int d = 0; d < rank_of(array); ++d) {
    if (extent_of(array, d) != 1 && stride_of(array, d) != next) {
      return extent_of(array, d) <= 0;
    }
    next *= extent_of(array, d);
  }
  return true;
}

class held_type;  // section_cache.hpp

/// Part common to all: the buffer as it is, or a contiguous copy that is written back at the end.
class section {
 public:
  section(const section&) = delete;
  section& operator=(const section&) = delete;

  /// No datatype describes the section, and a copy may not be made.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] void* address() const { return at_; }
  /// Committed; of the object.
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 protected:
  section(const descriptor* buffer, MPI_Datatype datatype)
      : buffer_(buffer), at_(address_of(buffer)), type_(datatype) {}
  ~section() {
    if (held_ != nullptr || copy_ != nullptr) [[unlikely]] {
      end();
    }
  }

  void use_type(held_type* held);
  void copy_or_fail(use how);
  void end();

  const descriptor* buffer_;
  void* at_;
  MPI_Datatype type_;
  held_type* held_ = nullptr;  ///< has the type, unless it is the caller's
  char* copy_ = nullptr;
  bool write_back_ = false;
  bool failed_ = false;
};

/// (buffer, count, datatype): the datatype becomes one of the section's first `count` elements.
class counted_section : public section {
 public:
  counted_section(const descriptor* buffer, MPI_Count count, MPI_Datatype datatype, use how)
      : section(buffer, datatype), count_(count) {
    if (!contiguous(*buffer)) [[unlikely]] {
      describe(how);
    }
  }
  [[nodiscard]] MPI_Count count() const { return count_; }

 private:
  void describe(use how);

  MPI_Count count_;
};

/// Blocks of several ranks, or partitions, side by side: a datatype whose extent is the section's
/// stride, if that is even.
class block_section : public section {
 public:
  block_section(const descriptor* buffer, MPI_Datatype datatype, use how)
      : section(buffer, datatype) {
    if (!contiguous(*buffer)) [[unlikely]] {
      describe(how);
    }
  }

 private:
  void describe(use how);
};

/// Where the datatype may not change: operands of reductions, packed data.
class whole_section : public section {
 public:
  whole_section(const descriptor* buffer, use how) : section(buffer, MPI_DATATYPE_NULL) {
    if (!contiguous(*buffer)) [[unlikely]] {
      copy_or_fail(how);
    }
  }
};

/// Reports that `argument` of `procedure` is a section that cannot be passed, to comm's error
/// handler. Returns the code.
int refuse_section(MPI_Comm comm, const char* procedure, const char* argument);

}  // namespace sinew::fortran
