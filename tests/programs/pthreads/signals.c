// SPDX-License-Identifier: BSD-3-Clause
// Signals and threads: calls that a handler ends, the thread that a signal is for, masks.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static __thread volatile sig_atomic_t seen;
static volatile sig_atomic_t alarms;
static sem_t begun, go;
static int ends[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void count(int number) { seen += number == SIGUSR1; }
static void count_alarm(int number) { alarms += number == SIGALRM; }

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction how = {.sa_handler = handler, .sa_flags = flags}, before;
  CHECK(sigaction(number, &how, NULL) == 0 && sigaction(number, NULL, &before) == 0);
  CHECK(before.sa_handler == handler && (before.sa_flags & SA_RESTART) == (flags & SA_RESTART));
}

static sigset_t only(int number) {
  sigset_t set;
  CHECK(sigemptyset(&set) == 0 && sigaddset(&set, number) == 0);
  return set;
}

static void* returns(void* argument) { return argument; }

// A signal that comes before the call that it is to end ends nothing, and on a busy machine a
// thread may be that late. So it is sent until the call has ended.
static void interrupt_until(pthread_t thread, const volatile int* counter, int wanted) {
  while (*counter < wanted) {
    CHECK(usleep(30000) == 0);
    if (*counter < wanted) (void)pthread_kill(thread, SIGUSR1);  // which may have ended
  }
}

static void in_ms(long ms) {
  const struct itimerval once = {.it_value = {0, ms * 1000}};
  CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
}

// ---- Signals that are blocked before there are threads; each call has one of its own.

enum { calls = 6 };
static volatile sig_atomic_t handled[calls];
static volatile sig_atomic_t faults;
static void count_fault(int number) { faults += number == SIGBUS; }
static void count_call(int number) { handled[number - SIGRTMIN] += 1; }

static void lets_in(int which, const sigset_t* mask, int length) {
  const struct timespec limit = {length, 0};
  const int watch = epoll_create1(0);
  struct epoll_event event;
  errno = 0;
  int got = 0;
  if (which == 0) got = sigsuspend(mask);
  if (which == 1) got = ppoll(NULL, 0, &limit, mask);
  if (which == 2) got = pselect(0, NULL, NULL, NULL, &limit, mask);
  if (which == 3) got = epoll_pwait(watch, &event, 1, length * 1000, mask);
  if (which >= 4) CHECK(pthread_sigmask(SIG_SETMASK, mask, NULL) == 0);
  CHECK(close(watch) == 0 && (which >= 4 || (got == -1 && errno == EINTR)));
}

static void* sends_soon(void* number) {
  usleep(30000);
  CHECK(kill(getpid(), (int)(long)number) == 0);
  return NULL;
}

// One that an instruction may cause as well: the kernel keeps it and delivers it.
static void blocked_fault(void) {
  const struct sigaction how = {.sa_handler = count_fault};
  const sigset_t set = only(SIGBUS);
  CHECK(sigaction(SIGBUS, &how, NULL) == 0);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && kill(getpid(), SIGBUS) == 0);
}

