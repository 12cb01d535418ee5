// SPDX-License-Identifier: BSD-3-Clause
// Procedures that MPI-3.0 has removed, of which old programs are full, over their successors. Their
// displacements and extents are INTEGERs. Compiled twice, as the generated ones are.
#include <limits>
#include <vector>

#include "abi/fortran/convert.hpp"

using namespace sinew::fortran;

extern "C" {

void FORTRAN(type_get_extent)(const int* datatype, MPI_Aint* lb, MPI_Aint* extent, int* ierror);
void FORTRAN(type_create_struct)(const int* count, const int* lengths, const MPI_Aint* places,
                                 const int* types, int* newtype, int* ierror);
void FORTRAN(type_create_hindexed)(const int* count, const int* lengths, const MPI_Aint* places,
                                   const int* oldtype, int* newtype, int* ierror);
void FORTRAN(type_create_hvector)(const int* count, const int* length, const MPI_Aint* stride,
                                  const int* oldtype, int* newtype, int* ierror);
void FORTRAN(comm_create_errhandler)(callback* user, int* errhandler, int* ierror);
void FORTRAN(comm_get_errhandler)(const int* comm, int* errhandler, int* ierror);
void FORTRAN(comm_set_errhandler)(const int* comm, const int* errhandler, int* ierror);
}

namespace {

std::vector<MPI_Aint> widened(const int* values, int count) {
  return count > 0 ? std::vector<MPI_Aint>(values, values + count) : std::vector<MPI_Aint>();
}

/// A bound or an extent as an INTEGER; an error if it is none.
void narrow(MPI_Aint value, int* result, int* ierror) {
  const bool fits =
      value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
  *result = fits ? static_cast<int>(value) : MPI_UNDEFINED;
  if (!fits && ierror != nullptr) {
    *ierror = MPI_ERR_VALUE_TOO_LARGE;
  }
}

}  // namespace

extern "C" {

/// What of an address an INTEGER holds: differences are right, and what counts from MPI_BOTTOM is
/// not. MPI_GET_ADDRESS has all of it.
void FORTRAN(address)(void* location, int* address, int* ierror) {
  *address = static_cast<int>(reinterpret_cast<std::uintptr_t>(location));
  done(ierror, MPI_SUCCESS);
}

void FORTRAN(type_extent)(const int* datatype, int* extent, int* ierror) {
  MPI_Aint low = 0;
  MPI_Aint all = 0;
  FORTRAN(type_get_extent)(datatype, &low, &all, ierror);
  narrow(all, extent, ierror);
}

void FORTRAN(type_lb)(const int* datatype, int* bound, int* ierror) {
  MPI_Aint low = 0;
  MPI_Aint all = 0;
  FORTRAN(type_get_extent)(datatype, &low, &all, ierror);
  narrow(low, bound, ierror);
}

void FORTRAN(type_ub)(const int* datatype, int* bound, int* ierror) {
  MPI_Aint low = 0;
  MPI_Aint all = 0;
  FORTRAN(type_get_extent)(datatype, &low, &all, ierror);
  narrow(low + all, bound, ierror);
}

void FORTRAN(type_struct)(const int* count, const int* lengths, const int* places, const int* types,
                          int* newtype, int* ierror) {
  FORTRAN(type_create_struct)(count, lengths, widened(places, *count).data(), types, newtype,
                              ierror);
}

void FORTRAN(type_hindexed)(const int* count, const int* lengths, const int* places,
                            const int* oldtype, int* newtype, int* ierror) {
  FORTRAN(type_create_hindexed)(count, lengths, widened(places, *count).data(), oldtype, newtype,
                                ierror);
}

void FORTRAN(type_hvector)(const int* count, const int* length, const int* stride,
                           const int* oldtype, int* newtype, int* ierror) {
  const MPI_Aint wide = *stride;
  FORTRAN(type_create_hvector)(count, length, &wide, oldtype, newtype, ierror);
}

void FORTRAN(errhandler_create)(callback* user, int* errhandler, int* ierror) {
  FORTRAN(comm_create_errhandler)(user, errhandler, ierror);
}

void FORTRAN(errhandler_get)(const int* comm, int* errhandler, int* ierror) {
  FORTRAN(comm_get_errhandler)(comm, errhandler, ierror);
}

void FORTRAN(errhandler_set)(const int* comm, const int* errhandler, int* ierror) {
  FORTRAN(comm_set_errhandler)(comm, errhandler, ierror);
}

}  // extern "C"
