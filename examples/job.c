// SPDX-License-Identifier: BSD-3-Clause
/* Events, tasks and data in C. Every rank spawns a task on the next rank, which fills a row there;
 * the row is copied here when the task has ended, and added to a total that rank 0 shows. */
#include <inttypes.h>
#include <sinew_job.h>
#include <stdio.h>
#include <stdlib.h>

enum { columns = 5 };

static void must(int code) {
  if (code != SINEW_OK) {
    fprintf(stderr, "%s\n", sinew_last_error());
    exit(1);
  }
}

static int64_t* row_of(sinew_instance what) {
  struct sinew_view seen;
  must(sinew_instance_view(what, 0, &seen));
  return seen.first;
}

/* A task: its arguments are bytes that were copied, on whichever rank it runs. */
static int fill_row(const struct sinew_task* self, const void* arguments, size_t bytes) {
  (void)self, (void)bytes;
  int64_t* const row = row_of(*(const sinew_instance*)arguments);
  for (int i = 0; i < columns; ++i) row[i] = i;
  return 0; /* it did well */
}

int main(void) {
  int rank, size;
  must(sinew_job_open(NULL, &rank, &size));
  must(sinew_task_register("fill_row", fill_row));
  must(sinew_job_start());
  const int next = (rank + 1) % size;
  const struct sinew_field field = {"value", SINEW_INT64, 0};
  const struct sinew_schema schema = {1, {columns}, &field, 1};

  /* Rank 0's total, whose handle all learn. */
  sinew_instance total = 0, there, here;
  sinew_event ready, ready_here, filled, copied, added, gone;
  if (rank == 0) {
    const int64_t zero = 0;
    must(sinew_instance_create(&schema, SINEW_SHARED, 0, 0, &total, &ready));
    must(sinew_fill(&(struct sinew_side){.what = total}, &zero, sizeof zero, ready, &filled));
    must(sinew_event_wait(filled));
  }
  uint64_t* const handles = malloc((size_t)size * sizeof *handles);
  must(sinew_job_gather(total, handles));
  total = handles[0];
  free(handles);

  /* The graph: none of these calls waits. */
  must(sinew_instance_create(&schema, SINEW_HEAP, next, 0, &there, &ready));
  must(sinew_task_spawn(fill_row, sinew_processor_at(next, 0),
                        &(struct sinew_spawn_options){.after = ready}, &there, sizeof there,
                        &filled));
  must(sinew_instance_create(&schema, SINEW_HEAP, rank, filled, &here, &ready_here));
  const struct sinew_side from = {.what = there}, mine = {.what = here}, sum = {.what = total};
  must(sinew_copy(&from, &mine, ready_here, &copied));
  must(sinew_reduce(SINEW_SUM, SINEW_INT64, &mine, &sum, copied, &added));
  must(sinew_instance_destroy(there, copied, NULL));
  must(sinew_instance_destroy(here, added, &gone));

  must(sinew_event_wait(gone));
  must(sinew_job_meet());
  if (rank == 0) {
    const int64_t* const row = row_of(total);
    for (int i = 0; i < columns; ++i) {
      printf("%" PRId64 "%c", row[i] / size, i < columns - 1 ? ' ' : '\n');
    }
    must(sinew_instance_destroy(total, 0, NULL));
  }
  must(sinew_job_close());
  return 0;
}
