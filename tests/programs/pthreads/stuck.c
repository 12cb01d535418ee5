// SPDX-License-Identifier: BSD-3-Clause
// Threads that block where nobody sees it coming: inside the C library, or in a system call of
// their own making. The thread that would end the wait must run meanwhile, also on the same worker.
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int ends[2];
static char path[] = "/tmp/sinew-stuck-XXXXXX";
static volatile int flag;

/// A system call that no library makes for us.
static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

/// Runs `waits` in a thread, and then, in another one, `ends_it`.
static void pair(void* (*waits)(void*), void* (*ends_it)(void*)) {
  pthread_t a, b;
  void* good = NULL;
  CHECK(pipe(ends) == 0);
  flag = 0;
  CHECK(pthread_create(&a, NULL, waits, "good") == 0);
  CHECK(pthread_create(&b, NULL, ends_it, NULL) == 0);
  CHECK(pthread_join(a, &good) == 0 && good != NULL && strcmp(good, "good") == 0);
  CHECK(pthread_join(b, NULL) == 0);
  close(ends[0]);
  close(ends[1]);
}

static void* writes(void* unused) {
  usleep(20000);
  CHECK(write(ends[1], "a line\n", 7) == 7);
  return unused;
}

// ---- stdio on an empty pipe

static void* reads_line(void* good) {
  FILE* in = fdopen(dup(ends[0]), "r");
  char line[16];
  errno = 0;
  CHECK(fgets(line, sizeof line, in) != NULL && strcmp(line, "a line\n") == 0);
  CHECK(errno == 0);
  fclose(in);
  return good;
}

static void* reads_by_getline(void* good) {
  FILE* in = fdopen(dup(ends[0]), "r");
  char* line = NULL;
  size_t room = 0;
  CHECK(getline(&line, &room, in) == 7);
  free(line);
  fclose(in);
  return good;
}

static void* reads_character(void* good) {
  FILE* in = fdopen(dup(ends[0]), "r");
  CHECK(fgetc(in) == 'a');
  fclose(in);
  return good;
}

// ---- a name that a server of names, which is a thread, does not know (where the C library asks
// one)

static int server_of_names;

static void* asks_for_a_name(void* good) {
  struct sockaddr_in at;
  socklen_t length = sizeof at;
  CHECK(getsockname(server_of_names, (struct sockaddr*)&at, &length) == 0);
  CHECK(res_init() == 0);
  _res.nscount = 1;
  _res.nsaddr_list[0] = at;
  struct addrinfo* found = NULL;
  CHECK(getaddrinfo("name.invalid.", "1", NULL, &found) != 0);
  flag = 1;
  return good;
}

static void* knows_no_name(void* unused) {
  struct pollfd asked = {server_of_names, POLLIN, 0};
  while (!flag) {
    unsigned char text[512];
    struct sockaddr_in who;
    socklen_t length = sizeof who;
    if (poll(&asked, 1, 10) != 1) {
      continue;
    }
    const ssize_t bytes = recvfrom(server_of_names, text, sizeof text, 0, (void*)&who, &length);
    CHECK(bytes > 12);
    text[2] |= 0x80; /* an answer: */
    text[3] = 0x83;  /* there is no such name */
    CHECK(sendto(server_of_names, text, (size_t)bytes, 0, (void*)&who, length) == bytes);
  }
  return unused;
}

static void names(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  server_of_names = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(bind(server_of_names, (struct sockaddr*)&any, sizeof any) == 0);
  pair(asks_for_a_name, knows_no_name);
  close(server_of_names);
}

// ---- system calls of one's own

static void* reads_itself(void* good) {
  char c;
  CHECK(call(SYS_read, ends[0], (long)&c, 1, 0) == 1);
  return good;
}

/// This one the kernel never makes again by itself.
static void* polls_itself(void* good) {
  struct pollfd one = {ends[0], POLLIN, 0};
  CHECK(call(SYS_poll, (long)&one, 1, 10000, 0) == 1);
  return good;
}

static volatile int word;

static void* waits_for_word(void* good) {
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) {
    long code = call(SYS_futex, (long)&word, 128, 0, 0);
    CHECK(code == 0 || code == -EAGAIN);
  }
  return good;
}

static void* wakes_word(void* unused) {
  usleep(20000);
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  call(SYS_futex, (long)&word, 129, 1, 0);
  return unused;
}

