// SPDX-License-Identifier: BSD-3-Clause
/* Groups of one job that meet at ports, by published names, and by sockets. */
#include "check.h"

#include <sys/socket.h>
#include <unistd.h>

static int rank, size;

/* Rank 0 alone on one side, the others on the other one: they swap their numbers' sums. */
static void expect_connected(MPI_Comm inter, int locals, int remotes) {
  int n = 0, far = 0, mine = rank, theirs = -1;
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &far);
  CHECK(n == locals && far == remotes);
  CHECK(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS);
  CHECK(theirs == (rank == 0 ? size * (size - 1) / 2 : 0));
}

static void meet(int server, MPI_Comm others) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  const int accepts = (rank == 0) == (server == 0);
  const int leads = rank == 0 || rank == 1;
  if (accepts && leads) {
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Publish_name("meeting", MPI_INFO_NULL, port) == MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!accepts && leads) {
    CHECK(MPI_Lookup_name("meeting", MPI_INFO_NULL, port) == MPI_SUCCESS);
  }
  MPI_Comm group = rank == 0 ? MPI_COMM_SELF : others;
  CHECK((accepts ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, group, &inter) ==
        MPI_SUCCESS);
  expect_connected(inter, rank == 0 ? 1 : size - 1, rank == 0 ? size - 1 : 1);
  CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
  if (accepts && leads) {
    CHECK(MPI_Unpublish_name("meeting", MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All others connect to one port of rank 0, each alone and several times. */
static void many(int times) {
  char port[MPI_MAX_PORT_NAME];
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < times * (rank == 0 ? size - 1 : 1); ++i) {
    MPI_Comm inter;
    int word = rank;
    if (rank == 0) {
      CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
      CHECK(MPI_Bcast(&word, 1, MPI_INT, 0, inter) == MPI_SUCCESS);
      CHECK(word > 0 && word < size);
    } else {
      CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
      CHECK(MPI_Bcast(&word, 1, MPI_INT, MPI_ROOT, inter) == MPI_SUCCESS);
    }
    MPI_Comm_free(&inter);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Close_port(port);
}

static void refused(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm made = MPI_COMM_NULL, parent;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Lookup_name("nobody", MPI_INFO_NULL, port), MPI_ERR_NAME, "\"nobody\"");
  EXPECT_ERROR(MPI_Unpublish_name("nobody", MPI_INFO_NULL, "x"), MPI_ERR_SERVICE, "not published");
  EXPECT_ERROR(MPI_Close_port("nonsense"), MPI_ERR_PORT, "no name of a port");
  EXPECT_ERROR(MPI_Comm_connect("sinew:elsewhere:0:1", MPI_INFO_NULL, 0, MPI_COMM_SELF, &made),
               MPI_ERR_PORT, "no name of a port");
  CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT,
               "this rank's own");
  CHECK(MPI_Close_port(port) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT,
               "is not open");
  char name[40];
  snprintf(name, sizeof name, "of rank %d = %%", rank); /* no word of the launcher's protocol */
  CHECK(MPI_Publish_name(name, MPI_INFO_NULL, "here and there") == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Publish_name(name, MPI_INFO_NULL, "x"), MPI_ERR_SERVICE, "published already");
  CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(strcmp(port, "here and there") == 0);
  CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, "here and there") == MPI_SUCCESS);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* A root that fails does not leave its group waiting. */
static void told(void) {
  MPI_Comm made = MPI_COMM_NULL, twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_connect("nonsense", MPI_INFO_NULL, size - 1, twin, &made) != MPI_SUCCESS);
  CHECK(MPI_Comm_accept("nonsense", MPI_INFO_NULL, 0, twin, &made) != MPI_SUCCESS);
  CHECK(made == MPI_COMM_NULL);
  MPI_Comm_free(&twin);
}

/* By sockets of a name that both ranks know, in Linux's abstract space. */
#include <sys/un.h>
static void joined(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  MPI_Comm inter = MPI_COMM_NULL;
  int pid = (int)getpid(), fd = -1;
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "sinew-test-ports-%d", pid);
  if (rank == 0) {
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr*)&at, sizeof at) == 0 && listen(listener, 1) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    fd = accept(listener, NULL, NULL);
    close(listener);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      fd = socket(AF_UNIX, SOCK_STREAM, 0);
      CHECK(connect(fd, (struct sockaddr*)&at, sizeof at) == 0);
    }
  }
  if (rank < 2) {
    int word = rank, got = -1;
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL);
    close(fd);
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK(got == !rank);
    MPI_Comm_disconnect(&inter);
  }
}

int main(int argc, char** argv) {
  MPI_Comm others;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  refused();
  told();
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &others);
  if (size >= 2) {
    meet(0, others);
    meet(1, others);
    many(20);
    joined();
  }
  MPI_Comm_free(&others);
  MPI_Finalize();
  return 0;
}
