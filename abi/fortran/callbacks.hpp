// SPDX-License-Identifier: BSD-3-Clause
// Fortran procedures that C's MPI calls; those without an argument of their own (operations, error
// handlers) through a slot (abi/slots.hpp).
#pragma once

#include "abi/fortran/convert.hpp"

namespace sinew::fortran {

/// Null if there is no slot left: the call then fails with MPI_ERR_INTERN and a sentence.
MPI_User_function* operation_of(callback* user);
MPI_User_function_c* large_operation_of(callback* user);
MPI_Comm_errhandler_function* comm_errhandler_of(callback* user);
MPI_File_errhandler_function* file_errhandler_of(callback* user);
MPI_Session_errhandler_function* session_errhandler_of(callback* user);
MPI_Win_errhandler_function* win_errhandler_of(callback* user);

/// Says that the slots for `what` are used up. Returns MPI_ERR_INTERN.
int no_slot(const char* what);

/// The procedures and the state behind a key of attributes. Lives as long as the process: copies
/// of an attribute may outlive its key.
struct attribute_procedures {
  callback* copy;
  callback* erase;
  MPI_Aint state;
  bool old;  ///< made by MPI_KEYVAL_CREATE: values are default INTEGERs
};

MPI_Comm_copy_attr_function* comm_copy_of(callback* user);
MPI_Comm_delete_attr_function* comm_delete_of(callback* user);
MPI_Type_copy_attr_function* type_copy_of(callback* user);
MPI_Type_delete_attr_function* type_delete_of(callback* user);
MPI_Win_copy_attr_function* win_copy_of(callback* user);
MPI_Win_delete_attr_function* win_delete_of(callback* user);

/// Of a generalized request: deleted when it is freed.
struct request_procedures {
  callback* query;
  callback* release;
  callback* cancel;
  MPI_Aint* state;  ///< the program's own variable, as with MPICH and Open MPI
};

int grequest_query(void* state, MPI_Status* status);
int grequest_free(void* state);
int grequest_cancel(void* state, int complete);

/// Of a data representation: lives as long as the process.
struct datarep_procedures {
  callback* read;
  callback* write;
  callback* extent;
  MPI_Aint state;
};

int datarep_read(void* buffer, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                 void* state);
int datarep_write(void* buffer, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                  void* state);
int datarep_read_large(void* buffer, MPI_Datatype datatype, MPI_Count count, void* file,
                       MPI_Offset position, void* state);
int datarep_write_large(void* buffer, MPI_Datatype datatype, MPI_Count count, void* file,
                        MPI_Offset position, void* state);
int datarep_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state);

}  // namespace sinew::fortran
