// SPDX-License-Identifier: BSD-3-Clause
/* SIGQUIT of a program that never says what to do with it shows its threads, as fibers; one that
 * does gets it. (As the system's threads it would end the program.) */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static volatile sig_atomic_t caught;

static void* wait_for_mutex(void* unused) {
  CHECK(pthread_mutex_lock(&held) == 0 && pthread_mutex_unlock(&held) == 0);
  return unused;
}

static void* wait_for_semaphore(void* unused) {
  CHECK(sem_wait(&never) == 0);
  return unused;
}

static void count(int number) { caught += number == SIGQUIT; }

/* From another process, as a terminal would. */
static void quit_from_elsewhere(void) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  int status;
  CHECK(child >= 0);
  if (child == 0) _exit(kill(parent, SIGQUIT) == 0 ? 0 : 1);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  static char text[65536];
  struct sigaction now;
  pthread_t threads[4];
  FILE* const said = tmpfile();
  const int terminal = dup(2);
  CHECK(said != NULL && terminal >= 0 && sem_init(&never, 0, 0) == 0);
  CHECK(pthread_mutex_lock(&held) == 0);
  for (int i = 0; i < 4; ++i) {
    void* (*const entry)(void*) = i < 3 ? wait_for_mutex : wait_for_semaphore;
    CHECK(pthread_create(&threads[i], NULL, entry, NULL) == 0);
  }
  CHECK(pthread_setname_np(threads[3], "patient") == 0);
  usleep(20000);
  CHECK(dup2(fileno(said), 2) == 2);
  quit_from_elsewhere();
  usleep(20000);
  CHECK(dup2(terminal, 2) == 2);
  rewind(said);
  text[fread(text, 1, sizeof text - 1, said)] = 0;
  fputs(text, stderr);
  CHECK(strstr(text, "5 fibers on ") != NULL && strstr(text, "3 pthread_mutex_lock") != NULL);
  CHECK(strstr(text, "\"patient\": sem_wait") != NULL);

  CHECK(sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
  CHECK(signal(SIGQUIT, count) == SIG_DFL);
  quit_from_elsewhere();
  quit_from_elsewhere();
  for (int i = 0; caught < 1 && i < 1000; ++i) usleep(1000);
  CHECK(caught >= 1);

  CHECK(pthread_mutex_unlock(&held) == 0 && sem_post(&never) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  const pid_t child = fork();
  int status;
  CHECK(child >= 0);
  if (child == 0) { /* its own, at its default, is what it always was */
    signal(SIGQUIT, SIG_DFL);
    raise(SIGQUIT);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
  puts("all parts hold");
  return 0;
}
