// SPDX-License-Identifier: BSD-3-Clause
/* One rank of a job: what sinew_job.h promises, called from C. Prints "good" by rank 0. */
#include <sinew_job.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank = -1, size = 0;

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "rank %d, line %d: not so: %s (%s)\n", rank, __LINE__, #condition,   \
              sinew_last_error());                                                         \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)
#define GOOD(call) EXPECT((call) == SINEW_OK)

struct sum_arguments {
  sinew_instance into;
  double add;
  int64_t number;
};

/* Fills an instance of its own rank with add * number. */
static int sum_task(const struct sinew_task* self, const void* arguments, size_t bytes) {
  const struct sum_arguments* const a = arguments;
  struct sinew_view seen;
  if (bytes != sizeof *a || self->done == 0 || self->here == 0x12345) return 1;
  if (sinew_instance_view(a->into, 0, &seen) != SINEW_OK) return 2;
  for (uint64_t i = 0; i < seen.extents[0]; ++i) {
    *(double*)((char*)seen.first + (int64_t)i * seen.strides[0]) = a->add * (double)a->number;
  }
  return 0;
}

/* Does well if its bytes are 0, 1, 2, ... */
static int bytes_task(const struct sinew_task* self, const void* arguments, size_t bytes) {
  const unsigned char* const b = arguments;
  (void)self;
  for (size_t i = 0; i < bytes; ++i) {
    if (b[i] != (unsigned char)i) return 1;
  }
  return (uintptr_t)arguments % 16 != 0;
}

static int failing_task(const struct sinew_task* self, const void* arguments, size_t bytes) {
  (void)self, (void)arguments, (void)bytes;
  return 3;
}

static void check_before(void) {
  sinew_event e;
  EXPECT(sinew_event_create(&e) == SINEW_NOT_STARTED);
  EXPECT(sinew_job_close() == SINEW_NOT_STARTED);
  EXPECT(strstr(sinew_last_error(), "sinew_job_open") != NULL);
  EXPECT(sinew_processors(0) == 0);
}

static void check_events(void) {
  sinew_event a, b, both, after, settled;
  GOOD(sinew_event_create(&a));
  GOOD(sinew_event_create(&b));
  const sinew_event two[2] = {a, b};
  GOOD(sinew_event_merge(two, 2, &both));
  GOOD(sinew_event_create(&after));
  GOOD(sinew_event_trigger(after, both));
  EXPECT(sinew_event_test(after) == SINEW_BUSY);
  GOOD(sinew_event_trigger(a, 0));
  EXPECT(sinew_event_test(both) == SINEW_BUSY);
  GOOD(sinew_event_trigger(b, 0));
  GOOD(sinew_event_wait(after));
  GOOD(sinew_event_test(both));
  GOOD(sinew_event_wait(0));
  EXPECT(sinew_event_trigger(a, 0) == SINEW_FAILED);

  GOOD(sinew_event_create(&a));
  GOOD(sinew_event_create(&b));
  const sinew_event other[2] = {a, b};
  GOOD(sinew_event_merge(other, 2, &both));
  GOOD(sinew_event_settled(other, 2, &settled));
  GOOD(sinew_event_poison(b));
  EXPECT(sinew_event_wait(both) == SINEW_POISONED);
  EXPECT(sinew_event_test(settled) == SINEW_BUSY);
  GOOD(sinew_event_cancel(a));
  EXPECT(sinew_event_test(a) == SINEW_POISONED);
  GOOD(sinew_event_wait(settled));

  /* Each rank triggers the next one's event and waits for its own. */
  uint64_t* const all = calloc((size_t)size, sizeof *all);
  GOOD(sinew_event_create(&a));
  GOOD(sinew_job_gather(a, all));
  EXPECT(all[rank] == a);
  GOOD(sinew_event_trigger(all[(rank + 1) % size], 0));
  GOOD(sinew_event_merge(all, (size_t)size, &both));
  GOOD(sinew_event_wait(both));
  free(all);
}

/* The processor on which the last one ran. */
static sinew_processor seen_here;
static int where_task(const struct sinew_task* self, const void* arguments, size_t bytes) {
  (void)arguments, (void)bytes;
  seen_here = self->here;
  return 0;
}

/* Rank 0 alone has a processor of the kind, the third of its three. */
static void check_kinds(void) {
  sinew_processor io;
  sinew_event done;
  EXPECT(sinew_processors(0) == 3 && (size == 1 || sinew_processors(1) == 2));
  EXPECT(sinew_processor_of_kind("gpu", &io) == SINEW_FAILED);
  GOOD(sinew_processor_of_kind("io", &io));
  GOOD(sinew_task_spawn(where_task, io, NULL, NULL, 0, &done));
  GOOD(sinew_event_wait(done));
  GOOD(sinew_job_meet());
  EXPECT(rank != 0 || seen_here == sinew_processor_at(0, 2));
}

