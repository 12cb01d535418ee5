/* SPDX-License-Identifier: BSD-3-Clause */
/* Beyond MPI-5.0, under the names that Open MPI and MPICH have. Surviving the death of ranks:
 * `sinew run --survive` starts a job that goes on when a rank dies. Numbers of two bytes. */
#ifndef SINEW_MPI_EXT_H
#define SINEW_MPI_EXT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Datatypes for all that the standard's of real numbers are for. The standard's header has no such
 * values, and leaves these free. */
#define MPIX_C_FLOAT16 ((MPI_Datatype)0x24a) /* _Float16: IEEE 754's binary16 */
#define MPIX_BFLOAT16 ((MPI_Datatype)0x24f)  /* the upper half of a float */

/* Error classes. */
#define MPIX_ERR_PROC_FAILED 1101         /* a rank that takes part has died */
#define MPIX_ERR_PROC_FAILED_PENDING 1102 /* one has that could have been the source */
#define MPIX_ERR_REVOKED 1103             /* the communicator has been revoked */

int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
/* A new communicator of those that live, in their order. */
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);
/* *flag becomes the bitwise and of the flags of all that live, the same on each of them. */
int MPIX_Comm_agree(MPI_Comm comm, int* flag);
int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
/* The members that have died, in the order of their deaths. */
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed);
/* The first `num_to_ack` of them are known to the program: receives from any source go on. */
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked);
/* The older names of the last two. */
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed);

int PMPIX_Comm_revoke(MPI_Comm comm);
int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);
int PMPIX_Comm_agree(MPI_Comm comm, int* flag);
int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed);
int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked);
int PMPIX_Comm_failure_ack(MPI_Comm comm);
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed);

#ifdef __cplusplus
}
#endif

#endif
