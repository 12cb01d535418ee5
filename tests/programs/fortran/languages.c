// SPDX-License-Identifier: BSD-3-Clause
/* The C half of languages.f90: attributes of one language in the other. */
#include <mpi.h>
#include <stdio.h>

static int marks[2];

/* What Fortran's two ways of setting mean in C: addresses of an integer of their widths. */
int reads_in_c_(int* comm, int* key, int* old_key) {
  MPI_Aint* wide = NULL;
  int* narrow = NULL;
  int found = 0;
  MPI_Comm there = MPI_Comm_f2c(*comm);
  if (MPI_Comm_c2f(there) != *comm) {
    return 1;
  }
  MPI_Comm_get_attr(there, *key, &wide, &found);
  if (!found || *wide != ((MPI_Aint)7 << 33)) {
    return 2;
  }
  MPI_Comm_get_attr(there, *old_key, &narrow, &found);
  return !found || *narrow != -9 ? 3 : 0;
}

void sets_in_c_(int* comm, int* key) { MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *key, &marks[1]); }

MPI_Aint address_in_c_(void) { return (MPI_Aint)&marks[1]; }

/* A key of C: its functions see Fortran's values as C sees them. */
static int copies, deletes;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm;
  (void)key;
  (void)extra;
  copies += *(MPI_Aint*)in == 21;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)extra;
  deletes += *(MPI_Aint*)value == 21;
  return MPI_SUCCESS;
}

void key_of_c_(int* key) { MPI_Comm_create_keyval(copy, drop, key, NULL); }

int seen_in_c_(void) { return 10 * copies + deletes; }

int statuses_(int* fortran_status) {
  MPI_Status status;
  int back[8];
  MPI_Status_f2c(fortran_status, &status);
  MPI_Status_c2f(&status, back);
  return status.MPI_TAG == 5 && back[1] == 5 && status.MPI_SOURCE == back[0] ? 0 : 1;
}
