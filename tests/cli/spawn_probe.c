// SPDX-License-Identifier: BSD-3-Clause
/* Spawns itself twice; argv[1] says what becomes of the second one, argv[2] where, for "lost", and
   after how many microseconds, for "dying". */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The processes of the other group, two at most. */
static void exchange_pids(MPI_Comm inter, int* pids) {
  int own = getpid();
  MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, inter);
}

static void await_end(const int* pids, int count, const char* text) {
  for (int i = 0; i < count; ++i) {
    while (kill(pids[i], 0) == 0) {
      usleep(1000);
    }
  }
  printf("%s\n", text);
  fflush(stdout);
}

/* Ranks that disconnect from those that have spawned them, and then fail, or see those fail. */
static int leave_parent(const char* program, const char* fate, MPI_Comm parent) {
  MPI_Comm inter = MPI_COMM_NULL;
  int pids[2], rank, count, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_remote_size(parent, &count);
  if (strcmp(fate, "last of chain") == 0) {
    if (rank == 0) {
      pause();
    }
    MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    _exit(7);
  }
  exchange_pids(parent, pids);
  if (strcmp(fate, "left-chain") == 0) {
    char* words[] = {"last of chain", NULL};
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Comm_disconnect(&parent);
  if (strcmp(fate, "left-by-parent") == 0) {
    await_end(pids, count, "a spawned rank goes on");
    MPI_Finalize();
    return 0;
  }
  if (inter != MPI_COMM_NULL && rank == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 0, inter);
  }
  if (inter == MPI_COMM_NULL && rank == 1) {
    if (strcmp(fate, "left-exit") == 0 || strcmp(fate, "left-again") == 0) {
      _exit(7);
    }
    if (strcmp(fate, "left-killed") == 0) {
      raise(SIGKILL);
    }
    if (strcmp(fate, "left-abort") == 0) {
      MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (strcmp(fate, "left-finalized") == 0) {
      MPI_Finalize();
      exit(7);
    }
  }
  if (strcmp(fate, "left-finalized") == 0) {
    MPI_Finalize();
    return 0;
  }
  pause(); /* until the other one fails */
  return 0;
}

static void leave_children(const char* fate, MPI_Comm inter) {
  int pids[2], rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange_pids(inter, pids);
  MPI_Comm_disconnect(&inter);
  if (strcmp(fate, "left-by-parent") == 0) {
    if (rank == 0) {
      _exit(5);
    }
    pause();
  }
  await_end(pids, 2, "a rank that has spawned goes on");
}

static int spawned(const char* program, const char* fate, MPI_Comm parent) {
  int rank, size, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strncmp(fate, "left-", 5) == 0 || strcmp(fate, "last of chain") == 0) {
    return leave_parent(program, fate, parent);
  }
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
    if (strcmp(fate, "survive") == 0) { /* not before the parent is through with spawning */
      MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    }
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

static int tell_universe(void) {
  int *size, found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &found);
  printf("universe of %d\n", found ? *size : -1);
  MPI_Finalize();
  return 0;
}

/* Of the spawned: it ends somewhere in MPI_Init, or soon after. */
static void die_in(const char* microseconds) {
  struct itimerval when = {{0, 0}, {0, atoi(microseconds)}};
  setitimer(ITIMER_REAL, &when, NULL);
}

/* The end of those that are spawned is told, wherever they are in it. */
static int outlive(const char* program, char** words) {
  MPI_Comm inter;
  int word, error_class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE);
  if (code == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    code = MPI_Recv(&word, 1, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
    MPI_Comm_free(&inter);
  }
  MPI_Error_class(code, &error_class);
  printf("it was told: %d\n", error_class == MPIX_ERR_PROC_FAILED || error_class == MPI_ERR_SPAWN);
  MPI_Finalize();
  return 0;
}

/* The end of a spawned one is a fault of an operation with it; others can be spawned then. */
static void survive(const char* program, int lost, MPI_Comm* inter) {
  int word = 0, error_class = MPI_SUCCESS;
  if (lost) {
    printf("spawned\n");
    fflush(stdout);
  }
  MPI_Comm_set_errhandler(*inter, MPI_ERRORS_RETURN);
  if (!lost) {
    MPI_Send(&word, 1, MPI_INT, 1, 0, *inter);
  }
  const int code = MPI_Recv(&word, 1, MPI_INT, 1, 0, *inter, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &error_class);
  if (!lost) {
    MPI_Send(&word, 1, MPI_INT, 0, 0, *inter);
  }
  MPI_Comm_free(inter);
  char* words[] = {"calm", NULL};
  MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter,
                 MPI_ERRCODES_IGNORE);
  if (error_class == MPIX_ERR_PROC_FAILED) {
    printf("there was a fault, and ranks were spawned again\n");
  }
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  if (strcmp(argv[1], "will die") == 0) {
    die_in(argv[2]);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (strcmp(argv[1], "will die") == 0) {
    pause();
  }
  if (strcmp(argv[1], "dying") == 0) {
    char* words[] = {"will die", argv[2], NULL};
    return outlive(argv[0], words);
  }
  if (parent != MPI_COMM_NULL) {
    return spawned(argv[0], argv[1], parent);
  }
  if (strcmp(argv[1], "universe") == 0) {
    return tell_universe();
  }
  const int other = strcmp(argv[1], "program") == 0;
  const int lost = strcmp(argv[1], "lost") == 0;
  MPI_Info where = MPI_INFO_NULL;
  if (lost) {
    MPI_Info_create(&where);
    MPI_Info_set(where, "host", argv[2]);
  }
  const int count = strcmp(argv[1], "many") == 0 ? 66 : 2;
  MPI_Comm_spawn(other ? argv[2] : argv[0], other ? MPI_ARGV_NULL : argv + 1, count, where, 0,
                 MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  if (strncmp(argv[1], "left-", 5) == 0) {
    leave_children(argv[1], inter);
    if (strcmp(argv[1], "left-again") == 0) {
      MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                     MPI_ERRCODES_IGNORE);
      leave_children(argv[1], inter);
    }
    MPI_Finalize();
    return 0;
  }
  if (strcmp(argv[1], "orphans") == 0) {
    fflush(stdout);
    raise(SIGKILL);
  }
  if (strcmp(argv[1], "survive") == 0 || lost) {
    survive(argv[0], lost, &inter);
  }
  if (lost) {
    MPI_Info_free(&where);
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
