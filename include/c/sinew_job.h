/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, tasks and data of all ranks of a job, for C and C++ programs started by `sinew run` (or
 * another launcher that Sinew knows). Link with -lsinew_job -lsinew.
 *
 * Operations take an event that must come before them and give one for their end, so a program is a
 * graph, built ahead of time, in which nobody waits but where it says so. Events, processors and
 * instances are numbers that mean the same on every rank: pass them in arguments of tasks, in
 * instances, by sinew_job_gather().
 *
 * Calls come after sinew_job_open(), from any fiber or thread, unless a function says more. Only
 * those that say so suspend. Functions return SINEW_OK or a code of sinew.h, and
 * sinew_last_error() tells more; what they give goes to the last argument, which may be NULL if
 * nobody wants it. SINEW_FAILED: a handle or argument that makes no sense where that is known in
 * the call. What is found later (no memory for an instance, an index outside) poisons the event.
 * SINEW_NOT_STARTED: no job is open. */
#ifndef SINEW_JOB_H
#define SINEW_JOB_H

#include "sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0: nothing to wait for, it has triggered. */
typedef uint64_t sinew_event;
typedef uint64_t sinew_processor;
/* 0: none. */
typedef uint64_t sinew_instance;

/* ---- The job -------------------------------------------------------------------------------- */

/* Processors of a kind that the program names: only tasks that are sent there run there. */
struct sinew_kind {
  const char* name;
  int workers; /* of this rank, beside all others; may be 0 */
};
struct sinew_job_options {
  int workers; /* that run tasks; 0: SINEW_FIBER_WORKERS, or one per core */
  const struct sinew_kind* kinds; /* the same names in the same order on every rank, at most 8 */
  size_t kind_count;
};

/* Collective; returns when all ranks have come. From here on the caller is a fiber (as after
 * sinew_start(), which it implies and which may come before). how, rank and size may be NULL.
 * SINEW_BUSY: one is open. */
int sinew_job_open(const struct sinew_job_options* how, int* rank, int* size);
/* Collective, once, after all sinew_task_register(): from here on tasks can be spawned. Suspends.
 * SINEW_FAILED on every rank if they have registered different tasks. */
int sinew_job_start(void);
/* Collective: returns when all ranks have called it. Suspends. */
int sinew_job_meet(void);
/* Collective: everybody's word, by rank, into all[size]. Suspends. */
int sinew_job_gather(uint64_t mine, uint64_t* all);
/* Collective, the last call: waits until all ranks are here and all tasks have ended. Suspends. */
int sinew_job_close(void);

/* ---- Events --------------------------------------------------------------------------------- */

/* One that the program triggers itself, on whichever rank. */
int sinew_event_create(sinew_event* made);
/* When `after` has triggered; poisoned if that is. Once: a second time is SINEW_FAILED. */
int sinew_event_trigger(sinew_event event, sinew_event after);
/* Triggers it as failed: whatever depends on it is poisoned, too. */
int sinew_event_poison(sinew_event event);
/* Poisons an event that is pending, whatever it is; nothing if it has triggered. */
int sinew_event_cancel(sinew_event event);
/* Triggers when all have; poisoned as soon as one is. */
int sinew_event_merge(const sinew_event* of, size_t count, sinew_event* merged);
/* Triggers when all have, poisoned or not, and is not poisoned. */
int sinew_event_settled(const sinew_event* of, size_t count, sinew_event* settled);
/* SINEW_OK: triggered, SINEW_POISONED, SINEW_BUSY: pending, as far as this rank knows. (Of another
 * rank's event it knows once a message has come, which the first call asks for.) */
int sinew_event_test(sinew_event event);
/* Until it has triggered. Suspends. SINEW_POISONED. */
int sinew_event_wait(sinew_event event);

/* ---- Tasks ---------------------------------------------------------------------------------- */

struct sinew_task {
  sinew_processor here;
  sinew_event done; /* triggers when it has ended */
};
/* A task is a fiber: it may wait. `arguments` are aligned for any type, and the task's until it
 * returns; no pointers to what the spawner has, which may be another rank. 0: it did well, else its
 * event is poisoned. */
typedef int sinew_task_function(const struct sinew_task* self, const void* arguments,
                                size_t bytes);

struct sinew_spawn_options {
  sinew_event after;  /* it starts when this has triggered; poisoned: never, and is poisoned */
  int priority;       /* of tasks that could start on a processor, the greatest first */
  size_t stack_bytes; /* 0: SINEW_FIBER_STACK */
};

