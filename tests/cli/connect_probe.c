// SPDX-License-Identifier: BSD-3-Clause
/* Two jobs that connect: `server WAY TIMES` and `client WAY`, where WAY is a file that gets the
 * port's name, or "name:SERVICE". What they do then is the third word. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);  \
      MPI_Abort(MPI_COMM_WORLD, 1);                                            \
    }                                                                          \
  } while (0)

static int rank, size;
static char port[MPI_MAX_PORT_NAME];
enum { big = 300000 };

static void write_file(const char* at, const char* text) {
  char draft[4096];
  snprintf(draft, sizeof draft, "%s.draft", at);
  FILE* file = fopen(draft, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && rename(draft, at) == 0);
}

static void tell(const char* way) {
  if (strncmp(way, "name:", 5) == 0) {
    CHECK(MPI_Publish_name(way + 5, MPI_INFO_NULL, port) == MPI_SUCCESS);
  } else {
    write_file(way, port);
  }
}

static void hear(const char* way) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3000; ++i) {
    if (strncmp(way, "name:", 5) == 0) {
      if (MPI_Lookup_name(way + 5, MPI_INFO_NULL, port) == MPI_SUCCESS) break;
    } else {
      FILE* file = fopen(way, "r");
      if (file != NULL) {
        CHECK(fgets(port, sizeof port, file) != NULL);
        fclose(file);
        break;
      }
    }
    usleep(10000);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Messages of all lengths between all pairs, both ways at once. */
static void messages(MPI_Comm inter) {
  static const int lengths[] = {0, 1, 40, 41, 5000, 8192, 9000, 100000, big};
  int far = 0, me = 0;
  MPI_Comm_rank(inter, &me);
  MPI_Comm_remote_size(inter, &far);
  unsigned char* out = malloc(big);
  unsigned char* in = malloc(big);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    for (int peer = 0; peer < far; ++peer) {
      MPI_Request request[2];
      MPI_Status status;
      int count = -1;
      memset(out, (int)i + me + 7 * peer, (size_t)lengths[i]);
      memset(in, 255, (size_t)lengths[i]);
      MPI_Irecv(in, lengths[i], MPI_BYTE, peer, 5, inter, &request[0]);
      (i % 2 != 0 ? MPI_Issend : MPI_Isend)(out, lengths[i], MPI_BYTE, peer, 5, inter, &request[1]);
      MPI_Wait(&request[0], &status);
      MPI_Wait(&request[1], MPI_STATUS_IGNORE);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK(count == lengths[i] && status.MPI_SOURCE == peer);
      for (int b = 0; b < count; ++b) CHECK(in[b] == (unsigned char)((int)i + peer + 7 * me));
    }
  }
  free(out);
  free(in);
}

static void together(MPI_Comm inter, int high) {
  MPI_Comm all, twin, part, half, near;
  int n = 0, me = 0, sum = 0, locals = 0, far = 0, here = 0;
  MPI_Comm_size(inter, &locals);
  MPI_Comm_remote_size(inter, &far);
  int mine = rank + 1, theirs = 0;
  CHECK(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS);
  CHECK(theirs == far * (far + 1) / 2);
  CHECK(MPI_Intercomm_merge(inter, high, &all) == MPI_SUCCESS);
  MPI_Comm_size(all, &n);
  MPI_Comm_rank(all, &me);
  CHECK(n == locals + far && me == rank + (high ? far : 0));
  CHECK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all) == MPI_SUCCESS);
  CHECK(sum == n * (n - 1) / 2);
  MPI_Comm_dup(all, &twin);
  MPI_Comm_split(twin, me % 2, -me, &part);
  int* words = calloc((size_t)n, sizeof *words);
  MPI_Comm_size(part, &locals);
  CHECK(MPI_Allgather(&me, 1, MPI_INT, words, 1, MPI_INT, part) == MPI_SUCCESS);
  for (int i = 0; i < locals; ++i) {
    CHECK(words[i] % 2 == me % 2 && (i == 0 || words[i] < words[i - 1]));
  }
  free(words);
  MPI_Comm_split_type(twin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
  MPI_Comm_size(half, &locals);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  MPI_Comm_size(near, &here);
  CHECK(locals == here);
  MPI_Comm_free(&near);
  MPI_Comm_free(&half);
  if (n >= 4) { /* two groups with ranks of both jobs each */
    MPI_Comm cross;
    CHECK(MPI_Intercomm_create(part, 0, twin, me % 2 == 0 ? n - 1 - n % 2 : n - 2 + n % 2, 9,
                               &cross) == MPI_SUCCESS);
    MPI_Barrier(cross);
    messages(cross);
    MPI_Comm_free(&cross);
  }
  char* data = malloc(big);
  memset(data, me == n - 1 ? 77 : 0, big);
  MPI_Bcast(data, big, MPI_BYTE, n - 1, twin);
  for (int i = 0; i < big; ++i) CHECK(data[i] == 77);
  free(data);
  MPI_Comm_free(&part);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&all);
}

