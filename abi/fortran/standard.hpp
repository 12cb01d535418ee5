// SPDX-License-Identifier: BSD-3-Clause
// The standard ABI as Fortran sees it: an INTEGER handle is what MPI_X_toint gives (MPI-5.0 section
// 20.4), mpi_f08's types have it as their only component, and cells stand for special addresses.
#pragma once

#include <cstdint>

#include "abi/fortran/descriptor.hpp"
#include "c/mpi.h"

#define F08_PROFILING(name) pmpi_##name##_
#define F08_BY_ADDRESS [[gnu::visibility("hidden")]]  // choice buffers have descriptors
#define F08_LARGE(name, form)                         // large counts have no other names

extern "C" {

// The cells that stand for C's special addresses; the compiler gives a program and this library
// one copy of each. They are COMMON blocks in mpif.h and in the modules.
extern int mpi_fortran_bottom_;
extern int mpi_fortran_in_place_;
extern int mpi_fortran_automatic_;
extern int mpi_fortran_unweighted_;
extern int mpi_fortran_weights_empty_;
extern int mpi_fortran_errcodes_;
extern int mpi_fortran_status_[8];
extern int mpi_fortran_statuses_[8];
extern char mpi_fortran_argv_;
extern char mpi_fortran_argvs_;
extern MPI_Status mpi_f08_status_ignore;
extern MPI_Status mpi_f08_statuses_ignore[1];

}  // extern "C"

namespace sinew::fortran {

/// C's handles below are predefined: their integer is their value.
inline constexpr std::uintptr_t first_made = 4096;

inline MPI_Comm from_int(int value, MPI_Comm) { return PMPI_Comm_fromint(value); }
inline MPI_Datatype from_int(int value, MPI_Datatype) { return PMPI_Type_fromint(value); }
inline MPI_Errhandler from_int(int v, MPI_Errhandler) { return PMPI_Errhandler_fromint(v); }
inline MPI_File from_int(int value, MPI_File) { return PMPI_File_fromint(value); }
inline MPI_Group from_int(int value, MPI_Group) { return PMPI_Group_fromint(value); }
inline MPI_Info from_int(int value, MPI_Info) { return PMPI_Info_fromint(value); }
inline MPI_Message from_int(int value, MPI_Message) { return PMPI_Message_fromint(value); }
inline MPI_Op from_int(int value, MPI_Op) { return PMPI_Op_fromint(value); }
inline MPI_Request from_int(int value, MPI_Request) { return PMPI_Request_fromint(value); }
inline MPI_Session from_int(int value, MPI_Session) { return PMPI_Session_fromint(value); }
inline MPI_Win from_int(int value, MPI_Win) { return PMPI_Win_fromint(value); }

inline int made_to_int(MPI_Comm handle) { return PMPI_Comm_toint(handle); }
inline int made_to_int(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
inline int made_to_int(MPI_Errhandler handle) { return PMPI_Errhandler_toint(handle); }
inline int made_to_int(MPI_File handle) { return PMPI_File_toint(handle); }
inline int made_to_int(MPI_Group handle) { return PMPI_Group_toint(handle); }
inline int made_to_int(MPI_Info handle) { return PMPI_Info_toint(handle); }
inline int made_to_int(MPI_Message handle) { return PMPI_Message_toint(handle); }
inline int made_to_int(MPI_Op handle) { return PMPI_Op_toint(handle); }
inline int made_to_int(MPI_Request handle) { return PMPI_Request_toint(handle); }
inline int made_to_int(MPI_Session handle) { return PMPI_Session_toint(handle); }
inline int made_to_int(MPI_Win handle) { return PMPI_Win_toint(handle); }

template <class Handle>
Handle from_fortran(const int* value) {
  const auto bits = static_cast<unsigned>(*value);
  if (bits < first_made) [[likely]] {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(bits));
  }
  return from_int(*value, Handle{});
}

template <class Handle>
int to_fortran(Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return bits < first_made ? static_cast<int>(bits) : made_to_int(handle);
}

/// Handles' null values are the first of their kind in the ABI (appendix A of the standard).
inline MPI_Comm null_of(MPI_Comm) { return MPI_COMM_NULL; }
inline MPI_Datatype null_of(MPI_Datatype) { return MPI_DATATYPE_NULL; }
inline MPI_Errhandler null_of(MPI_Errhandler) { return MPI_ERRHANDLER_NULL; }
inline MPI_File null_of(MPI_File) { return MPI_FILE_NULL; }
inline MPI_Group null_of(MPI_Group) { return MPI_GROUP_NULL; }
inline MPI_Info null_of(MPI_Info) { return MPI_INFO_NULL; }
inline MPI_Message null_of(MPI_Message) { return MPI_MESSAGE_NULL; }
inline MPI_Op null_of(MPI_Op) { return MPI_OP_NULL; }
inline MPI_Request null_of(MPI_Request) { return MPI_REQUEST_NULL; }
inline MPI_Session null_of(MPI_Session) { return MPI_SESSION_NULL; }
inline MPI_Win null_of(MPI_Win) { return MPI_WIN_NULL; }

/// What a handle is that a call does not set.
template <class Handle>
Handle unset(const int* /*to*/) {
  return null_of(Handle{});
}

inline bool is_predefined(MPI_Datatype handle) {
  return reinterpret_cast<std::uintptr_t>(handle) < first_made;
}

/// A key of attributes.
inline int key_in_c(int key) { return key; }

inline bool is_bottom(const void* at) { return at == &mpi_fortran_bottom_; }
inline bool is_in_place(const void* at) { return at == &mpi_fortran_in_place_; }
inline bool is_automatic(const void* at) { return at == &mpi_fortran_automatic_; }
inline bool is_unweighted(const void* at) { return at == &mpi_fortran_unweighted_; }
inline bool is_weights_empty(const void* at) { return at == &mpi_fortran_weights_empty_; }
inline bool is_errcodes_ignore(const void* at) { return at == &mpi_fortran_errcodes_; }
inline bool is_argv_null(const void* at) { return at == &mpi_fortran_argv_; }
inline bool is_argvs_null(const void* at) { return at == &mpi_fortran_argvs_; }
inline bool is_status_ignore(const void* at) {
  return at == &mpi_f08_status_ignore || at == mpi_fortran_status_ ||
         at == mpi_f08_statuses_ignore || at == mpi_fortran_statuses_;
}
/// What stands for MPI_BUFFER_AUTOMATIC.
inline void* automatic_cell() { return &mpi_fortran_automatic_; }

}  // namespace sinew::fortran
