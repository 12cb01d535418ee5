// MPICH's ABI as Fortran sees it: a handle is C's, and special addresses are variables in COMMON
// blocks, of which a program has a copy that stands for all.
#pragma once

#include "abi/foreign/generated/mpich/mpi.h"

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

inline bool is_bottom(const void* at) { return at == &mpipriv1_.bottom; }
inline bool is_in_place(const void* at) { return at == &mpipriv1_.in_place; }
inline bool is_automatic(const void* /*at*/) { return false; }  // it has no variable there
inline bool is_unweighted(const void* at) { return at == &mpifcmb5_; }
inline bool is_weights_empty(const void* at) { return at == &mpifcmb9_; }
inline bool is_errcodes_ignore(const void* at) { return at == &mpipriv2_.errcodes_ignore; }
inline bool is_argv_null(const void* at) { return at == &mpiprivc_.argv_null; }
inline bool is_argvs_null(const void* at) { return at == &mpiprivc_.argvs_null; }
inline bool is_status_ignore(const void* at) {
  return at == mpipriv1_.status_ignore || at == mpipriv2_.statuses_ignore;
}
inline void* automatic_cell() { return MPI_BUFFER_AUTOMATIC; }

}  // namespace sinew::fortran