static MPI_Comm meet(int serves, MPI_Comm group) {
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK((serves ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, group, &inter) ==
        MPI_SUCCESS);
  CHECK(inter != MPI_COMM_NULL);
  return inter;
}

static int error_of(int code, char* text) {
  int error_class = 0, length = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  return error_class;
}

/* The server kills itself; the client hears of it in whatever it does. */
static void bereaved(MPI_Comm inter, int serves) {
  int word = 0, far = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_remote_size(inter, &far);
  MPI_Barrier(inter);
  if (serves) {
    raise(SIGKILL);
  }
  int code = MPI_Recv(&word, 1, MPI_INT, far - 1, 0, inter, MPI_STATUS_IGNORE);
  CHECK(code != MPI_SUCCESS);
  printf("recv: %d %s\n", error_of(code, text) != MPI_ERR_OTHER, text);
  code = MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE);
  CHECK(code != MPI_SUCCESS);
  code = MPI_Ssend(&word, 1, MPI_INT, far - 1, 0, inter);
  CHECK(code != MPI_SUCCESS);
  code = MPI_Barrier(inter);
  CHECK(code != MPI_SUCCESS);
  printf("the client goes on\n");
  MPI_Comm_free(&inter);
}

/* By a socket in Linux's abstract space. */
static void join(int serves, const char* name) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "%s", name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (serves) {
    const int listener = fd;
    CHECK(bind(listener, (struct sockaddr*)&at, sizeof at) == 0 && listen(listener, 1) == 0);
    fd = accept(listener, NULL, NULL);
  } else {
    int tries = 0;
    while (connect(fd, (struct sockaddr*)&at, sizeof at) != 0 && ++tries < 3000) usleep(10000);
  }
  MPI_Comm inter;
  CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL);
  close(fd);
  messages(inter);
  MPI_Comm_disconnect(&inter);
}

static void refused(const char* what) {
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Info info;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "1");
  const int code = MPI_Comm_connect(port, strcmp(what, "late") == 0 ? info : MPI_INFO_NULL, 0,
                                    MPI_COMM_WORLD, &inter);
  CHECK(code != MPI_SUCCESS && inter == MPI_COMM_NULL);
  if (rank == 0) {
    CHECK(error_of(code, text) == MPI_ERR_PORT);
    printf("%s\n", text);
  }
  MPI_Info_free(&info);
}

/* The second client meets the server and the first one. */
static void chain(int serves, int second, const char* way) {
  MPI_Comm inter = MPI_COMM_NULL, all = MPI_COMM_WORLD, next;
  int sum = 0, one = 1, far = 0;
  if (!second) {
    inter = meet(serves, MPI_COMM_WORLD);
    MPI_Intercomm_merge(inter, !serves, &all);
    if (serves && rank == 0) { /* from now on the second one can come */
      char met[4096];
      snprintf(met, sizeof met, "%s.met", way);
      write_file(met, "yes");
    }
  }
  next = meet(!second, all);
  messages(next);
  MPI_Comm_remote_size(next, &far);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, next);
  CHECK(sum == far);
  MPI_Comm_disconnect(&next);
  if (!second) {
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(argc >= 4);
  const int serves = strcmp(argv[1], "server") == 0;
  const char* const what = argv[3];
  const int times = argc > 4 ? atoi(argv[4]) : 1;
  if (strcmp(what, "join") == 0) {
    join(serves, argv[2]);
    MPI_Finalize();
    return 0;
  }
  if (serves && rank == 0) {
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    tell(argv[2]);
  } else if (!serves) {
    if (rank == 0) hear(argv[2]);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  if (strcmp(what, "late") == 0 || strcmp(what, "refused") == 0) {
    if (serves) {
      sleep(atoi(argv[4]) > 1 ? (unsigned)atoi(argv[4]) : 0);
    } else {
      refused(what);
    }
  } else if (strcmp(what, "bereaved") == 0) {
    bereaved(meet(serves, MPI_COMM_WORLD), serves);
  } else if (strcmp(what, "chain") == 0) {
    chain(serves, strcmp(argv[1], "second") == 0, argv[2]);
  } else {
    for (int i = 0; i < times; ++i) {
      MPI_Comm inter = meet(serves, MPI_COMM_WORLD);
      if (strcmp(what, "all") == 0) {
        messages(inter);
        together(inter, serves);
      }
      MPI_Comm_disconnect(&inter);
    }
  }
  if (serves && rank == 0) {
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    if (strncmp(argv[2], "name:", 5) == 0) {
      CHECK(MPI_Unpublish_name(argv[2] + 5, MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    printf("served\n");
  }
  MPI_Finalize();
  return 0;
}
