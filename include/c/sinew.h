/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers for C and C++ programs: threads of a few nanoseconds, run by workers (pinned threads) of
 * this process. Link with -lsinew. In an MPI program, calls that block (MPI_Recv, MPI_Wait, ...)
 * suspend the calling fiber and let the others run. (Events, tasks and data of all ranks of a job:
 * sinew_job.h.)
 *
 * A fiber stays on the worker on which it starts. It is never interrupted: it gives its worker away
 * only in the calls that say here that they suspend, and in blocking calls of MPI. A system call
 * that blocks (read, for instance) blocks the worker: sinew_read() and its like suspend instead.
 *
 * Unless a function says more, any fiber and any thread may call it. Whatever waits suspends a
 * fiber and blocks a thread. These calls need some 2 KiB of stack, those on descriptors and
 * sinew_channel_select() 8 KiB.
 *
 * Functions that return int return SINEW_OK or one of the codes below. What may go wrong in a call
 * stands at the call; breaking a rule that no code stands for (unlocking what one does not hold,
 * joining twice) is undefined. */
#ifndef SINEW_H
#define SINEW_H

#include <stddef.h>
#include <stdint.h>

struct pollfd;
struct sockaddr;

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
  SINEW_FAILED = 7,        /* see sinew_last_error() */
  SINEW_CANCELLED = 8,     /* the calling fiber has been cancelled: sinew_fiber_cancel() */
  SINEW_CLOSED = 9,        /* the channel is closed */
  SINEW_POISONED = 10      /* what an event stood for has failed: sinew_job.h */
};

/* As a length of time: without limit. */
#define SINEW_FOREVER UINT64_MAX

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
/* Waits until all other fibers have ended. From the fiber that called sinew_start(). After two
 * seconds it says once on stderr which fibers are still there, and for what they wait. */
int sinew_stop(void);
int sinew_workers(void);     /* 0 without a scheduler */
int sinew_this_worker(void); /* -1 if the caller is no fiber */

/* ---- Fibers -------------------------------------------------------------------------------- */

/* One fiber; its address is its name until it has been joined, or has ended and was detached. */
typedef struct sinew_fiber sinew_fiber;