static void* sleeps_itself(void* good) {
  struct timespec length = {0, 30000000}, before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  CHECK(call(SYS_nanosleep, (long)&length, 0, 0, 0) == 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 30000000);
  return good;
}

// ---- other calls that wait inside the C library

static void* opens_fifo(void* good) {
  int file = open(path, O_RDONLY);
  CHECK(file >= 0);
  close(file);
  return good;
}

static void* opens_fifo_too(void* unused) {
  usleep(20000);
  int file = open(path, O_WRONLY);
  CHECK(file >= 0);
  close(file);
  return unused;
}

static void* splices(void* good) {
  int to[2];
  CHECK(pipe(to) == 0);
  CHECK(splice(ends[0], NULL, to[1], NULL, 7, 0) == 7);
  close(to[0]);
  close(to[1]);
  return good;
}

static void* waits_for_aio(void* good) {
  char text[8];
  struct aiocb request;
  memset(&request, 0, sizeof request);
  request.aio_fildes = ends[0];
  request.aio_buf = text;
  request.aio_nbytes = 7;
  CHECK(aio_read(&request) == 0);
  const struct aiocb* all[] = {&request};
  CHECK(aio_suspend(all, 1, NULL) == 0);
  CHECK(aio_error(&request) == 0 && aio_return(&request) == 7);
  return good;
}

static void* runs_command(void* good) {
  char command[64];
  snprintf(command, sizeof command, "read x <&%d; exit 3", ends[0]);
  int status = system(command);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  return good;
}

static void* locks_file(void* good) {
  int file = open(path, O_RDWR);
  CHECK(file >= 0 && lockf(file, F_LOCK, 0) == 0);
  close(file);
  return good;
}

static int child;

static void* ends_child(void* unused) {
  usleep(20000);
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  return unused;
}

static void lock_of_another_process(void) {
  int told[2];
  CHECK(pipe(told) == 0);
  child = fork();
  if (child == 0) {
    int file = open(path, O_RDWR);
    char c = lockf(file, F_LOCK, 0) == 0 ? 'y' : 'n';
    (void)!write(told[1], &c, 1);
    for (;;) {
      pause();
    }
  }
  char c = 0;
  CHECK(read(told[0], &c, 1) == 1 && c == 'y');
  pair(locks_file, ends_child);
  close(told[0]);
  close(told[1]);
}

// ---- computing inside the C library

static int compare(const void* a, const void* b) {
  return *(const unsigned char*)a - *(const unsigned char*)b;
}

static void* sorts_until_told(void* good) {
  char* room = malloc(1 << 16);
  while (!flag) {
    for (int i = 0; i < 1 << 16; ++i) {
      room[i] = (char)(i * 7919 >> 3);
    }
    qsort(room, 1 << 16, 1, compare);
  }
  free(room);
  return good;
}

