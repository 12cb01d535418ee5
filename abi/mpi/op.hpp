// SPDX-License-Identifier: BSD-3-Clause
// Reduction operations behind their handles.
#pragma once

#include "abi/mpi/errors.hpp"
#include "abi/mpi/handles.hpp"
#include "sinew/coll/op.hpp"

namespace sinew::mpi {

struct op_object : object {
  static constexpr kind tag = kind::op;
  op_object() : object(tag) {}
  bool commutative = true;
  MPI_User_function* small = nullptr;  ///< one of the two
  MPI_User_function_c* large = nullptr;
};

/// An operation ready for coll; not copied. The program may free the operation and the datatype
/// while it lives. Throws MPI_ERR_OP if the handle is bad or the operation is not defined for the
/// type.
class bound_op {
 public:
  bound_op(MPI_Op handle, MPI_Datatype type, const layout::datatype& of);
  bound_op(const bound_op&) = delete;
  bound_op& operator=(const bound_op&) = delete;
  ~bound_op() {
    if (user_ != nullptr) [[unlikely]] {
      release();
    }
  }
  operator const coll::op&() const noexcept { return op_; }
  const coll::op* operator->() const noexcept { return &op_; }

 private:
  static void call(void* self, const void* in, void* inout, std::size_t count,
                   const layout::datatype& type);
  [[gnu::cold]] void release() noexcept;

  coll::op op_;
  op_object* user_ = nullptr;  ///< shared in, and so is its datatype
  MPI_Datatype type_;
};

/// The operation of a handle that is predefined, which lives for ever; null if it is the program's
/// own. Throws as bound_op does. Hot.
[[nodiscard]] const coll::op* predefined(MPI_Op handle, MPI_Datatype type,
                                         const layout::datatype& of);

/// For accumulates: a predefined operation, MPI_REPLACE and MPI_NO_OP among them, defined for
/// elements of `of`. Throws MPI_ERR_OP.
[[nodiscard]] coll::op accumulate_op(MPI_Op handle, layout::element of);

}  // namespace sinew::mpi

/// For abi/foreign: what `op` calls from now on, unless it is predefined.
extern "C" [[gnu::visibility("default")]] void SINEW_set_operation(MPI_Op op,
                                                                   MPI_User_function* function);
