// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait in the kernel until another thread does its part: with one worker for all threads
// each of them must let that one run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { large = 1 << 20 };

static int ends[2], number;
static char bytes[large], path[] = "/tmp/sinew_blocking_XXXXXX";
static volatile pid_t child;

static void wake_by_byte(void) { CHECK(write(ends[1], "x", 1) == 1); }

// ---- Ready files.

static void with_ppoll(void) {
  struct pollfd one = {.fd = ends[0], .events = POLLIN};
  CHECK(ppoll(&one, 1, NULL, NULL) == 1 && one.revents == POLLIN);
}

static void with_pselect(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  CHECK(pselect(ends[0] + 1, &set, NULL, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
}

static void with_epoll_pwait(void) {
  struct epoll_event event = {.events = EPOLLIN};
  const int watch = epoll_create1(0);
  CHECK(epoll_ctl(watch, EPOLL_CTL_ADD, ends[0], &event) == 0);
  CHECK(epoll_pwait(watch, &event, 1, -1, NULL) == 1 && close(watch) == 0);
}

static void with_epoll_pwait2(void) {
  struct epoll_event event = {.events = EPOLLIN};
  const struct timespec limit = {20, 0};
  const int watch = epoll_create1(0);
  CHECK(epoll_ctl(watch, EPOLL_CTL_ADD, ends[0], &event) == 0);
  const int count = epoll_pwait2(watch, &event, 1, &limit, NULL);
  CHECK(count == 1 || errno == ENOSYS);
  CHECK(close(watch) == 0);
}

static void with_recvmmsg(void) {
  char byte;
  struct iovec part = {&byte, 1};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
  CHECK(recvmmsg(ends[0], &message, 1, 0, NULL) == 1 && byte == 'x');
}

static void with_recvmsg(void) {
  char byte;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  CHECK(recvmsg(ends[0], &message, 0) == 1 && byte == 'x');
}

static void with_readv(void) {
  char two[2];
  const struct iovec parts[2] = {{&two[0], 1}, {&two[1], 1}};
  CHECK(readv(ends[0], parts, 2) == 1 && two[0] == 'x');
}

// ---- More than a buffer holds, and all that was asked for.

static void with_send(void) { CHECK(send(ends[0], bytes, large, 0) == large); }
static void with_sendto(void) { CHECK(sendto(ends[0], bytes, large, 0, NULL, 0) == large); }

static void with_writev(void) {
  const struct iovec parts[2] = {{bytes, large / 2}, {bytes + large / 2, large / 2}};
  CHECK(writev(ends[0], parts, 2) == large);
}

static void with_sendmsg(void) {
  struct iovec parts[2] = {{bytes, large / 2}, {bytes + large / 2, large / 2}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  CHECK(sendmsg(ends[0], &message, 0) == large);
}

static void with_sendmmsg(void) {
  struct iovec parts[2] = {{bytes, large / 2}, {bytes + large / 2, large / 2}};
  struct mmsghdr messages[2];
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < 2; ++i) {
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  CHECK(sendmmsg(ends[0], messages, 2, 0) == 2);
  CHECK(messages[0].msg_len == large / 2 && messages[1].msg_len == large / 2);
}

static void with_fwrite(void) {
  FILE* out = fdopen(dup(ends[0]), "w");
  CHECK(out != NULL && fwrite(bytes, 1, large, out) == large && fclose(out) == 0);
}

/// From a file, which the kernel reads itself.
static void with_sendfile(void) {
  FILE* file = tmpfile();
  CHECK(file != NULL && fwrite(bytes, 1, large, file) == large && fflush(file) == 0);
  off_t at = 0;
  while (at < large) {
    CHECK(sendfile(ends[0], fileno(file), &at, (size_t)(large - at)) > 0);
  }
  fclose(file);
}

static void take_all(void) {
  static char there[large];
  for (int got = 0; got < large;) {
    const ssize_t now = read(ends[1], there + got, (size_t)(large - got));
    CHECK(now > 0);
    got += (int)now;
  }
  CHECK(memcmp(there, bytes, large) == 0);
}

static void with_wait_for_all(void) {
  static char all[1000];
  CHECK(recv(ends[0], all, sizeof all, MSG_WAITALL) == (ssize_t)sizeof all && all[999] == 'y');
}

static void with_fread(void) {
  char all[1000];
  FILE* in = fdopen(dup(ends[0]), "r");
  CHECK(in != NULL && fread(all, 1, sizeof all, in) == sizeof all && all[999] == 'y');
  fclose(in);
}

static void send_in_parts(void) {
  for (int i = 0; i < 10; ++i) {
    char part[100];
    memset(part, i == 9 ? 'y' : 'x', sizeof part);
    CHECK(write(ends[1], part, sizeof part) == (ssize_t)sizeof part);
    usleep(1000);
  }
}

static int pair[2];

static void with_a_datagram(void) {
  CHECK(write(pair[0], bytes, 8000) == 8000);
  const struct iovec parts[2] = {{bytes, 5000}, {bytes + 5000, 3000}};
  CHECK(writev(pair[0], parts, 2) == 8000);
}

static void take_two_datagrams(void) {
  static char there[16000];
  CHECK(read(pair[1], there, sizeof there) == 8000 && memcmp(there, bytes, 8000) == 0);
  CHECK(read(pair[1], there, sizeof there) == 8000 && memcmp(there, bytes, 8000) == 0);
}

// ---- Connections.

static int listener;
static struct sockaddr_un where;

static int socket_there(void) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(made >= 0);
  return made;
}

static void with_accept(void) {
  const int there = accept(listener, NULL, NULL);
  CHECK(there >= 0 && close(there) == 0);
}

static void with_accept4(void) {
  const int there = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  CHECK(there >= 0 && (fcntl(there, F_GETFD) & FD_CLOEXEC) != 0 && close(there) == 0);
}

static void connect_once(void) {
  const int there = socket_there();
  CHECK(connect(there, (struct sockaddr*)&where, sizeof where) == 0 && close(there) == 0);
}

/// More than the listener has places for: waits until one is accepted.
static void with_connect(void) {
  for (int i = 0; i < 3; ++i) {
    connect_once();
  }
}

static void accept_three(void) {
  for (int i = 0; i < 3; ++i) {
    with_accept();
  }
}

// ---- Locks of files, queues, semaphores, children.

static void with_flock(void) {
  const int own = open(path, O_RDWR);
  CHECK(own >= 0 && flock(own, LOCK_EX) == 0 && close(own) == 0);
}

static void with_fcntl(void) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  const int own = open(path, O_RDWR);
  CHECK(own >= 0 && fcntl(own, F_OFD_SETLKW, &all) == 0 && close(own) == 0);
}

static void unlock_file(void) { CHECK(flock(number, LOCK_UN) == 0); }

static void unlock_range(void) {
  struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  CHECK(fcntl(number, F_OFD_SETLK, &all) == 0);
}

struct letter {
  long type;
  char text[8];
};

static void with_msgrcv(void) {
  struct letter in;
  CHECK(msgrcv(number, &in, sizeof in.text, 0, 0) == 3 && strcmp(in.text, "hi") == 0);
}

static void post_letter(void) {
  const struct letter out = {1, "hi"};
  CHECK(msgsnd(number, &out, 3, 0) == 0);
}

static void with_semop(void) {
  struct sembuf down = {0, -1, 0};
  CHECK(semop(number, &down, 1) == 0);
}

static void with_semtimedop(void) {
  const struct timespec soon = {0, 10000000}, late = {20, 0};
  struct sembuf down = {0, -1, 0};
  CHECK(semtimedop(number, &down, 1, &soon) == -1 && errno == EAGAIN);
  CHECK(semtimedop(number, &down, 1, &late) == 0);
}

static void raise_semaphore(void) {
  usleep(20000);
  struct sembuf up = {0, 1, 0};
  CHECK(semop(number, &up, 1) == 0);
}

static void with_mq_receive(void) {
  char text[64];
  CHECK(mq_receive(number, text, sizeof text, NULL) == 3);
}

static void with_mq_timedreceive(void) {
  char text[64];
  struct timespec until;
  CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
  CHECK(mq_timedreceive(number, text, sizeof text, NULL, &until) == -1 && errno == ETIMEDOUT);
  until.tv_sec += 20;
  CHECK(mq_timedreceive(number, text, sizeof text, NULL, &until) == 3);
  for (int i = 0; i < 4; ++i) CHECK(mq_timedsend(number, "hi", 3, 0, &until) == 0);
  CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
  CHECK(mq_timedsend(number, "hi", 3, 0, &until) == -1 && errno == ETIMEDOUT);
  for (int i = 0; i < 4; ++i) CHECK(mq_receive(number, text, sizeof text, NULL) == 3);
}

static void with_mq_send(void) {
  for (int i = 0; i < 5; ++i) {
    CHECK(mq_send(number, "hi", 3, 0) == 0);
  }
}

static void empty_queue(void) {
  for (int i = 0; i < 5; ++i) {
    with_mq_receive();
  }
}

static void post_to_queue(void) { CHECK(mq_send(number, "hi", 3, 0) == 0); }

static void with_eventfd(void) {
  eventfd_t value = 0;
  CHECK(eventfd_read(number, &value) == 0 && value == 7);
}

static void raise_event(void) { CHECK(eventfd_write(number, 7) == 0); }

static void with_waitid(void) {
  siginfo_t what;
  CHECK(waitid(P_PID, (id_t)child, &what, WEXITED) == 0 && what.si_status == 5);
}

static void with_wait3(void) {
  int status = 0;
  CHECK(wait3(&status, 0, NULL) == child && WEXITSTATUS(status) == 5);
}

static void with_wait4(void) {
  int status = 0;
  struct rusage used;
  CHECK(wait4(child, &status, 0, &used) == child && WEXITSTATUS(status) == 5);
}

static void end_child(void) { wake_by_byte(); }

static void make_child(void) {
  child = fork();
  if (child == 0) {
    char byte;
    _exit(read(ends[0], &byte, 1) == 1 ? 5 : 6);
  }
}

// ---- Each with a thread that comes later.

static void* run(void* what) {
  ((void (*)(void))what)();
  return NULL;
}

static void part(void (*waits)(void), void (*wakes)(void)) {
  pthread_t a, b;
  CHECK(pthread_create(&a, NULL, run, (void*)waits) == 0);
  usleep(20000);  // it waits
  CHECK(pthread_create(&b, NULL, run, (void*)wakes) == 0);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
}

static void sockets(void) {
  static void (*const senders[])(void) = {with_send,     with_sendto, with_writev,  with_sendmsg,
                                          with_sendmmsg, with_fwrite, with_sendfile};
  for (int i = 0; i < large; ++i) {
    bytes[i] = (char)(i * 7 + i / 256);
  }
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  for (int i = 0; i < 7; ++i) {
    part(senders[i], take_all);
  }
  part(with_fread, send_in_parts);
  part(with_wait_for_all, send_in_parts);
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  part(with_a_datagram, take_two_datagrams);
  part(with_recvmmsg, wake_by_byte);
  part(with_recvmsg, wake_by_byte);
  part(with_readv, wake_by_byte);
}

static void connections(void) {
  where.sun_family = AF_UNIX;
  snprintf(where.sun_path, sizeof where.sun_path, "/tmp/sinew_blocking_%d", (int)getpid());
  listener = socket_there();
  CHECK(bind(listener, (struct sockaddr*)&where, sizeof where) == 0 && listen(listener, 1) == 0);
  part(with_accept, connect_once);
  part(with_accept4, connect_once);
  part(with_connect, accept_three);
  CHECK(unlink(where.sun_path) == 0 && close(listener) == 0);
}

static void files(void) {
  char byte;
  part(with_ppoll, wake_by_byte);
  part(with_pselect, wake_by_byte);
  part(with_epoll_pwait, wake_by_byte);
  part(with_epoll_pwait2, wake_by_byte);
  for (int i = 0; i < 4; ++i) {
    CHECK(read(ends[0], &byte, 1) == 1);
  }
  number = eventfd(0, 0);
  part(with_eventfd, raise_event);
  make_child();
  part(with_waitid, end_child);
  make_child();
  part(with_wait3, end_child);
  make_child();
  part(with_wait4, end_child);
}

static void locks(void) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  number = mkstemp(path);
  CHECK(number >= 0 && flock(number, LOCK_EX) == 0);
  part(with_flock, unlock_file);
  CHECK(fcntl(number, F_OFD_SETLK, &all) == 0);
  part(with_fcntl, unlock_range);
  CHECK(unlink(path) == 0 && close(number) == 0);
}

static void queues(void) {
  if ((number = msgget(IPC_PRIVATE, 0600)) >= 0) {
    part(with_msgrcv, post_letter);
    CHECK(msgctl(number, IPC_RMID, NULL) == 0);
  }
  if ((number = semget(IPC_PRIVATE, 1, 0600)) >= 0) {
    part(with_semop, raise_semaphore);
    part(with_semtimedop, raise_semaphore);
    CHECK(semctl(number, 0, IPC_RMID) == 0);
  }
  char name[32];
  snprintf(name, sizeof name, "/sinew_blocking_%d", (int)getpid());
  struct mq_attr how = {.mq_maxmsg = 4, .mq_msgsize = 64};
  if ((number = mq_open(name, O_RDWR | O_CREAT, 0600, &how)) >= 0) {
    CHECK(mq_unlink(name) == 0);
    part(with_mq_receive, post_to_queue);
    part(with_mq_timedreceive, post_to_queue);
    part(with_mq_send, empty_queue);
  }
}

int main(void) {
  sockets();
  connections();
  files();
  locks();
  queues();
  puts("all parts hold");
  return 0;
}