static void waiting_since_before(void) {
  pthread_t thread;
  sigset_t all, mask, now;
  blocked_fault();
  CHECK(sigemptyset(&all) == 0);
  for (int i = 0; i < calls; ++i) {
    const struct sigaction how = {.sa_handler = count_call};
    CHECK(sigaddset(&all, SIGRTMIN + i) == 0 && sigaction(SIGRTMIN + i, &how, NULL) == 0);
  }
  CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0 && raise(SIGRTMIN + 5) == 0);
  CHECK(pthread_create(&thread, NULL, returns, NULL) == 0 && pthread_join(thread, NULL) == 0);
  mask = only(SIGBUS);
  CHECK(faults == 0 && sigprocmask(SIG_UNBLOCK, &mask, NULL) == 0 && faults == 1);
  for (int i = 0; i < calls; ++i) {
    mask = all;
    CHECK(sigdelset(&mask, SIGRTMIN + i) == 0 && (i == 5 || kill(getpid(), SIGRTMIN + i) == 0));
    CHECK(sigpending(&now) == 0 && sigismember(&now, SIGRTMIN + i) == 1 && handled[i] == 0);
    lets_in(i, &mask, 100);
    CHECK(handled[i] == 1 && sigpending(&now) == 0 && sigismember(&now, SIGRTMIN + i) == 0);
    CHECK(sigprocmask(SIG_SETMASK, &all, &now) == 0);
    CHECK(sigismember(&now, SIGRTMIN + i) == (i < 4));
    if (i >= 4) continue;
    // The same again: by now it is no longer the kernel that keeps it. Then while the call waits.
    CHECK(kill(getpid(), SIGRTMIN + i) == 0 && handled[i] == 1);
    lets_in(i, &mask, i == 1 || i == 2 ? 0 : 100);
    CHECK(handled[i] == 2);
    CHECK(pthread_create(&thread, NULL, sends_soon, (void*)(long)(SIGRTMIN + i)) == 0);
    lets_in(i, &mask, 100);
    CHECK(handled[i] == 3 && pthread_join(thread, NULL) == 0);
  }
  CHECK(sigprocmask(SIG_UNBLOCK, &all, NULL) == 0);
}

// ---- What is blocked ends no call, not even of the only thread.

