// SPDX-License-Identifier: BSD-3-Clause
// What bench-abi times, compiled once with each MPI's header: messages of this rank to itself, so
// that there is nothing in them but the calls. Included by no one; a library of its own for each.
#include <mpi.h>

#include "../common/numbers.h"

enum { bytes = 8, window = 16 };

// Nanoseconds for a message, sent and received: it is short enough to wait for its receive.
__attribute__((visibility("default"))) double blocking(int count);
double blocking(int count) {
  char out[bytes] = "1234567", in[bytes];
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) {
    MPI_Status status;
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &status);
  }
  return (now_ns() - begin) / count;
}

// The same with a request, which is converted three times.
__attribute__((visibility("default"))) double nonblocking(int count);
double nonblocking(int count) {
  char out[bytes] = "1234567", in[bytes];
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
  }
  return (now_ns() - begin) / count;
}

// The same with arrays of requests and statuses.
__attribute__((visibility("default"))) double wait_all(int count);
double wait_all(int count) {
  char out[bytes] = "1234567", in[window][bytes];
  const double begin = now_ns();
  for (int i = 0; i < count; i += window) {
    MPI_Request request[window];
    MPI_Status status[window];
    for (int k = 0; k < window; ++k) {
      MPI_Irecv(in[k], bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request[k]);
    }
    for (int k = 0; k < window; ++k) {
      MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    }
    MPI_Waitall(window, request, status);
  }
  return (now_ns() - begin) / count;
}
