// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's ABI as Fortran sees it: a handle is a number that C's conversions know, and special
// addresses are variables in COMMON blocks, of which a program has a copy that stands for all.
#pragma once

#include "abi/foreign/generated/openmpi/mpi.h"
#include "abi/fortran/descriptor.hpp"

#define F08_PROFILING(name) pmpi_##name##_
#define F08_EXTENSION_PROFILING(name) pmpix_##name##_f08_
#define F08_BY_ADDRESS  // choice buffers have no descriptors, and sections are copied
#define F08_LARGE(name, form)

extern "C" {

// Of libmpi.so.40 (openmpi.cpp), or the program's own.
extern int mpi_fortran_bottom_;
extern int mpi_fortran_in_place_;
extern int mpi_fortran_unweighted_;
extern int mpi_fortran_weights_empty_;
extern int mpi_fortran_errcodes_ignore_;
extern char mpi_fortran_argv_null_;
extern char mpi_fortran_argvs_null_;
extern int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
extern int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];

}  // extern "C"

#define MPI_BUFFER_AUTOMATIC ((void*)2)  // the standard's; Open MPI has no name for it

namespace sinew::fortran {

inline MPI_Comm from_int(int value, MPI_Comm) { return PMPI_Comm_f2c(value); }
inline MPI_Datatype from_int(int value, MPI_Datatype) { return PMPI_Type_f2c(value); }
inline MPI_Errhandler from_int(int v, MPI_Errhandler) { return PMPI_Errhandler_f2c(v); }
inline MPI_File from_int(int value, MPI_File) { return PMPI_File_f2c(value); }
inline MPI_Group from_int(int value, MPI_Group) { return PMPI_Group_f2c(value); }
inline MPI_Info from_int(int value, MPI_Info) { return PMPI_Info_f2c(value); }
inline MPI_Message from_int(int value, MPI_Message) { return PMPI_Message_f2c(value); }
inline MPI_Op from_int(int value, MPI_Op) { return PMPI_Op_f2c(value); }
inline MPI_Request from_int(int value, MPI_Request) { return PMPI_Request_f2c(value); }
inline MPI_Session from_int(int value, MPI_Session) { return PMPI_Session_f2c(value); }
inline MPI_Win from_int(int value, MPI_Win) { return PMPI_Win_f2c(value); }

inline int to_fortran(MPI_Comm handle) { return PMPI_Comm_c2f(handle); }
inline int to_fortran(MPI_Datatype handle) { return PMPI_Type_c2f(handle); }
inline int to_fortran(MPI_Errhandler handle) { return PMPI_Errhandler_c2f(handle); }
inline int to_fortran(MPI_File handle) { return PMPI_File_c2f(handle); }
inline int to_fortran(MPI_Group handle) { return PMPI_Group_c2f(handle); }
inline int to_fortran(MPI_Info handle) { return PMPI_Info_c2f(handle); }
inline int to_fortran(MPI_Message handle) { return PMPI_Message_c2f(handle); }
inline int to_fortran(MPI_Op handle) { return PMPI_Op_c2f(handle); }
inline int to_fortran(MPI_Request handle) { return PMPI_Request_c2f(handle); }
inline int to_fortran(MPI_Session handle) { return PMPI_Session_c2f(handle); }
inline int to_fortran(MPI_Win handle) { return PMPI_Win_c2f(handle); }

template <class Handle>
Handle from_fortran(const int* value) {
  return from_int(*value, Handle{});
}

/// What a handle is that a call does not set: the null handle.
template <class Handle>
Handle unset(const int* /*to*/) {
  constexpr bool is_comm = __is_same(Handle, MPI_Comm);
  return from_int(is_comm ? 2 : 0, Handle{});
}

/// A key of attributes.
inline int key_in_c(int key) { return key; }

inline bool is_bottom(const void* at) { return at == &mpi_fortran_bottom_; }
inline bool is_in_place(const void* at) { return at == &mpi_fortran_in_place_; }
inline bool is_automatic(const void* /*at*/) { return false; }  // it has no variable there
inline bool is_unweighted(const void* at) { return at == &mpi_fortran_unweighted_; }
inline bool is_weights_empty(const void* at) { return at == &mpi_fortran_weights_empty_; }
inline bool is_errcodes_ignore(const void* at) { return at == &mpi_fortran_errcodes_ignore_; }
inline bool is_argv_null(const void* at) { return at == &mpi_fortran_argv_null_; }
inline bool is_argvs_null(const void* at) { return at == &mpi_fortran_argvs_null_; }
inline bool is_status_ignore(const void* at) {
  return at == mpi_fortran_status_ignore_ || at == mpi_fortran_statuses_ignore_;
}
inline void* automatic_cell() { return MPI_BUFFER_AUTOMATIC; }

}  // namespace sinew::fortran
