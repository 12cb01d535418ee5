// SPDX-License-Identifier: BSD-3-Clause
/* Receives and probes from any source, whose matches sinew explore is to count.
 * receive, probe, poll, claim: rank 0 takes a message of each other rank, in whatever order they
 *   come; each rank sends one, so with n ranks each of n-1 receives can meet n-1 senders.
 * bound, bound-poll: rank 2 sends once it is told so, after rank 0 has received from rank 1: the
 *   first receive cannot meet rank 2, though a message of it comes later. */
#include <mpi.h>
#include <string.h>

static int any_message(const char* how) {
  int word = 0, flag = 0;
  MPI_Status status;
  MPI_Message message;
  if (strcmp(how, "probe") == 0) {
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  } else if (strcmp(how, "poll") == 0 || strcmp(how, "bound-poll") == 0) {
    while (!flag) {
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status);
    }
  } else if (strcmp(how, "claim") == 0) {
    MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    return word;
  } else {
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
  }
  MPI_Recv(&word, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return word;
}

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  const char* const how = argc > 1 ? argv[1] : "receive";
  const int bound = strncmp(how, "bound", 5) == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      sum += any_message(how);
      if (bound && i == 1) {
        MPI_Send(&rank, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
      }
    }
    if (sum != size * (size - 1) / 2) {
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  } else {
    if (bound && rank == 2) {
      MPI_Recv(&sum, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