static void blocked_is_not_seen(void) {
  const sigset_t set = only(SIGALRM);
  char byte;
  handle(SIGALRM, count_alarm, 0);
  CHECK(pipe(ends) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  in_ms(20);
  CHECK(poll(NULL, 0, 200) == 0 && alarms == 0);
  const pid_t child = fork();
  if (child == 0) {
    usleep(200000);
    _exit(write(ends[1], "x", 1) != 1);
  }
  in_ms(20);
  CHECK(read(ends[0], &byte, 1) == 1 && alarms == 0 && waitpid(child, NULL, 0) == child);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && alarms == 1);
  alarms = 0;
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

// ---- Calls that a handler without SA_RESTART ends.

static volatile int interrupted;  // calls that have been

static void ends_so(int whether) {
  CHECK(whether);
  interrupted += 1;
}

static void sleeps_interrupted(void) {
  const struct timespec length = {100, 0};
  struct timespec left = {0, 0}, end;
  errno = 0;
  ends_so(nanosleep(&length, &left) == -1 && errno == EINTR && left.tv_sec > 50);
  CHECK(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
  end.tv_sec += 100;
  ends_so(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR);
  ends_so(sleep(100) > 50);
}

static void calls_interrupted(void) {
  struct pollfd one = {.fd = ends[0], .events = POLLIN};
  struct timeval limit = {100, 0};
  struct timespec end;
  struct epoll_event event;
  sem_t never;
  fd_set set;
  char byte;
  ends_so(poll(&one, 1, 100000) == -1 && errno == EINTR);
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  ends_so(select(ends[0] + 1, &set, NULL, NULL, &limit) == -1 && errno == EINTR);
  const int watch = epoll_create1(0);
  ends_so(epoll_wait(watch, &event, 1, 100000) == -1 && errno == EINTR);
  CHECK(close(watch) == 0 && sem_init(&never, 0, 0) == 0);
  CHECK(clock_gettime(CLOCK_REALTIME, &end) == 0);
  end.tv_sec += 100;
  ends_so(sem_timedwait(&never, &end) == -1 && errno == EINTR);
  ends_so(sem_wait(&never) == -1 && errno == EINTR);
  ends_so(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  ends_so(pause() == -1 && errno == EINTR);
}

static volatile int over;

static void* is_interrupted(void* unused) {
  CHECK(sem_post(&begun) == 0);
  sleeps_interrupted();
  calls_interrupted();
  CHECK(seen >= interrupted);
  over = 1;
  return unused;
}

static void interruptions(void) {
  pthread_t thread;
  handle(SIGUSR1, count, 0);
  CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, is_interrupted, NULL) == 0);
  CHECK(sem_wait(&begun) == 0);
  for (int call = 1; call <= 10; ++call) interrupt_until(thread, &interrupted, call);
  CHECK(pthread_join(thread, NULL) == 0 && seen == 0 && interrupted == 10);
}

// ---- With SA_RESTART what can go on does, and locks always do.

static volatile int woken;

static void* goes_on(void* unused) {
  const struct timespec length = {100, 0};
  char byte;
  CHECK(sem_post(&begun) == 0);
  CHECK(read(ends[0], &byte, 1) == 1 && seen == 1);
  CHECK(sem_wait(&go) == 0 && seen == 2);
  CHECK(pthread_mutex_lock(&held) == 0 && seen == 3 && pthread_mutex_unlock(&held) == 0);
  CHECK(nanosleep(&length, NULL) == -1 && errno == EINTR && seen >= 4);
  woken = 1;
  return unused;
}

static void restarts(void) {
  pthread_t thread;
  handle(SIGUSR1, count, SA_RESTART);
  CHECK(sem_init(&go, 0, 0) == 0 && pthread_mutex_lock(&held) == 0);
  CHECK(pthread_create(&thread, NULL, goes_on, NULL) == 0 && sem_wait(&begun) == 0);
  for (int step = 0; step < 3; ++step) {
    usleep(30000);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    usleep(30000);
    if (step == 0) CHECK(write(ends[1], "x", 1) == 1);
    if (step == 1) CHECK(sem_post(&go) == 0);
    if (step == 2) CHECK(pthread_mutex_unlock(&held) == 0);
  }
  interrupt_until(thread, &woken, 1);
  CHECK(pthread_join(thread, NULL) == 0);
}

// ---- By the kernel's numbers of threads; siginterrupt() changes what a handler does to a call.

static volatile pid_t number_of_reader;
static volatile int has_read;

static void* reads_once(void* expected) {
  char byte;
  number_of_reader = gettid();
  CHECK(sem_post(&begun) == 0 && read(ends[0], &byte, 1) == (long)expected && seen >= 1);
  CHECK((long)expected == 1 || errno == EINTR);
  has_read = 1;
  return NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // POSIX would do without it
static void numbered(void) {
  pthread_t thread;
  handle(SIGUSR1, count, SA_RESTART);
  for (long goes_on = 0; goes_on < 2; ++goes_on) {
    CHECK(siginterrupt(SIGUSR1, goes_on == 0) == 0);
    CHECK(pthread_create(&thread, NULL, reads_once, (void*)(goes_on == 0 ? -1L : 1L)) == 0);
    CHECK(sem_wait(&begun) == 0 && usleep(20000) == 0);
    CHECK(tgkill(getpid(), number_of_reader, SIGUSR1) == 0 && usleep(20000) == 0);
    if (goes_on) CHECK(write(ends[1], "x", 1) == 1);
    if (!goes_on) interrupt_until(thread, &has_read, 1);
    CHECK(pthread_join(thread, NULL) == 0);
  }
}
#pragma GCC diagnostic pop

// ---- Each signal to the thread that it was sent to.

static volatile long told[5];

static void* counts_its_own(void* number) {
  const long expected = (long)number;
  CHECK(sem_post(&begun) == 0);
  while (seen < expected) {
    if (expected % 2 == 0) usleep(1000);
    sched_yield();
    told[expected] = seen;
  }
  told[expected] = seen;
  return (void*)(long)seen;
}

static void right_threads(void) {
  pthread_t thread[5];
  handle(SIGUSR1, count, SA_RESTART);
  for (long i = 0; i < 5; ++i) {
    CHECK(pthread_create(&thread[i], NULL, counts_its_own, (void*)i) == 0);
    CHECK(sem_wait(&begun) == 0);
  }
  for (long round = 0; round < 5; ++round) {
    for (long i = 0; i < 5; ++i) {
      if (round < i) CHECK(pthread_kill(thread[i], SIGUSR1) == 0);
    }
    for (long i = 0; i < 5; ++i) {  // none is sent twice before it is seen
      while (round < i && told[i] <= round) usleep(1000);
    }
  }
  for (long i = 0; i < 5; ++i) {
    void* result = NULL;
    CHECK(pthread_join(thread[i], &result) == 0 && (long)result == i);
  }
  CHECK(seen == 0 && raise(SIGUSR1) == 0 && seen == 1);
  seen = 0;
}

// ---- Masks are a thread's own, and a new thread's its creator's.

static void* blocks(void* unused) {
  const sigset_t set = only(SIGUSR1);
  sigset_t now;
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(sem_post(&begun) == 0 && sem_wait(&go) == 0);
  CHECK(seen == 0 && sigpending(&now) == 0 && sigismember(&now, SIGUSR1) == 1);
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 1);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, &now) == 0 && seen == 1);
  CHECK(sigismember(&now, SIGUSR1) == 1);
  CHECK(pthread_sigmask(1000, &set, NULL) == EINVAL);
  return unused;
}

