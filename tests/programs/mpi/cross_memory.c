// SPDX-License-Identifier: BSD-3-Clause
/* Whether ranks may copy from each other's memory is asked of the kernel once a rank, not once for
 * each other rank: a thousand ranks would ask a million times. It is asked here, in place of the C
 * library. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static int calls;

ssize_t process_vm_readv(pid_t pid, const struct iovec* local, unsigned long locals,
                         const struct iovec* remote, unsigned long remotes, unsigned long flags) {
  ++calls;
  return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, sum = 0, before = 0;
  int out[16], in[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  before = calls;
  for (int i = 0; i < 16; ++i) out[i] = rank;
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) CHECK(in[r] == r);
  }
  CHECK(calls - before <= 2); /* is it the right process, and is there what it says */
  MPI_Finalize();
  return 0;
}
