// SPDX-License-Identifier: BSD-3-Clause
/* The C half of mixed.f90: handles of Fortran in C, and back. */
#include <mpi.h>

void sum_in_fortran(int* comm, int* datatype, int* value);

/* Called from Fortran: sums over the communicator, by Fortran's procedure. */
void sum_in_c_(int* comm, int* datatype, int* value, int* ierror) {
  MPI_Comm there = MPI_Comm_fromint(*comm);
  MPI_Datatype type = MPI_Type_fromint(*datatype);
  MPI_Comm twin;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(there, &rank);
  MPI_Type_size(type, &size);
  if (size != 8) {
    *ierror = MPI_ERR_TYPE;
    return;
  }
  *ierror = MPI_Comm_dup(there, &twin);
  int as_integer = MPI_Comm_toint(twin);
  if (MPI_Comm_fromint(as_integer) != twin || MPI_Comm_toint(twin) != as_integer) {
    *ierror = MPI_ERR_COMM;
    return;
  }
  sum_in_fortran(&as_integer, datatype, value);
  MPI_Comm_free(&twin);
}

/* A status that Fortran has filled. */
int tag_in_c_(MPI_Status* status) { return status->MPI_TAG; }
