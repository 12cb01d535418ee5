// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that are started at run time. The program spawns itself; argv[1] says as what. */
#include "check.h"

#include <limits.h>
#include <unistd.h>

static int rank, size;
static char* self;
static MPI_Comm parent;

static MPI_Comm spawn(MPI_Comm comm, int root, int count, char* role) {
  char* words[] = {role, NULL};
  int codes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK(MPI_Comm_spawn(self, words, count, MPI_INFO_NULL, root, comm, &inter, codes) ==
        MPI_SUCCESS);
  for (int i = 0; i < count; ++i) CHECK(codes[i] == MPI_SUCCESS);
  int far = 0;
  MPI_Comm_remote_size(inter, &far);
  CHECK(far == count);
  return inter;
}

/* Every rank of one side sends its number to every rank of the other one; and long messages. */
static void talk(MPI_Comm inter) {
  enum { longest = 300000 };
  int me, far;
  MPI_Comm_rank(inter, &me);
  MPI_Comm_remote_size(inter, &far);
  const int lengths[] = {1, 1500, longest};
  for (int l = 0; l < 3; ++l) {
    const int n = lengths[l];
    int* out = malloc(sizeof(int) * (size_t)n);
    int* in = malloc(sizeof(int) * (size_t)n * (size_t)far);
    MPI_Request* all = malloc(sizeof(MPI_Request) * 2 * (size_t)far);
    for (int i = 0; i < n; ++i) out[i] = me * 7 + i;
    for (int r = 0; r < far; ++r) {
      MPI_Irecv(in + (size_t)r * (size_t)n, n, MPI_INT, r, 3, inter, &all[2 * r]);
      MPI_Isend(out, n, MPI_INT, r, 3, inter, &all[2 * r + 1]);
    }
    MPI_Waitall(2 * far, all, MPI_STATUSES_IGNORE);
    for (int r = 0; r < far; ++r)
      for (int i = 0; i < n; ++i) CHECK(in[(size_t)r * (size_t)n + (size_t)i] == r * 7 + i);
    free(out);
    free(in);
    free(all);
  }
}

/* A sum, a window and a part of all ranks of both sides. */
static void be_one(MPI_Comm inter, int high) {
  MPI_Comm one, node;
  MPI_Win win;
  int me, all, sum = 0, *memory, one_of_us = 1;
  CHECK(MPI_Intercomm_merge(inter, high, &one) == MPI_SUCCESS);
  MPI_Comm_rank(one, &me);
  MPI_Comm_size(one, &all);
  for (int i = 0; i < 5; ++i) {
    CHECK(MPI_Allreduce(&one_of_us, &sum, 1, MPI_INT, MPI_SUM, one) == MPI_SUCCESS);
    CHECK(sum == all);
  }
  CHECK(MPI_Comm_split_type(one, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS);
  MPI_Comm_size(node, &sum);
  CHECK(sum == all);
  CHECK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory, &win) ==
        MPI_SUCCESS);
  MPI_Win_fence(0, win);
  MPI_Put(&me, 1, MPI_INT, (me + 1) % all, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(*memory == (me + all - 1) % all);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
  MPI_Comm_free(&one);
}

static int attribute(int key) {
  int *value = NULL, there = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &there);
  CHECK(there);
  return *value;
}

