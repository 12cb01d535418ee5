// SPDX-License-Identifier: BSD-3-Clause
// MPICH's ABI as Fortran sees it: a handle is C's, and special addresses are variables in COMMON
// blocks, of which a program has a copy that stands for all. mpi_f08 has variables of its own in
// their place.
#pragma once

#include "abi/foreign/generated/mpich/mpi.h"
#include "abi/foreign/gfortran_descriptor.hpp"

#define F08_PROFILING(name) pmpir_##name##_
#define F08_EXTENSION_PROFILING(name) pmpixr_##name##_f08_
#define F08_BY_ADDRESS [[gnu::visibility("hidden")]]  // choice buffers have descriptors
// Libraries older than MPICH 4.1 call what has large counts so.
#define F08_LARGE(name, form) ALSO_NAMED(F08_NAME(name##_c_##form), F08_NAME(name##_##form##_large))

extern "C" {

// By their blocks. A program's own copies take the place of these (mpich_fortran.cpp).
extern struct {
  int bottom;
  int in_place;
  int status_ignore[MPI_F_STATUS_SIZE];
} mpipriv1_;
extern struct {
  int statuses_ignore[MPI_F_STATUS_SIZE];
  int errcodes_ignore;
} mpipriv2_;
extern struct {
  char argvs_null;
  char argv_null;
} mpiprivc_;
extern int mpifcmb5_;  ///< MPI_UNWEIGHTED
extern int mpifcmb9_;  ///< MPI_WEIGHTS_EMPTY
extern int mpifcmba_;  ///< MPI_BUFFER_AUTOMATIC, since MPICH 4.2

// Those of mpi_f08, by its variables.
extern int MPIR_F08_MPI_BOTTOM;
extern int MPIR_F08_MPI_IN_PLACE;
extern MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
extern int __mpi_f08_link_constants_MOD_mpi_unweighted[1];
extern int __mpi_f08_link_constants_MOD_mpi_weights_empty[1];
extern int __mpi_f08_link_constants_MOD_mpi_errcodes_ignore[1];
extern int __mpi_f08_link_constants_MOD_mpi_buffer_automatic[1];
extern char __mpi_f08_link_constants_MOD_mpi_argv_null[1];
extern char __mpi_f08_link_constants_MOD_mpi_argvs_null[1];

}  // extern "C"

namespace sinew::fortran {

inline MPI_File from_fortran_file(int value) { return PMPI_File_f2c(value); }

template <class Handle>
Handle from_fortran(const int* value) {
  if constexpr (sizeof(Handle) == sizeof(int)) {
    return *value;
  } else {
    return from_fortran_file(*value);
  }
}

template <class Handle>
int to_fortran(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(int)) {
    return handle;
  } else {
    return PMPI_File_c2f(handle);
  }
}

/// Two bits of a handle say that it is.
inline bool is_predefined(MPI_Datatype handle) { return static_cast<unsigned>(handle) >> 30 == 1; }

/// What a handle is that a call does not set.
template <class Handle>
Handle unset(const int* to) {
  if constexpr (sizeof(Handle) == sizeof(int)) {
    return *to;
  } else {
    return MPI_FILE_NULL;
  }
}

/// A key of attributes: predefined ones differ by one, which tells the library that the value is to
/// be Fortran's.
inline int key_in_c(int key) {
  constexpr unsigned one_kind = 0xffff'ff00;  // predefined ones are the first of it
  const unsigned kind = static_cast<unsigned>(key) & one_kind;
  const bool is_predefined = kind == (MPI_TAG_UB & one_kind) || kind == (MPI_WIN_BASE & one_kind);
  return is_predefined && key % 2 == 0 ? key - 1 : key;
}

inline bool is_one_of(const void* at, const void* variable, const void* of_mpi_f08) {
  return at == variable || at == of_mpi_f08;
}
inline bool is_bottom(const void* at) {
  return is_one_of(at, &mpipriv1_.bottom, &MPIR_F08_MPI_BOTTOM);
}
inline bool is_in_place(const void* at) {
  return is_one_of(at, &mpipriv1_.in_place, &MPIR_F08_MPI_IN_PLACE);
}
inline bool is_automatic(const void* at) {
  return is_one_of(at, &mpifcmba_, __mpi_f08_link_constants_MOD_mpi_buffer_automatic);
}
inline bool is_unweighted(const void* at) {
  return is_one_of(at, &mpifcmb5_, __mpi_f08_link_constants_MOD_mpi_unweighted);
}
inline bool is_weights_empty(const void* at) {
  return is_one_of(at, &mpifcmb9_, __mpi_f08_link_constants_MOD_mpi_weights_empty);
}
inline bool is_errcodes_ignore(const void* at) {
  return is_one_of(at, &mpipriv2_.errcodes_ignore,
                   __mpi_f08_link_constants_MOD_mpi_errcodes_ignore);
}
inline bool is_argv_null(const void* at) {
  return is_one_of(at, &mpiprivc_.argv_null, __mpi_f08_link_constants_MOD_mpi_argv_null);
}
inline bool is_argvs_null(const void* at) {
  return is_one_of(at, &mpiprivc_.argvs_null, __mpi_f08_link_constants_MOD_mpi_argvs_null);
}
inline bool is_status_ignore(const void* at) {
  return is_one_of(at, mpipriv1_.status_ignore, &MPIR_F08_MPI_STATUS_IGNORE_OBJ) ||
         is_one_of(at, mpipriv2_.statuses_ignore, MPIR_F08_MPI_STATUSES_IGNORE_OBJ);
}
inline void* automatic_cell() { return __mpi_f08_link_constants_MOD_mpi_buffer_automatic; }

}  // namespace sinew::fortran