static void* inherits(void* unused) {
  sigset_t now;
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) == 1);
  return unused;
}

static void masks(void) {
  pthread_t thread;
  const sigset_t set = only(SIGUSR2);
  sigset_t now;
  CHECK(pthread_create(&thread, NULL, blocks, NULL) == 0 && sem_wait(&begun) == 0);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 0);
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  usleep(10000);
  CHECK(sem_post(&go) == 0 && pthread_join(thread, NULL) == 0 && seen == 0);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, inherits, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(kill(getpid(), SIGUSR2) == 0);  // its default would end us
  usleep(10000);
  CHECK(sigpending(&now) == 0 && sigismember(&now, SIGUSR2) == 1);
  int got = 0;
  CHECK(sigwait(&set, &got) == 0 && got == SIGUSR2);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

// ---- A thread that waits for signals; signals of the process.

static void* waits_for_signals(void* unused) {
  const sigset_t set = only(SIGTERM);
  const struct timespec soon = {0, 10000000};
  siginfo_t what;
  int got = 0;
  CHECK(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN);
  CHECK(sem_post(&begun) == 0 && sigwait(&set, &got) == 0 && got == SIGTERM);
  CHECK(sem_post(&begun) == 0 && sigwaitinfo(&set, &what) == SIGTERM && what.si_signo == SIGTERM);
  return unused;
}

static void* handles_all(void* unused) {
  while (seen < 1) usleep(1000);
  return unused;
}

static void of_the_process(void) {
  pthread_t thread;
  const sigset_t set = only(SIGTERM), user = only(SIGUSR1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, waits_for_signals, NULL) == 0);
  CHECK(sem_wait(&begun) == 0 && kill(getpid(), SIGTERM) == 0);
  CHECK(sem_wait(&begun) == 0 && pthread_kill(thread, SIGTERM) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
  // Who does not block it gets it.
  CHECK(pthread_create(&thread, NULL, handles_all, NULL) == 0);
  CHECK(pthread_sigmask(SIG_BLOCK, &user, NULL) == 0 && kill(getpid(), SIGUSR1) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && seen == 0);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &user, NULL) == 0 && seen == 0);
}

// ---- Alarms: the main thread's, while it sleeps, computes, waits for a signal; jumps.

static void* idles(void* unused) {
  CHECK(sem_wait(&go) == 0);
  return unused;
}

static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }

static void times_out(void) {
  for (volatile int round = 0; round < 3; ++round) {
    if (sigsetjmp(back, 1) == 0) {
      char byte;
      in_ms(20);
      CHECK(read(ends[0], &byte, 1) == 1000);  // not reached
    }
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGALRM) == 0);
  }
}