/* The same names on every rank, before sinew_job_start(). */
int sinew_task_register(const char* name, sinew_task_function* function);
/* Copies the arguments. how may be NULL. `done` triggers when the task has ended. */
int sinew_task_spawn(sinew_task_function* function, sinew_processor where,
                     const struct sinew_spawn_options* how, const void* arguments, size_t bytes,
                     sinew_event* done);

/* A worker of a rank. It is checked where it is used. */
sinew_processor sinew_processor_at(int rank, unsigned index);
/* How many a rank has, after sinew_job_start(); 0: there is no such rank, or it is too early. */
unsigned sinew_processors(int rank);
/* A task given to a group goes to the member that is free first, of whichever rank. */
int sinew_processor_group(const sinew_processor* members, size_t count, sinew_processor* made);
/* A group of all processors of a kind, of all ranks. After sinew_job_start(). */
int sinew_processor_of_kind(const char* kind, sinew_processor* made);

/* ---- Data ----------------------------------------------------------------------------------- */

enum sinew_type {
  SINEW_BYTES = 0, /* sinew_field.bytes of them, which are copied and filled but not reduced */
  SINEW_INT32 = 1,
  SINEW_INT64 = 2,
  SINEW_FLOAT = 3,
  SINEW_DOUBLE = 4
};
struct sinew_field {
  const char* name; /* for messages about errors; NULL: none */
  enum sinew_type type;
  size_t bytes; /* of SINEW_BYTES */
};
/* Elements in up to three axes, the last one the fastest, each with all fields. */
struct sinew_schema {
  unsigned axes;
  uint64_t extents[3];
  const struct sinew_field* fields;
  size_t field_count;
};
enum sinew_memory {
  SINEW_HEAP = 0,     /* private memory of a rank */
  SINEW_SHARED = 1,   /* of a rank, and all ranks of its node see it */
  SINEW_GLOBAL = 2,   /* striped over all ranks */
  SINEW_SYMMETRIC = 3 /* an image on each rank */
};

/* The handle is valid at once, the elements once `ready` has triggered; poisoned: there is no
 * memory. `rank` is that of SINEW_HEAP and SINEW_SHARED. */
int sinew_instance_create(const struct sinew_schema* what, enum sinew_memory memory, int rank,
                          sinew_event after, sinew_instance* made, sinew_event* ready);
/* One over memory that the program has, field after field, with the values that are there. */
int sinew_instance_attach(const struct sinew_schema* what, void* memory, size_t bytes,
                          sinew_instance* made);
/* Nobody may use it after `after`. */
int sinew_instance_destroy(sinew_instance what, sinew_event after, sinew_event* gone);

/* Elements of a field in memory: element (i, j, k) is at first + i * strides[0] + ... bytes. */
struct sinew_view {
  void* first;
  unsigned axes;
  uint64_t extents[3];
  int64_t strides[3];
};
/* Of an instance that is ready and that this rank can touch; not of striped ones. Valid until it is
 * destroyed. */
int sinew_instance_view(sinew_instance what, unsigned field, struct sinew_view* seen);

#define SINEW_ALL UINT64_MAX
/* Positions start, start + step, ... along an axis. */
struct sinew_slice {
  int64_t start;
  uint64_t count; /* SINEW_ALL: as many as there are */
  int64_t step;   /* may be negative; 0: 1 */
};
/* Elements of a field: a slice for each axis, or all; or those whose numbers (row by row, from 0)
 * stand in a field of SINEW_INT64 of another instance. */
struct sinew_side {
  sinew_instance what;
  unsigned field;
  const struct sinew_slice* where; /* one for each axis; NULL: all */
  sinew_instance index;            /* 0: none */
  unsigned index_field;
};

/* Element by element in the order of both sides, as if all were read before anything is written. */
int sinew_copy(const struct sinew_side* from, const struct sinew_side* to, sinew_event after,
               sinew_event* done);
/* value has the size of the field, at most 256 bytes. */
int sinew_fill(const struct sinew_side* to, const void* value, size_t bytes, sinew_event after,
               sinew_event* done);

enum sinew_reduction { SINEW_SUM = 0, SINEW_PRODUCT = 1, SINEW_MINIMUM = 2, SINEW_MAXIMUM = 3 };
/* to = to op from. Both fields have that type; neither side names indices. */
int sinew_reduce(enum sinew_reduction op, enum sinew_type type, const struct sinew_side* from,
                 const struct sinew_side* to, sinew_event after, sinew_event* done);

#ifdef __cplusplus
}
#endif

#endif
