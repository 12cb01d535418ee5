/* Fibers for C and C++ programs: threads of a few nanoseconds, run by workers (pinned threads) of
 * this process. Link with -lsinew. In an MPI program, calls that block (MPI_Recv, MPI_Wait, ...)
 * suspend the calling fiber and let the others run.
 *
 * A fiber stays on the worker on which it starts. It is never interrupted: it gives its worker away
 * only in the calls that say here that they suspend, and in blocking calls of MPI. A system call
 * that blocks (read, for instance) blocks the worker; do it in a thread, or with a file that is set
 * to O_NONBLOCK and sinew_fiber_yield().
 *
 * Functions that return int return SINEW_OK or one of the codes below. What may go wrong in a call
 * stands at the call; breaking a rule that no code stands for (unlocking what one does not hold,
 * joining twice) is undefined. */
#ifndef SINEW_H
#define SINEW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SINEW_H_VERSION is that of this header, sinew_version() that of the library: "0.1.0". */
#define SINEW_H_VERSION "0.1.0"
const char* sinew_version(void);

enum {
  SINEW_OK = 0,
  SINEW_BUSY = 1,          /* held by somebody else; or it exists already */
  SINEW_TIMED_OUT = 2,     /* the time is over */
  SINEW_NO_MEMORY = 3,     /* nothing has changed; try again when others have ended */
  SINEW_NOT_STARTED = 4,   /* there is no scheduler: call sinew_start() */
  SINEW_WRONG_CALLER = 5,  /* only the fiber that called sinew_start() may */
  SINEW_INVALID = 6,       /* an argument makes no sense */
  SINEW_FAILED = 7         /* see sinew_last_error() */
};

/* A sentence for a code; never null. */
const char* sinew_error_text(int code);
/* What was wrong in the last call of this thread that did not return SINEW_OK; "" before. Valid
 * until the next call that fails, or that suspends. */
const char* sinew_last_error(void);

/* ---- The scheduler ------------------------------------------------------------------------- */

struct sinew_start_options {
  int workers;  /* 0: SINEW_FIBER_WORKERS, or one per core that this process may use */
  int no_pin;   /* not 0: workers are not bound to cores */
};

/* The calling thread becomes worker 0, its caller a fiber. One scheduler per process at a time:
 * SINEW_BUSY if it runs already, and then it may be used. how may be NULL. SINEW_FAILED if a worker
 * cannot be started. */
int sinew_start(const struct sinew_start_options* how);
/* Waits until all other fibers have ended. From the fiber that called sinew_start(). */
int sinew_stop(void);
int sinew_workers(void);     /* 0 without a scheduler */
int sinew_this_worker(void); /* -1 if the caller is no fiber */

/* ---- Fibers -------------------------------------------------------------------------------- */

/* One fiber; its address is its name until it has been joined, or has ended and was detached. */
typedef struct sinew_fiber sinew_fiber;

struct sinew_fiber_options {
  const char* name;    /* NULL or shown in reports; 15 bytes are kept */
  size_t stack_bytes;  /* 0: SINEW_FIBER_STACK */
  int worker_plus_one; /* 0: the caller's worker, or in turn; n + 1: worker n */
  int detached;        /* not 0: nobody joins it */
};

/* Starts entry(argument). made and how may be NULL; without made the fiber must be detached.
 * Does not suspend. SINEW_NO_MEMORY, SINEW_NOT_STARTED, SINEW_INVALID. */
int sinew_fiber_create(sinew_fiber** made, void (*entry)(void* argument), void* argument,
                       const struct sinew_fiber_options* how);
/* Waits for its end and gives it back; exactly once per fiber that is not detached. Suspends a
 * fiber, blocks a thread. SINEW_INVALID: it is the caller. */
int sinew_fiber_join(sinew_fiber* fiber);
/* Nobody will join it. Instead of joining it. */
int sinew_fiber_detach(sinew_fiber* fiber);
sinew_fiber* sinew_fiber_self(void); /* NULL if the caller is no fiber */
const char* sinew_fiber_name(const sinew_fiber* fiber);
/* Lets the other ready fibers of this worker run. */
void sinew_fiber_yield(void);
/* At least so long. Suspends a fiber, blocks a thread. */
void sinew_fiber_sleep(uint64_t nanoseconds);

/* ---- Synchronisation: for fibers and threads alike ----------------------------------------- */

/* Waiting suspends a fiber and blocks a thread. None of these objects may be copied or moved. */

typedef struct sinew_mutex {
  uint64_t opaque[4];
} sinew_mutex;
/* Instead of sinew_mutex_init() for objects of static storage. */
#define SINEW_MUTEX_INITIALIZER {{0, 0, 0, 0}}
void sinew_mutex_init(sinew_mutex* mutex);
void sinew_mutex_destroy(sinew_mutex* mutex);
void sinew_mutex_lock(sinew_mutex* mutex);   /* not recursive */
int sinew_mutex_trylock(sinew_mutex* mutex); /* SINEW_BUSY */
void sinew_mutex_unlock(sinew_mutex* mutex); /* by who holds it */

typedef struct sinew_condition {
  uint64_t opaque[4];
} sinew_condition;
#define SINEW_CONDITION_INITIALIZER {{0, 0, 0, 0}}
void sinew_condition_init(sinew_condition* condition);
void sinew_condition_destroy(sinew_condition* condition);
/* Leaves the mutex, waits, takes it again. May return for nothing: look again. */
void sinew_condition_wait(sinew_condition* condition, sinew_mutex* mutex);
/* The same for at most so long: SINEW_TIMED_OUT; the mutex is held in any case. */
int sinew_condition_wait_for(sinew_condition* condition, sinew_mutex* mutex, uint64_t nanoseconds);
void sinew_condition_signal(sinew_condition* condition);
void sinew_condition_broadcast(sinew_condition* condition);

typedef struct sinew_barrier {
  uint64_t opaque[4];
} sinew_barrier;
/* For parties callers of wait, again and again. SINEW_INVALID: parties is 0. */
int sinew_barrier_init(sinew_barrier* barrier, unsigned parties);
void sinew_barrier_destroy(sinew_barrier* barrier);
/* 1 for one of the callers of each round, 0 for the others. */
int sinew_barrier_wait(sinew_barrier* barrier);

/* ---- Values of a fiber's own ---------------------------------------------------------------- */

typedef struct sinew_key sinew_key;
/* NULL in every fiber and thread at first. destroy, unless NULL, is called with what is not NULL
 * when the fiber or thread ends. SINEW_NO_MEMORY. */
int sinew_key_create(sinew_key** key, void (*destroy)(void* value));
/* Values that are still there are forgotten. */
void sinew_key_delete(sinew_key* key);
int sinew_key_set(sinew_key* key, void* value); /* SINEW_NO_MEMORY */
void* sinew_key_get(const sinew_key* key);

#ifdef __cplusplus
}
#endif

#endif
