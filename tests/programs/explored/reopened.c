// SPDX-License-Identifier: BSD-3-Clause
/* A session that is opened after the last one was finalized: in it rank 1 dies, and the others wait
 * for it; or all is well. */
#include <mpi.h>
#include <signal.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "well";
  for (int round = 0; round < 3; ++round) {
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    int rank = -1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "here", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    if (round == 1 && rank == 1 && strcmp(how, "kill") == 0) {
      raise(SIGKILL);
    }
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
  }
  return 0;
}