static void* asks_clock_until_told(void* good) {
  struct timespec now;
  while (!flag) {
    clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return good;
}

static void* tells(void* unused) {
  flag = 1;
  return unused;
}

// ---- what a thread is stays what it was, while it has a kernel thread of its own

static __thread int own;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int handled, turns;

static void handler(int number) { handled += number == SIGUSR1; }

static void* stays_itself(void* good) {
  pthread_t me = pthread_self();
  int id = gettid();
  own = 17;
  CHECK(pthread_setname_np(me, "stuck") == 0);
  for (int i = 0; i < 5; ++i) {
    char c, name[16];
    CHECK(call(SYS_read, ends[0], (long)&c, 1, 0) == 1);
    CHECK(pthread_equal(me, pthread_self()) && gettid() == id && own == 17);
    CHECK(pthread_getname_np(me, name, sizeof name) == 0 && strcmp(name, "stuck") == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    ++turns;
    CHECK(pthread_cond_broadcast(&condition) == 0 && pthread_mutex_unlock(&mutex) == 0);
  }
  // A signal reaches it there, and ends the call.
  char c;
  CHECK(call(SYS_read, ends[0], (long)&c, 1, 0) == -EINTR && handled == 1);
  return good;
}

static void* feeds(void* to) {
  for (int i = 1; i <= 5; ++i) {
    usleep(10000);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    while (turns < i) {
      CHECK(pthread_cond_wait(&condition, &mutex) == 0);
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  while (!handled) {
    usleep(20000);
    CHECK(pthread_kill(*(pthread_t*)to, SIGUSR1) == 0);
  }
  return NULL;
}

static void identity(void) {
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = handler;
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  pthread_t a, b;
  CHECK(pipe(ends) == 0);
  CHECK(pthread_create(&a, NULL, stays_itself, NULL) == 0);
  CHECK(pthread_create(&b, NULL, feeds, &a) == 0);
  CHECK(pthread_join(b, NULL) == 0 && pthread_join(a, NULL) == 0);
  close(ends[0]);
  close(ends[1]);
}

// ---- many at a time, and threads that end where they block

enum { many = 40 };

static void* blocks(void* unused) {
  char c;
  CHECK(call(SYS_read, ends[0], (long)&c, 1, 0) == 1);
  return unused;
}

static void crowd(void) {
  pthread_t all[many];
  CHECK(pipe(ends) == 0);
  for (int i = 0; i < many; ++i) {
    CHECK(pthread_create(&all[i], NULL, blocks, NULL) == 0);
  }
  usleep(20000);
  for (int i = 0; i < many; ++i) {
    CHECK(write(ends[1], "x", 1) == 1);
  }
  for (int i = 0; i < many; ++i) {
    CHECK(pthread_join(all[i], NULL) == 0);
  }
  close(ends[0]);
  close(ends[1]);
}

static void main_blocks(void) {
  pthread_t writer;
  char c;
  CHECK(pipe(ends) == 0);
  CHECK(pthread_create(&writer, NULL, writes, NULL) == 0);
  CHECK(call(SYS_read, ends[0], (long)&c, 1, 0) == 1);
  CHECK(pthread_join(writer, NULL) == 0);
  close(ends[0]);
  close(ends[1]);
}

// ---- nothing of it costs anything while nobody runs

/// Times that threads of a process went to sleep.
static long sleeps_of(pid_t process) {
  char name[64], line[128];
  long all = 0, one;
  snprintf(name, sizeof name, "/proc/%d/task", (int)process);
  DIR* tasks = opendir(name);
  CHECK(tasks != NULL);
  for (struct dirent* each; (each = readdir(tasks)) != NULL;) {
    char status[512];
    snprintf(status, sizeof status, "%s/%s/status", name, each->d_name);
    FILE* in = each->d_name[0] == '.' ? NULL : fopen(status, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
      if (sscanf(line, "voluntary_ctxt_switches: %ld", &one) == 1) {
        all += one;
      }
    }
    if (in != NULL) {
      fclose(in);
    }
  }
  closedir(tasks);
  return all;
}

static void* waits_for_turn(void* unused) {
  CHECK(pthread_mutex_lock(&mutex) == 0);
  while (turns >= 0) {
    CHECK(pthread_cond_wait(&condition, &mutex) == 0);
  }
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  return unused;
}

static void nobody_runs(void) {
  pthread_t waits;
  char same = 0;
  CHECK(pipe(ends) == 0);
  CHECK(pthread_create(&waits, NULL, waits_for_turn, NULL) == 0);
  const pid_t parent = getpid(), observer = fork();
  CHECK(observer >= 0);
  if (observer == 0) {
    long before, now = sleeps_of(parent);
    int tries = 0;
    do { /* at first it is still on its way to sleep */
      before = now;
      usleep(300000);
      now = sleeps_of(parent);
    } while (now != before && ++tries < 20);
    same = now == before ? 'y' : 'n';
    _exit(write(ends[1], &same, 1) == 1 ? 0 : 1);
  }
  CHECK(read(ends[0], &same, 1) == 1 && same == 'y');
  CHECK(waitpid(observer, NULL, 0) == observer);
  CHECK(pthread_mutex_lock(&mutex) == 0);
  turns = -1;
  CHECK(pthread_cond_broadcast(&condition) == 0 && pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_join(waits, NULL) == 0);
  close(ends[0]);
  close(ends[1]);
}

int main(void) {
  int file = mkstemp(path);
  CHECK(file >= 0);
  pair(reads_line, writes);
  pair(reads_by_getline, writes);
  pair(reads_character, writes);
  names();
  pair(reads_itself, writes);
  pair(polls_itself, writes);
  pair(waits_for_word, wakes_word);
  pair(sleeps_itself, writes);
  pair(splices, writes);
  pair(waits_for_aio, writes);
  pair(runs_command, writes);
  lock_of_another_process();
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
  pair(opens_fifo, opens_fifo_too);
  unlink(path);
  close(file);
  pair(sorts_until_told, tells);
  pair(asks_clock_until_told, tells);
  identity();
  crowd();
  main_blocks();
  nobody_runs();
  puts("all parts hold");
  return 0;
}
