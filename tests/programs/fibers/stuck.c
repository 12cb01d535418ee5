/* Two fibers wait for messages that come late, longer than SINEW_CORE_HANG_TIMEOUT. */
#include <sinew.h>

#include "check.h"

static void await(void* tag) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, 0, *(int*)tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(value == *(int*)tag);
}

static void help(void* tags) {
  sinew_fiber_sleep(1500000000);
  for (int i = 0; i < 2; ++i) {
    int* tag = (int*)tags + i;
    MPI_Send(tag, 1, MPI_INT, 0, *tag, MPI_COMM_SELF);
  }
}

int main(int argc, char** argv) {
  static const char* const names[] = {"left", "right", "helper"};
  const struct sinew_start_options one = {.workers = 1};
  int tags[] = {1, 2};
  sinew_fiber* all[3];
  MPI_Init(&argc, &argv);
  CHECK(sinew_start(&one) == SINEW_OK);
  for (int i = 0; i < 3; ++i) {
    const struct sinew_fiber_options how = {.name = names[i]};
    CHECK(sinew_fiber_create(&all[i], i < 2 ? await : help, i < 2 ? &tags[i] : tags, &how) ==
          SINEW_OK);
  }
  for (int i = 0; i < 3; ++i) sinew_fiber_join(all[i]);
  fprintf(stderr, "both came through\n");
  sinew_stop();
  MPI_Finalize();
  return 0;
}