static void several_commands(void) {
  char* commands[] = {self, self};
  char* first[] = {"count", "a word", "", NULL};
  char* second[] = {"count", NULL};
  char** words[] = {first, second};
  const int counts[] = {1, 2};
  const MPI_Info hints[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  const int root = size - 1;
  int codes[3] = {1, 1, 1}, far = 0;
  MPI_Comm inter;
  if (rank == root) {
    CHECK(MPI_Comm_spawn_multiple(2, commands, words, counts, hints, root, MPI_COMM_WORLD, &inter,
                                  codes) == MPI_SUCCESS);
  } else {
    CHECK(MPI_Comm_spawn_multiple(-1, NULL, NULL, NULL, NULL, root, MPI_COMM_WORLD, &inter,
                                  codes) == MPI_SUCCESS);
  }
  for (int i = 0; i < 3; ++i) CHECK(codes[i] == MPI_SUCCESS);
  MPI_Comm_remote_size(inter, &far);
  CHECK(far == 3);
  if (rank == 0) {
    for (int r = 0; r < 3; ++r) {
      int told[2];
      MPI_Recv(told, 2, MPI_INT, r, 0, inter, MPI_STATUS_IGNORE);
      CHECK(told[0] == (r == 0 ? 4 : 2) && told[1] == (r == 0 ? 0 : 1));
    }
  }
  CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
}

/* Directory and environment come with the info; counts that will do, too. */
static void with_info(void) {
  MPI_Info info;
  MPI_Comm inter;
  char* words[] = {"tell", NULL};
  char there[PATH_MAX] = "", said[16] = "";
  int codes[1000], far = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wd", "/");
  MPI_Info_set(info, "env", "SPAWN_TEST=a value");
  MPI_Info_set(info, "soft", "900:500:-100,2");
  MPI_Info_set(info, "host", "localhost");
  CHECK(MPI_Comm_spawn(self, words, 1000, info, 0, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
  MPI_Comm_remote_size(inter, &far);
  CHECK(far == 2);
  for (int i = 0; i < 1000; ++i) CHECK(codes[i] == (i < 2 ? MPI_SUCCESS : MPI_ERR_SPAWN));
  if (rank == 0) {
    MPI_Recv(there, sizeof there, MPI_CHAR, 1, 0, inter, MPI_STATUS_IGNORE);
    MPI_Recv(said, sizeof said, MPI_CHAR, 1, 0, inter, MPI_STATUS_IGNORE);
    CHECK(strcmp(there, "/") == 0 && strcmp(said, "a value") == 0);
  }
  MPI_Comm_disconnect(&inter);
  MPI_Info_free(&info);
}

/* Nothing is lost when ranks cannot be started; all ranks of the communicator are told. */
static void refused(void) {
  int codes[3] = {0, 0, 0};
  MPI_Comm inter, twin;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Comm_spawn("no-such-program", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, twin, &inter,
                              codes),
               MPI_ERR_SPAWN, "no-such-program: not found in PATH");
  for (int i = 0; i < 3; ++i) CHECK(codes[i] == MPI_ERR_SPAWN);
  CHECK(inter == MPI_COMM_NULL);
  EXPECT_ERROR(MPI_Comm_spawn(self, MPI_ARGV_NULL, 100000, MPI_INFO_NULL, 0, twin, &inter,
                              MPI_ERRCODES_IGNORE),
               MPI_ERR_SPAWN, "Start the job with SINEW_BOOT_SPAWN=1000");
  MPI_Info_create(&info);
  MPI_Info_set(info, "wd", "/no/such/directory");
  EXPECT_ERROR(MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, info, 0, twin, &inter, codes), MPI_ERR_SPAWN,
               "/no/such/directory cannot be entered");
  MPI_Info_set(info, "wd", "/");
  MPI_Info_set(info, "host", "elsewhere");
  EXPECT_ERROR(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, twin, &inter, codes), MPI_ERR_SPAWN,
               "on this node");
  MPI_Info_set(info, "host", "localhost");
  MPI_Info_set(info, "soft", "one");
  EXPECT_ERROR(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, twin, &inter, codes),
               MPI_ERR_INFO_VALUE, "is no number");
  EXPECT_ERROR(MPI_Comm_spawn("", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, twin, &inter, codes),
               MPI_ERR_ARG, "is empty");
  MPI_Info_free(&info);
  MPI_Comm_free(&twin);
}

/* Those of different spawns find each other by a name, in places that others have had before. */
static void strangers(void) {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm server = spawn(MPI_COMM_WORLD, 0, 1 + i % 2, "serve");
    MPI_Barrier(server); /* the name is there */
    MPI_Comm client = spawn(MPI_COMM_WORLD, 0, 2, "call");
    MPI_Comm_disconnect(&client);
    MPI_Comm_disconnect(&server);
  }
}

