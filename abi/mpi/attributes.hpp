// SPDX-License-Identifier: BSD-3-Clause
// Values that programs attach to communicators, datatypes and windows under keys of their own.
#pragma once

#include <list>

#include "c/mpi.h"

namespace sinew::mpi {

/// The language in which a value was attached or a key's functions are written. Fortran's values
/// are integers: in C they are read as addresses of these (MPI-5.0 section 19.3.7).
enum class language { c, fortran_int, fortran_address };

struct attribute {
  int key;
  language set_by;
  void* value;  ///< C's value, or Fortran's integer
  int small;    ///< the integer again, where C reads it as an int

  /// What C gets: the value, or the address of Fortran's integer, valid while it is attached.
  [[nodiscard]] void* in_c() const {
    switch (set_by) {
      case language::fortran_int:
        return const_cast<int*>(&small);
      case language::fortran_address:
        return const_cast<void**>(&value);
      case language::c:
        break;
    }
    return value;
  }
};

/// The attributes of one object, in the order in which they were set; a node's address holds until
/// it is removed. Cold.
using attributes = std::list<attribute>;

/// What a key belongs to.
enum class attached_to { comm, type, win };

/// Calls the copy functions of all keys; throws failure with the code of the first that fails.
void copy_attributes(attached_to what, void* old_handle, const attributes& from, attributes& to);

/// Calls the delete functions, latest first, and empties the set. Throws likewise.
void delete_attributes(attached_to what, void* handle, attributes& from);

}  // namespace sinew::mpi

/// Not of MPI: libmpifort_abi says with it that the thread's next call that creates a key, sets or
/// gets an attribute comes from Fortran, whose value has `integer_bytes` bytes; 0 takes it back.
/// The library looks for it at run time, so that it runs on libraries without it as well. Exported.
extern "C" void SINEW_caller_is_fortran(int integer_bytes);
