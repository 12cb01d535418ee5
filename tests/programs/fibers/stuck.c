// SPDX-License-Identifier: BSD-3-Clause
/* Two fibers wait for messages that come late: once SINEW_CORE_HANG_TIMEOUT has been over and it
   has been told who waits. */
#include <sinew.h>
#include <unistd.h>

#include "check.h"

static FILE* told; /* what was meant for stderr */

static void await(void* tag) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, 0, *(int*)tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(value == *(int*)tag);
}

static int has_been_told(void) {
  char text[4096];
  const ssize_t bytes = pread(fileno(told), text, sizeof text - 1, 0);
  text[bytes > 0 ? bytes : 0] = 0;
  return strstr(text, "others are ready") != NULL;
}

static void help(void* tags) {
  for (int i = 0; i < 500 && !has_been_told(); ++i) sinew_fiber_sleep(100000000);
  for (int i = 0; i < 2; ++i) {
    int* tag = (int*)tags + i;
    MPI_Send(tag, 1, MPI_INT, 0, *tag, MPI_COMM_SELF);
  }
}

static void pass_on(int to) {
  char text[4096];
  CHECK(lseek(fileno(told), 0, SEEK_SET) == 0);
  for (ssize_t bytes; (bytes = read(fileno(told), text, sizeof text)) > 0;) {
    CHECK(write(to, text, (size_t)bytes) == bytes);
  }
}

int main(int argc, char** argv) {
  static const char* const names[] = {"left", "right", "helper"};
  const struct sinew_start_options one = {.workers = 1};
  int tags[] = {1, 2};
  sinew_fiber* all[3];
  const int to = dup(2);
  told = tmpfile();
  CHECK(told != NULL && dup2(fileno(told), 2) == 2);
  MPI_Init(&argc, &argv);
  CHECK(sinew_start(&one) == SINEW_OK);
  for (int i = 0; i < 3; ++i) {
    const struct sinew_fiber_options how = {.name = names[i]};
    CHECK(sinew_fiber_create(&all[i], i < 2 ? await : help, i < 2 ? &tags[i] : tags, &how) ==
          SINEW_OK);
  }
  for (int i = 0; i < 3; ++i) sinew_fiber_join(all[i]);
  pass_on(to);
  CHECK(dup2(to, 2) == 2);
  fprintf(stderr, "both came through\n");
  sinew_stop();
  MPI_Finalize();
  return 0;
}
