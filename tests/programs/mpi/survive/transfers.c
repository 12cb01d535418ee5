// SPDX-License-Identifier: BSD-3-Clause
/* By `sinew run --survive`: the last rank dies between others' partitioned messages and accesses of
 * a file. What needs it ends with MPIX_ERR_PROC_FAILED; what does not goes on. The word is the
 * file's name; all ranks see it. */
#include <mpi-ext.h>
#include <signal.h>

#include "../check.h"

enum { partitions = 4, many = 1 << 16, cells = 100 };

static int rank, size;
static char bytes[partitions][many];

static int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

#define CHECK_DEAD(call) CHECK(class_of(call) == MPIX_ERR_PROC_FAILED)

/* Started or only made before the other rank died. */
static void end_partitions(MPI_Request* sends, MPI_Request* receives) {
  int flag = 0;
  for (int i = 0; i < partitions; ++i) MPI_Pready(i, sends[0]);
  CHECK_DEAD(MPI_Wait(&sends[0], MPI_STATUS_IGNORE));
  CHECK_DEAD(MPI_Wait(&receives[0], MPI_STATUS_IGNORE));
  MPI_Start(&sends[1]);
  for (int i = 0; i < partitions; ++i) MPI_Pready(i, sends[1]);
  CHECK_DEAD(MPI_Wait(&sends[1], MPI_STATUS_IGNORE));
  MPI_Start(&receives[1]);
  (void)MPI_Parrived(receives[1], 0, &flag);
  CHECK_DEAD(MPI_Wait(&receives[1], MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
  }
}

static void end_file(MPI_File* f, const char* name) {
  int data[cells];
  MPI_Offset at = 0;
  MPI_Status status;
  MPI_File other;
  for (int i = 0; i < cells; ++i) data[i] = rank;
  /* A rank's own. */
  CHECK(MPI_File_write_at(*f, rank * (MPI_Offset)sizeof data, data, cells, MPI_INT, &status) ==
        MPI_SUCCESS);
  CHECK(MPI_File_read_at(*f, rank * (MPI_Offset)sizeof data, data, cells, MPI_INT, &status) ==
            MPI_SUCCESS &&
        data[cells - 1] == rank);
  /* Of all ranks. */
  CHECK_DEAD(MPI_File_write_all(*f, data, cells, MPI_INT, &status));
  CHECK_DEAD(MPI_File_read_at_all(*f, 0, data, cells, MPI_INT, &status));
  CHECK_DEAD(MPI_File_write_ordered(*f, data, cells, MPI_INT, &status));
  CHECK_DEAD(MPI_File_set_size(*f, 1000));
  CHECK_DEAD(MPI_File_seek_shared(*f, 0, MPI_SEEK_SET));
  CHECK_DEAD(MPI_File_set_view(*f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK(MPI_File_get_position(*f, &at) == MPI_SUCCESS);
  CHECK_DEAD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
  (void)MPI_File_close(f);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int ended = 0, n = 0, value = 0;
  MPI_Request sends[2], receives[2];
  MPI_Comm smaller;
  MPI_File f;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int victim = size - 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) ==
        MPI_SUCCESS);
  for (int i = 0; i < 2 && rank != victim; ++i) {
    MPI_Psend_init(bytes, partitions, many, MPI_BYTE, victim, i, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &sends[i]);
    MPI_Precv_init(bytes, partitions, many, MPI_BYTE, victim, i, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &receives[i]);
  }
  if (rank != victim) {
    MPI_Start(&sends[0]);
    MPI_Start(&receives[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) raise(SIGKILL);
  ended = class_of(MPI_Recv(&value, 1, MPI_INT, victim, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(ended == MPIX_ERR_PROC_FAILED);
  end_partitions(sends, receives);
  end_file(&f, name);
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller) == MPI_SUCCESS);
  MPI_Comm_size(smaller, &n);
  CHECK(n == size - 1);
  CHECK(MPI_File_open(smaller, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f) ==
        MPI_SUCCESS);
  CHECK(MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_File_close(&f) == MPI_SUCCESS);
  if (rank == 0) printf("survived\n");
  MPI_Finalize();
  return 0;
}