static void check_tasks(void) {
  unsigned char bytes[300];
  sinew_event gate, done, late;
  const int next = (rank + 1) % size;
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)i;
  EXPECT(sinew_processors(next) >= 1 && sinew_processors(size) == 0);
  for (size_t n = 0; n <= sizeof bytes; n += 60) {
    GOOD(sinew_task_spawn(bytes_task, sinew_processor_at(next, 0), NULL, bytes, n, &done));
    GOOD(sinew_event_wait(done));
  }
  GOOD(sinew_event_create(&gate));
  const struct sinew_spawn_options how = {.after = gate, .priority = 1, .stack_bytes = 1 << 16};
  GOOD(sinew_task_spawn(bytes_task, sinew_processor_at(next, 0), &how, bytes, 8, &done));
  const struct sinew_spawn_options never = {.after = done};
  GOOD(sinew_task_spawn(failing_task, sinew_processor_at(rank, 0), &never, NULL, 0, &late));
  EXPECT(sinew_event_test(done) == SINEW_BUSY);
  GOOD(sinew_event_trigger(gate, 0));
  GOOD(sinew_event_wait(done));
  EXPECT(sinew_event_wait(late) == SINEW_POISONED);

  sinew_processor* const members = calloc((size_t)size, sizeof *members);
  sinew_processor group;
  for (int r = 0; r < size; ++r) members[r] = sinew_processor_at(r, 0);
  GOOD(sinew_processor_group(members, (size_t)size, &group));
  free(members);
  sinew_event ends[20];
  for (int i = 0; i < 20; ++i) {
    GOOD(sinew_task_spawn(bytes_task, group, NULL, bytes, 100, &ends[i]));
  }
  GOOD(sinew_event_merge(ends, 20, &done));
  GOOD(sinew_event_wait(done));

  EXPECT(sinew_task_spawn(NULL, group, NULL, NULL, 0, NULL) == SINEW_INVALID);
  EXPECT(sinew_task_spawn(bytes_task, sinew_processor_at(size, 0), NULL, NULL, 0, NULL) ==
         SINEW_FAILED);
  EXPECT(sinew_task_spawn(bytes_task, sinew_processor_at(-1, 0), NULL, NULL, 0, NULL) ==
         SINEW_FAILED);
  EXPECT(sinew_task_register("late", bytes_task) == SINEW_FAILED);
}

/* A task of the next rank fills, this rank copies it here, and reduces into rank 0's. */
static void check_data(void) {
  enum { n = 40 };
  const struct sinew_field fields[2] = {{"value", SINEW_DOUBLE, 0}, {"six", SINEW_BYTES, 6}};
  const struct sinew_schema schema = {1, {n}, fields, 2};
  const int next = (rank + 1) % size;
  sinew_instance there, here;
  sinew_event ready_there, ready, filled, copied, done;
  GOOD(sinew_instance_create(&schema, SINEW_HEAP, next, 0, &there, &ready_there));
  const struct sum_arguments a = {there, 1.5, rank + 1};
  const struct sinew_spawn_options how = {.after = ready_there};
  GOOD(sinew_task_spawn(sum_task, sinew_processor_at(next, 0), &how, &a, sizeof a, &filled));
  GOOD(sinew_instance_create(&schema, SINEW_SHARED, rank, filled, &here, &ready));
  const struct sinew_slice evens = {0, n / 2, 2}, back = {n - 1, n / 2, -2};
  const struct sinew_side from = {.what = there, .where = &evens};
  const struct sinew_side to = {.what = here, .where = &back};
  const struct sinew_side all = {.what = here}, six = {.what = here, .field = 1};
  const double zero = -1;
  GOOD(sinew_fill(&all, &zero, sizeof zero, ready, &done));
  GOOD(sinew_copy(&from, &to, done, &copied));
  GOOD(sinew_fill(&six, "sinew", 6, copied, &done));
  GOOD(sinew_event_wait(done));
  struct sinew_view v, w;
  GOOD(sinew_instance_view(here, 0, &v));
  GOOD(sinew_instance_view(here, 1, &w));
  EXPECT(v.axes == 1 && v.extents[0] == n && w.extents[0] == n);
  for (int i = 0; i < n; ++i) {
    const double value = *(const double*)((const char*)v.first + i * v.strides[0]);
    EXPECT(value == (i % 2 == 1 ? 1.5 * (rank + 1) : -1.0));
    EXPECT(strcmp((const char*)w.first + i * w.strides[0], "sinew") == 0);
  }

  /* All add theirs to rank 0's. */
  uint64_t* const handles = calloc((size_t)size, sizeof *handles);
  GOOD(sinew_job_gather(here, handles));
  sinew_instance total = handles[0];
  free(handles);
  GOOD(sinew_job_meet());
  if (rank != 0) {
    const struct sinew_side sum = {.what = total};
    GOOD(sinew_reduce(SINEW_SUM, SINEW_DOUBLE, &all, &sum, 0, &done));
    GOOD(sinew_event_wait(done));
  }
  GOOD(sinew_job_meet());
  if (rank == 0) {
    EXPECT(*(const double*)((const char*)v.first) == -1.0 * size);
    EXPECT(*(const double*)((const char*)v.first + v.strides[0]) == 1.5 * size * (size + 1) / 2);
  }
  GOOD(sinew_job_meet());
  EXPECT(sinew_reduce(SINEW_SUM, SINEW_FLOAT, &all, &all, 0, NULL) == SINEW_FAILED);
  EXPECT(sinew_reduce(SINEW_SUM, SINEW_BYTES, &all, &all, 0, NULL) == SINEW_INVALID);
  EXPECT(sinew_fill(&six, "long one", 8, 0, NULL) == SINEW_FAILED);
  EXPECT(sinew_fill(&six, "none", 0, 0, NULL) == SINEW_INVALID);
  EXPECT(sinew_copy(&all, &six, 0, NULL) == SINEW_FAILED);
  GOOD(sinew_instance_destroy(here, 0, NULL));
  GOOD(sinew_instance_destroy(there, 0, &done));
  GOOD(sinew_event_wait(done));
  EXPECT(sinew_copy(&all, &all, 0, NULL) == SINEW_FAILED);
  EXPECT(strstr(sinew_last_error(), "destroyed") != NULL);
}