struct sinew_fiber_options {
  const char* name;    /* NULL or shown in reports; 15 bytes are kept */
  size_t stack_bytes;  /* 0: SINEW_FIBER_STACK; in the memory of its worker's NUMA node */
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
/* The same for at most so long. SINEW_TIMED_OUT, SINEW_CANCELLED: it is still to be joined. */
int sinew_fiber_join_for(sinew_fiber* fiber, uint64_t nanoseconds);
/* Asks it to end. From now on its calls that may return SINEW_CANCELLED (or errno ECANCELED)
 * return that instead of waiting, and sinew_fiber_cancelled() is 1 in it. Nothing is unwound, and
 * it cannot be taken back. Never suspends. SINEW_INVALID: NULL, or a thread of a program that is
 * run with --threads-as-fibers. */
int sinew_fiber_cancel(sinew_fiber* fiber);
int sinew_fiber_cancelled(void); /* 0 on a thread */
/* Nobody will join it. Instead of joining it. */
int sinew_fiber_detach(sinew_fiber* fiber);
sinew_fiber* sinew_fiber_self(void); /* NULL if the caller is no fiber */
const char* sinew_fiber_name(const sinew_fiber* fiber);
/* Lets the other ready fibers of this worker run. */
void sinew_fiber_yield(void);
/* At least so long. Suspends a fiber, blocks a thread. */
void sinew_fiber_sleep(uint64_t nanoseconds);
/* The same, but SINEW_CANCELLED as soon as the fiber is cancelled. */
int sinew_fiber_sleep_for(uint64_t nanoseconds);

/* ---- Pools: an order of the program's own ---------------------------------------------------- */

/* A pool has fibers, and tasklets: functions that run on the pool's stack and have none of their
 * own. Each worker has a share of it. Of a share one runs at a time: the first, by the pool's
 * order, of those that are ready, whenever the one before has suspended, yielded or ended (a
 * fiber), or has returned (a tasklet). It is not interrupted for one that would come before it.
 * Fibers beside the pool take turns with it. */
typedef struct sinew_pool sinew_pool;
typedef struct sinew_tasklet sinew_tasklet;

/* What an order looks at. */
struct sinew_work {
  int priority;
  void* argument;   /* of its function */
  uint64_t arrival; /* of two in one share the smaller one has become ready earlier */
};
struct sinew_pool_options {
  /* Not 0 if a is to run before b: a strict order of all that are ready. Called inside the
   * scheduler: it must neither suspend nor call anything of this header. NULL: the higher priority,
   * then the earlier arrival. */
  int (*before)(const struct sinew_work* a, const struct sinew_work* b);
  size_t stack_bytes; /* of the stack on which a share's tasklets run; 0: SINEW_FIBER_STACK */
};

/* From a fiber or a thread. how may be NULL. SINEW_NOT_STARTED, SINEW_NO_MEMORY, SINEW_INVALID. */
int sinew_pool_create(sinew_pool** pool, const struct sinew_pool_options* how);
/* Waits until all of it have ended (those to be joined need not have been joined). Suspends a
 * fiber, blocks a thread. From none of its own; before sinew_stop(), which else waits for it. */
void sinew_pool_destroy(sinew_pool* pool);
/* As sinew_fiber_create(), in the share of the worker on which the fiber is to run. */
int sinew_pool_fiber(sinew_fiber** made, sinew_pool* pool, int priority,
                     void (*entry)(void* argument), void* argument,
                     const struct sinew_fiber_options* how);
/* Of the calling fiber, from the next time on that it becomes ready. Never suspends. SINEW_INVALID:
 * it is in no pool. */
int sinew_fiber_set_priority(int priority);
/* Calls entry(argument) on the pool's stack, on worker worker_plus_one - 1, or (0) on the caller's
 * or in turn. Does not suspend. If entry suspends, its share stands still meanwhile: it must not
 * wait for others of it. made may be NULL: then nobody joins it. SINEW_NO_MEMORY, SINEW_INVALID. */
int sinew_tasklet_create(sinew_tasklet** made, sinew_pool* pool, int priority,
                         void (*entry)(void* argument), void* argument, int worker_plus_one);
/* Waits until entry has returned; exactly once. Suspends a fiber, blocks a thread. SINEW_INVALID:
 * NULL. */
int sinew_tasklet_join(sinew_tasklet* tasklet);

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

/* Units that are taken and given back; who waits gets one in the order of arrival. */
typedef struct sinew_semaphore {
  uint64_t opaque[4];
} sinew_semaphore;
void sinew_semaphore_init(sinew_semaphore* semaphore, unsigned units);
void sinew_semaphore_destroy(sinew_semaphore* semaphore); /* nobody waits */
int sinew_semaphore_wait(sinew_semaphore* semaphore);     /* SINEW_CANCELLED */
int sinew_semaphore_trywait(sinew_semaphore* semaphore);  /* SINEW_BUSY: there is none */
/* SINEW_TIMED_OUT, SINEW_CANCELLED. */
int sinew_semaphore_wait_for(sinew_semaphore* semaphore, uint64_t nanoseconds);
/* Never suspends. SINEW_INVALID, and nothing done: there would be more than UINT32_MAX. */
int sinew_semaphore_post(sinew_semaphore* semaphore, unsigned units);

/* Many readers or one writer. A reader that comes while a writer waits goes after it; a writer that
 * leaves lets in the readers that wait by then. Not recursive, not ended by cancelling. */
typedef struct sinew_rwlock {
  uint64_t opaque[8];
} sinew_rwlock;
#define SINEW_RWLOCK_INITIALIZER {{0, 0, 0, 0, 0, 0, 0, 0}}
void sinew_rwlock_init(sinew_rwlock* lock);
void sinew_rwlock_destroy(sinew_rwlock* lock); /* nobody holds it */
void sinew_rwlock_read(sinew_rwlock* lock);
int sinew_rwlock_tryread(sinew_rwlock* lock); /* SINEW_BUSY */
int sinew_rwlock_read_for(sinew_rwlock* lock, uint64_t nanoseconds); /* SINEW_TIMED_OUT */
void sinew_rwlock_unread(sinew_rwlock* lock); /* never suspends */
void sinew_rwlock_write(sinew_rwlock* lock);
int sinew_rwlock_trywrite(sinew_rwlock* lock); /* SINEW_BUSY */
int sinew_rwlock_write_for(sinew_rwlock* lock, uint64_t nanoseconds); /* SINEW_TIMED_OUT */
void sinew_rwlock_unwrite(sinew_rwlock* lock); /* never suspends */

typedef struct sinew_once {
  uint64_t opaque[4];
} sinew_once;
#define SINEW_ONCE_INITIALIZER {{0, 0, 0, 0}}
/* The first caller does action(argument), which may suspend; all return when it has been done. */
void sinew_once_call(sinew_once* once, void (*action)(void* argument), void* argument);

/* A pointer that somebody will provide, once, for any number of readers. */
typedef struct sinew_future {
  uint64_t opaque[6];
} sinew_future;
void sinew_future_init(sinew_future* future);
void sinew_future_destroy(sinew_future* future);           /* nobody waits */
int sinew_future_set(sinew_future* future, void* value);   /* SINEW_BUSY: it has a value */
/* value may be NULL. SINEW_TIMED_OUT, SINEW_CANCELLED: no value. */
int sinew_future_get(sinew_future* future, void** value, uint64_t nanoseconds);

/* ---- Channels: values handed from fiber to fiber (or thread), in order ----------------------- */

typedef struct sinew_channel sinew_channel;
#define SINEW_UNBOUNDED SIZE_MAX
/* capacity elements of so many bytes are kept that nobody has received yet; with 0 a sender waits
 * for its receiver. Elements are copied. SINEW_INVALID: no bytes. SINEW_NO_MEMORY. */
int sinew_channel_create(sinew_channel** channel, size_t element_bytes, size_t capacity);
void sinew_channel_destroy(sinew_channel* channel); /* nobody uses it any more */
/* Waits for room, at most so long (0: not at all). SINEW_TIMED_OUT, SINEW_CANCELLED, SINEW_CLOSED;
 * SINEW_NO_MEMORY only without bound. */
int sinew_channel_send(sinew_channel* channel, const void* element, uint64_t nanoseconds);
/* The same for an element. SINEW_CLOSED when it has been closed and all has been received. */
int sinew_channel_receive(sinew_channel* channel, void* element, uint64_t nanoseconds);
/* No more sends; all that wait are told. Never suspends. SINEW_CLOSED: it was already. */
int sinew_channel_close(sinew_channel* channel);
size_t sinew_channel_size(sinew_channel* channel); /* elements kept just now */

struct sinew_choice {
  sinew_channel* channel;
  int sends;     /* not 0: sends element, else receives into it */
  void* element;
};
/* Does exactly one of up to 64 choices, as soon as one is possible; which says which one it was, if
 * the answer is SINEW_OK or SINEW_CLOSED. SINEW_TIMED_OUT, SINEW_CANCELLED; SINEW_INVALID: none, or
 * too many. */
int sinew_channel_select(const struct sinew_choice* choices, size_t count, size_t* which,
                         uint64_t nanoseconds);

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* As the system's functions: -1 and errno, but they suspend the fiber and not its worker, whether
 * the descriptor is blocking or not. errno ETIMEDOUT: the time is over; ECANCELED: the fiber has
 * been cancelled; then nothing was done. */
int64_t sinew_read(int descriptor, void* to, size_t bytes, uint64_t nanoseconds);
/* All of it; less only if an error or the end of the time comes after a part. */
int64_t sinew_write(int descriptor, const void* from, size_t bytes, uint64_t nanoseconds);
/* The new descriptor is close-on-exec; the listening one is made O_NONBLOCK, for good. length
 * points to a socklen_t, or both are NULL. */
int sinew_accept(int descriptor, struct sockaddr* from, void* length, uint64_t nanoseconds);
/* The descriptor is O_NONBLOCK meanwhile. */
int sinew_connect(int descriptor, const struct sockaddr* to, unsigned length,
                  uint64_t nanoseconds);
/* 0: the time is over. errno ENOMEM for more than 16 descriptors without memory. */
int sinew_poll(struct pollfd* files, size_t count, uint64_t nanoseconds);

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