static int spawner(void) {
  MPI_Comm inter;
  CHECK(parent == MPI_COMM_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char* words[] = {"leave", NULL};
  const int tried = MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                   MPI_ERRCODES_IGNORE);
  if (on_several_nodes()) {
    CHECK(tried == MPI_SUCCESS); /* as a job of its own (cli-spawn) */
    MPI_Comm_disconnect(&inter);
    return 0;
  }
  CHECK(tried == MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(attribute(MPI_UNIVERSE_SIZE) >= size && attribute(MPI_APPNUM) == 0);

  inter = spawn(MPI_COMM_WORLD, size / 2, 2, "talk");
  talk(inter);
  be_one(inter, 0);
  MPI_Comm_disconnect(&inter);
  CHECK(inter == MPI_COMM_NULL);
  inter = spawn(MPI_COMM_SELF, 0, 1, "talk"); /* by all ranks at the same time */
  talk(inter);
  be_one(inter, 1);
  MPI_Comm_disconnect(&inter);
  several_commands();
  with_info();
  refused();
  inter = spawn(MPI_COMM_WORLD, 0, 1, "nest");
  be_one(inter, 0);
  MPI_Comm_disconnect(&inter);
  strangers();
  for (int i = 0; i < 50; ++i) {
    inter = spawn(MPI_COMM_WORLD, i % size, 1 + i % 3, "sum");
    int mine = 1, theirs = 0;
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, inter);
    CHECK(theirs == 1 + i % 3);
    MPI_Comm_disconnect(&inter);
  }
  inter = spawn(MPI_COMM_WORLD, 0, 1, "linger"); /* it ends after us */
  MPI_Comm_disconnect(&inter);
  return 0;
}

static int spawned(int argc, char** argv) {
  char port[MPI_MAX_PORT_NAME], here[PATH_MAX];
  const char* role = argv[1];
  MPI_Comm inter;
  CHECK(parent != MPI_COMM_NULL && attribute(MPI_UNIVERSE_SIZE) > size);
  if (strcmp(role, "talk") == 0) {
    talk(parent);
    int far;
    MPI_Comm_remote_size(parent, &far);
    be_one(parent, size == 2 ? 1 : 0);
  } else if (strcmp(role, "count") == 0) {
    const int told[] = {argc, attribute(MPI_APPNUM)};
    CHECK(argc == 2 || (strcmp(argv[2], "a word") == 0 && argv[3][0] == '\0'));
    MPI_Send(told, 2, MPI_INT, 0, 0, parent);
  } else if (strcmp(role, "tell") == 0) {
    const char* said = getenv("SPAWN_TEST");
    CHECK(getcwd(here, sizeof here) != NULL && said != NULL);
    if (rank == 1) {
      MPI_Send(here, (int)strlen(here) + 1, MPI_CHAR, 0, 0, parent);
      MPI_Send(said, (int)strlen(said) + 1, MPI_CHAR, 0, 0, parent);
    }
  } else if (strcmp(role, "nest") == 0) {
    inter = spawn(MPI_COMM_WORLD, 0, 2, "talk");
    talk(inter);
    be_one(inter, 0);
    MPI_Comm_disconnect(&inter);
    be_one(parent, 1);
  } else if (strcmp(role, "serve") == 0) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      CHECK(MPI_Publish_name("spawned", MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    MPI_Barrier(parent);
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    talk(inter);
    MPI_Comm_disconnect(&inter);
    if (rank == 0) {
      MPI_Unpublish_name("spawned", MPI_INFO_NULL, port);
      MPI_Close_port(port);
    }
  } else if (strcmp(role, "call") == 0) {
    if (rank == 0) CHECK(MPI_Lookup_name("spawned", MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    talk(inter);
    MPI_Comm_disconnect(&inter);
  } else if (strcmp(role, "sum") == 0) {
    int mine = 1, theirs = 0;
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, parent);
    CHECK(theirs > 0);
  }
  MPI_Comm_disconnect(&parent);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
  if (strcmp(role, "linger") == 0) usleep(300000);
  return 0;
}

int main(int argc, char** argv) {
  self = argv[0];
  /* One thread, or room for several, alike in the ranks that are spawned. */
  int level = getenv("SPAWN_THREADS") != NULL ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  (void)(argc > 1 ? spawned(argc, argv) : spawner());
  MPI_Finalize();
  return 0;
}