/* Over memory of the program, in two axes; gathered by indices. */
static void check_attached(void) {
  int32_t table[3][4], picked[4];
  int64_t numbers[4] = {11, 0, 5, 5};
  for (int i = 0; i < 12; ++i) table[i / 4][i % 4] = 10 * i;
  const struct sinew_field value = {"value", SINEW_INT32, 0}, number = {NULL, SINEW_INT64, 0};
  const struct sinew_schema rows = {2, {3, 4}, &value, 1}, four = {1, {4}, &value, 1},
                            list = {1, {4}, &number, 1};
  sinew_instance t, p, i;
  sinew_event done;
  GOOD(sinew_instance_attach(&rows, table, sizeof table, &t));
  GOOD(sinew_instance_attach(&four, picked, sizeof picked, &p));
  GOOD(sinew_instance_attach(&list, numbers, sizeof numbers, &i));
  EXPECT(sinew_instance_attach(&rows, table, sizeof table - 1, &t) == SINEW_FAILED);
  const struct sinew_side from = {.what = t, .index = i}, to = {.what = p};
  GOOD(sinew_copy(&from, &to, 0, &done));
  GOOD(sinew_event_wait(done));
  EXPECT(picked[0] == 110 && picked[1] == 0 && picked[2] == 50 && picked[3] == 50);
  const struct sinew_slice column[2] = {{0, SINEW_ALL, 1}, {2, 1, 0}};
  const struct sinew_side third = {.what = t, .where = column};
  const int32_t seven = 7;
  GOOD(sinew_fill(&third, &seven, sizeof seven, 0, &done));
  GOOD(sinew_event_wait(done));
  EXPECT(table[0][2] == 7 && table[1][2] == 7 && table[2][2] == 7 && table[2][3] == 110);
  EXPECT(sinew_instance_destroy(0x7777, 0, NULL) == SINEW_FAILED);
  GOOD(sinew_instance_destroy(t, 0, NULL));
  GOOD(sinew_instance_destroy(p, 0, NULL));
  GOOD(sinew_instance_destroy(i, 0, NULL));
  const struct sinew_schema none = {4, {1}, &value, 1}, odd = {1, {1}, &(struct sinew_field){0}, 1};
  EXPECT(sinew_instance_create(&none, SINEW_HEAP, 0, 0, &t, NULL) == SINEW_FAILED);
  EXPECT(sinew_instance_create(&odd, SINEW_HEAP, 0, 0, &t, NULL) == SINEW_FAILED);
  EXPECT(sinew_instance_create(&four, SINEW_HEAP, size, 0, &t, NULL) == SINEW_FAILED);
}

int main(void) {
  check_before();
  struct sinew_kind io = {"io", 1};
  const struct sinew_job_options how = {2, &io, 1};
  const char* const number = getenv("PMI_RANK");
  if (number != NULL && strcmp(number, "0") != 0) io.workers = 0;
  EXPECT(sinew_job_open(&(struct sinew_job_options){.workers = -1}, &rank, &size) == SINEW_FAILED);
  GOOD(sinew_job_open(&how, &rank, &size));
  EXPECT(sinew_job_open(NULL, NULL, NULL) == SINEW_BUSY);
  EXPECT(rank >= 0 && rank < size);
  GOOD(sinew_task_register("sum", sum_task));
  GOOD(sinew_task_register("bytes", bytes_task));
  GOOD(sinew_task_register("failing", failing_task));
  GOOD(sinew_task_register("where", where_task));
  EXPECT(sinew_task_register("sum", failing_task) == SINEW_FAILED);
  check_events();
  GOOD(sinew_job_start());
  check_kinds();
  check_tasks();
  check_data();
  check_attached();
  GOOD(sinew_job_close());
  check_before();
  if (rank == 0) puts("good");
  return 0;
}