// A handler that another one leaves by a jump into it ends as others do: a later jump out of a
// handler still leaves nothing blocked.
static sigjmp_buf inside;
static void jump_inside(int number) { siglongjmp(inside, number); }
static void is_jumped_into(int number) {
  if (sigsetjmp(inside, 1) == 0) CHECK(number == SIGUSR1 && raise(SIGUSR2) == 0);
}

static void* jumps(void* unused) {
  struct sigaction before;
  sigset_t now;
  CHECK(sigaction(SIGUSR1, NULL, &before) == 0);
  handle(SIGUSR2, jump_inside, 0);
  handle(SIGUSR1, is_jumped_into, 0);
  CHECK(raise(SIGUSR1) == 0);
  handle(SIGUSR1, jump, 0);
  if (sigsetjmp(back, 1) == 0) CHECK(raise(SIGUSR1) == 1000);  // not reached
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 0);
  CHECK(sigaction(SIGUSR1, &before, NULL) == 0 && signal(SIGUSR2, SIG_DFL) == jump_inside);
  return unused;
}

static void timers(void) {
  pthread_t thread;
  const sigset_t set = only(SIGALRM);
  sigset_t none;
  handle(SIGALRM, count_alarm, 0);
  CHECK(sigemptyset(&none) == 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, idles, NULL) == 0);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
  const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);  // it may come before the sleep begins
  CHECK(sleep(100) > 50 && alarms >= 1 && setitimer(ITIMER_REAL, &never, NULL) == 0);
  alarms = 1;
  CHECK(alarm(1) == 0 && poll(NULL, 0, 100000) == -1 && errno == EINTR && alarms == 2);
  in_ms(20);
  while (alarms < 3) continue;
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  in_ms(1);
  const long later = 20000000;
  for (volatile long i = 0; i < later; ++i) continue;
  CHECK(alarms == 3 && sigsuspend(&none) == -1 && errno == EINTR && alarms == 4);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
  handle(SIGALRM, jump, 0);
  times_out();
  CHECK(signal(SIGALRM, count_alarm) == jump && signal(SIGALRM, SIG_DFL) == count_alarm);
  CHECK(sem_post(&go) == 0 && pthread_join(thread, NULL) == 0);
}

// ---- What a child of fork gets, and numbers of threads.

static void* forks(void* unused) {
  const sigset_t set = only(SIGUSR1);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  const pid_t child = fork();
  if (child == 0) {
    sigset_t now;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 1);
    CHECK(raise(SIGUSR1) == 0 && seen == 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && seen == 1);
    _exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return unused;
}

static void* own_number(void* unused) {
  (void)unused;
  CHECK(sem_post(&begun) == 0 && sem_wait(&go) == 0);
  return (void*)(long)gettid();
}

static void children_and_numbers(void) {
  pthread_t thread[2];
  void* number[2];
  CHECK(pthread_create(&thread[0], NULL, forks, NULL) == 0 && pthread_join(thread[0], NULL) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&thread[i], NULL, own_number, NULL) == 0);
  for (int i = 0; i < 2; ++i) CHECK(sem_wait(&begun) == 0);
  for (int i = 0; i < 2; ++i) CHECK(sem_post(&go) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(thread[i], &number[i]) == 0);
  CHECK(number[0] != number[1] && gettid() == getpid());
  CHECK((long)number[0] != getpid() && (long)number[1] != getpid());
}

int main(void) {
  CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
  waiting_since_before();
  blocked_is_not_seen();
  interruptions();
  restarts();
  numbered();
  right_threads();
  masks();
  of_the_process();
  timers();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, jumps, NULL) == 0 && pthread_join(thread, NULL) == 0);
  children_and_numbers();
  CHECK(over == 1);
  puts("all parts hold");
  return 0;
}
