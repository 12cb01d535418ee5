// SPDX-License-Identifier: BSD-3-Clause
// Surviving the death of ranks in Fortran, by the names that Open MPI and MPICH have. Compiled
// twice, as the standard's procedures are.
#include "abi/fortran/convert.hpp"

using namespace sinew::fortran;

#ifdef SINEW_FORTRAN_PROFILING
#define MPIX(name) PMPIX_##name
#define PROCEDURE(name) pmpix_##name##_
#define F08_PROCEDURE(name) F08_EXTENSION_PROFILING(name)
#else
#define MPIX(name) MPIX_##name
#define PROCEDURE(name) mpix_##name##_
#define F08_PROCEDURE(name) mpix_##name##_f08_
#endif

extern "C" {

void PROCEDURE(comm_revoke)(const int* comm, int* ierror) {
  done(ierror, MPIX(Comm_revoke)(from_fortran<MPI_Comm>(comm)));
}
ALSO_NAMED(PROCEDURE(comm_revoke), F08_PROCEDURE(comm_revoke))

void PROCEDURE(comm_is_revoked)(const int* comm, int* flag, int* ierror) {
  done(ierror, MPIX(Comm_is_revoked)(from_fortran<MPI_Comm>(comm), logical_out(flag).at()));
}
ALSO_NAMED(PROCEDURE(comm_is_revoked), F08_PROCEDURE(comm_is_revoked))

void PROCEDURE(comm_shrink)(const int* comm, int* newcomm, int* ierror) {
  done(ierror, MPIX(Comm_shrink)(from_fortran<MPI_Comm>(comm), handle_out<MPI_Comm>(newcomm).at()));
}
ALSO_NAMED(PROCEDURE(comm_shrink), F08_PROCEDURE(comm_shrink))

void PROCEDURE(comm_agree)(const int* comm, int* flag, int* ierror) {
  done(ierror, MPIX(Comm_agree)(from_fortran<MPI_Comm>(comm), flag));
}
ALSO_NAMED(PROCEDURE(comm_agree), F08_PROCEDURE(comm_agree))

void PROCEDURE(comm_iagree)(const int* comm, int* flag, int* request, int* ierror) {
  done(ierror, MPIX(Comm_iagree)(from_fortran<MPI_Comm>(comm), flag,
                                 handle_out<MPI_Request>(request).at()));
}
ALSO_NAMED(PROCEDURE(comm_iagree), F08_PROCEDURE(comm_iagree))

void PROCEDURE(comm_get_failed)(const int* comm, int* failed, int* ierror) {
  done(ierror,
       MPIX(Comm_get_failed)(from_fortran<MPI_Comm>(comm), handle_out<MPI_Group>(failed).at()));
}
ALSO_NAMED(PROCEDURE(comm_get_failed), F08_PROCEDURE(comm_get_failed))

void PROCEDURE(comm_ack_failed)(const int* comm, const int* number, int* acknowledged,
                                int* ierror) {
  done(ierror, MPIX(Comm_ack_failed)(from_fortran<MPI_Comm>(comm), *number, acknowledged));
}
ALSO_NAMED(PROCEDURE(comm_ack_failed), F08_PROCEDURE(comm_ack_failed))

void PROCEDURE(comm_failure_ack)(const int* comm, int* ierror) {
  done(ierror, MPIX(Comm_failure_ack)(from_fortran<MPI_Comm>(comm)));
}
ALSO_NAMED(PROCEDURE(comm_failure_ack), F08_PROCEDURE(comm_failure_ack))

void PROCEDURE(comm_failure_get_acked)(const int* comm, int* failed, int* ierror) {
  done(ierror, MPIX(Comm_failure_get_acked)(from_fortran<MPI_Comm>(comm),
                                            handle_out<MPI_Group>(failed).at()));
}
ALSO_NAMED(PROCEDURE(comm_failure_get_acked), F08_PROCEDURE(comm_failure_get_acked))

}  // extern "C"
