// SPDX-License-Identifier: BSD-3-Clause
/* Threads that wait for descriptors: numbers that are closed and used again, in whatever way;
 * limits of time; polls of several. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int ends[2];

static void* send_later(void* unused) {
  usleep(2000);
  CHECK(write(ends[1], "x", 1) == 1);
  return unused;
}

static void receive_one(void) {
  pthread_t sender;
  char byte = 0;
  CHECK(pthread_create(&sender, NULL, send_later, NULL) == 0);
  CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
  CHECK(pthread_join(sender, NULL) == 0);
}

static void close_in_turn(int file, int how) {
  switch (how % 4) {
    case 0:
      CHECK(close(file) == 0);
      break;
    case 1: {
      FILE* const stream = fdopen(file, "r");
      CHECK(stream != NULL && fclose(stream) == 0);
      break;
    }
    case 2:
      CHECK(syscall(SYS_close, file) == 0);
      break;
    default:
      CHECK(close_range((unsigned)file, (unsigned)file, 0) == 0);
      break;
  }
}

static void numbers_are_used_again(void) {
  for (int i = 0; i < 40; ++i) {
    CHECK(i % 2 == 0 ? pipe(ends) == 0 : socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    receive_one();
    if (i % 5 == 0) { /* another file under the number */
      int others[2];
      CHECK(pipe(others) == 0 && dup2(others[0], ends[0]) == ends[0]);
      CHECK(dup2(others[1], ends[1]) == ends[1] && close(others[0]) == 0 && close(others[1]) == 0);
      receive_one();
    }
    close_in_turn(ends[0], i);
    close_in_turn(ends[1], 0);
  }
}

/* By number, in a child. */
static void closed_from_some_number_on(void) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(pipe(ends) == 0 && dup3(ends[1], 50, O_CLOEXEC) == 50 && dup2(ends[1], 51) == 51);
    CHECK((fcntl(50, F_GETFD) & FD_CLOEXEC) != 0);
    closefrom(50);
    CHECK(write(50, "x", 1) == -1 && write(51, "x", 1) == -1 && write(ends[1], "x", 1) == 1);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void limits_of_time(void) {
  const struct timeval limit = {0, 20000}, long_limit = {20, 0};
  char byte;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &long_limit, sizeof limit) == 0);
  receive_one();
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* Whoever makes a socket non-blocking, by whatever number: calls on it then answer at once. */
static void made_non_blocking(int how) {
  int other;
  int yes = 1;
  char byte;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  receive_one(); /* so it is known to wait */
  receive_one();
  other = dup(ends[0]);
  CHECK(other >= 0);
  switch (how) {
    case 0:
      CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
      break;
    case 1:
      CHECK(ioctl(other, FIONBIO, &yes) == 0);
      break;
    case 2:
      CHECK(fcntl(other, F_SETFL, O_NONBLOCK) == 0);
      break;
    case 3:
      CHECK(syscall(SYS_fcntl, other, F_SETFL, O_NONBLOCK) == 0);
      break;
    default: { /* another process that has it, too */
      const pid_t child = fork();
      CHECK(child >= 0);
      if (child == 0) _exit(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : 1);
      CHECK(waitpid(child, &yes, 0) == child && yes == 0);
    }
  }
  errno = 0;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0 && close(other) == 0);
}

static void several_at_a_time(void) {
  int other[2];
  pthread_t sender;
  char byte;
  CHECK(pipe(ends) == 0 && pipe(other) == 0);
  for (int i = 0; i < 9; ++i) {
    CHECK(pthread_create(&sender, NULL, send_later, NULL) == 0);
    if (i % 3 == 0) {
      struct pollfd both[2] = {{other[0], POLLIN, 0}, {ends[0], POLLIN, 0}};
      CHECK(poll(both, 2, -1) == 1 && both[0].revents == 0 && both[1].revents == POLLIN);
    } else if (i % 3 == 1) {
      fd_set set;
      FD_ZERO(&set);
      FD_SET(other[0], &set);
      FD_SET(ends[0], &set);
      CHECK(select(FD_SETSIZE, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
    } else {
      struct epoll_event event = {.events = EPOLLIN, .data = {.fd = ends[0]}};
      const int watch = epoll_create1(0);
      CHECK(epoll_ctl(watch, EPOLL_CTL_ADD, ends[0], &event) == 0);
      CHECK(epoll_wait(watch, &event, 1, -1) == 1 && event.data.fd == ends[0]);
      CHECK(close(watch) == 0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(pthread_join(sender, NULL) == 0);
  }
}

/* Without a message: at once where the socket does not wait, else when its limit has passed. */
static void several_messages(void) {
  char byte;
  struct iovec part = {&byte, 1};
  struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}},
                                {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}}};
  const struct timeval limit = {0, 20000};
  for (int waits = 0; waits < 2; ++waits) {
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM | (waits ? 0 : SOCK_NONBLOCK), 0, ends) == 0);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    errno = 0;
    CHECK(recvmmsg(ends[0], messages, 2, 0, NULL) == -1 && errno == EAGAIN);
    CHECK(write(ends[1], "x", 1) == 1 && recvmmsg(ends[0], messages, 2, 0, NULL) == 1);
    CHECK(recvmmsg(ends[0], messages, 0, MSG_WAITFORONE, NULL) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
  }
}

static void* work(void* unused) {
  numbers_are_used_again();
  closed_from_some_number_on();
  limits_of_time();
  for (int how = 0; how < 5; ++how) made_non_blocking(how);
  several_at_a_time();
  several_messages();
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
  work(NULL);
  puts("all parts hold");
  return 0;
}
