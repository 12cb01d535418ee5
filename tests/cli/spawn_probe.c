/* Spawns itself twice; argv[1] says what becomes of the second one, argv[2] where, for "lost". */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int spawned(const char* fate, MPI_Comm parent) {
  int rank, size, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  if (strcmp(fate, "hello") == 0) {
    printf("spawned %d of %d\n", rank, size);
  }
  if (strcmp(fate, "where") == 0) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    printf("spawned %d of %d on %s\n", rank, size, name);
  }
  if (strcmp(fate, "connected") == 0) { /* it goes without a word */
    MPI_Finalize();
    return 0;
  }
  if (strcmp(fate, "orphans") == 0) {
    const int code = MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    printf("the parent has died: %d\n", error_class == MPIX_ERR_PROC_FAILED);
    MPI_Comm_free(&parent);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(fate, "lost") == 0) {
    pause(); /* until its host dies */
  }
  if (rank == 1) {
    if (strcmp(fate, "killed") == 0 || strcmp(fate, "survive") == 0) {
      raise(SIGKILL);
    }
    if (strcmp(fate, "crash") == 0) {
      abort();
    }
    if (strcmp(fate, "exit") == 0) {
      _exit(7);
    }
    if (strcmp(fate, "return") == 0) {
      return 0;
    }
  }
  if (strcmp(fate, "survive") == 0) {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    MPI_Comm_free(&parent);
  } else {
    MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  int word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    return spawned(argv[1], parent);
  }
  const int other = strcmp(argv[1], "program") == 0;
  const int lost = strcmp(argv[1], "lost") == 0;
  MPI_Info where = MPI_INFO_NULL;
  if (lost) {
    MPI_Info_create(&where);
    MPI_Info_set(where, "host", argv[2]);
  }
  MPI_Comm_spawn(other ? argv[2] : argv[0], other ? MPI_ARGV_NULL : argv + 1, 2, where, 0,
                 MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  if (strcmp(argv[1], "orphans") == 0) {
    fflush(stdout);
    raise(SIGKILL);
  }
  if (strcmp(argv[1], "survive") == 0 || lost) {
    if (lost) {
      MPI_Info_free(&where);
      printf("spawned\n");
      fflush(stdout);
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    const int code = MPI_Recv(&word, 1, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (!lost) {
      MPI_Send(&word, 1, MPI_INT, 0, 0, inter);
    }
    MPI_Comm_free(&inter);
    char* words[] = {"calm", NULL};
    MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    if (error_class == MPIX_ERR_PROC_FAILED) {
      printf("there was a fault, and ranks were spawned again\n");
    }
  }
  if (strcmp(argv[1], "connected") == 0) {
    MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  }
  if (strcmp(argv[1], "hello") == 0) {
    printf("spawner\n");
  }
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}
