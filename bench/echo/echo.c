// SPDX-License-Identifier: BSD-3-Clause
// The load of `sinew bench echo`, the same for every server: starts the server, which listens on a
// socket of the file system, connects, sends and receives from one thread by epoll, and ends it.
//   echo connections=N bytes=B window=W budget_ms=T -- SERVER WORDS...  (the path comes last)
// At most W messages are under way, each on the connection that has been idle for longest. Fewer
// connections than asked for are made where open files or memory end before; parameter `limit` says
// so. A server that stops answering before all are connected yields the row `unserved` only.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_bytes = 4096, batch = 256, silence_ms = 5000, most_samples = 1 << 20 };

typedef struct {
  int file;
  int left;  // bytes of the reply that are still to come
  double sent_ns;
} connection;

static int wanted = 1000, bytes = 64, window = 64, poller, under_way, next_idle, count;
static double budget_ms = 500;
static const char* limit = "none";
static char folder[] = "/tmp/sinew-echo-XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static connection* all;
static float* samples;
static int sample_count;
static pid_t server;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void report(const char* metric, const char* unit, double value) {
  printf("@ echo %s %s connections=%d,limit=%s %.9g\n", metric, unit, wanted, limit, value);
}

// The number behind `name` in a file of /proc, in bytes; 0 if there is none.
static double kib_of(const char* path, const char* name) {
  char line[256];
  double found = 0;
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) found = atof(line + strlen(name)) * 1024;
  if (file != NULL) fclose(file);
  return found;
}

static void lower(double most, const char* why) {
  if (wanted > most) {
    wanted = most < 1 ? 1 : (int)most;
    limit = why;
  }
}

// Open files of a process, for us and for the server; 64 KiB a connection of half of the memory.
static void find_limits(void) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t enough = (rlim_t)wanted + 100;
  if (files.rlim_max < enough) {
    const struct rlimit more = {enough, enough};
    if (setrlimit(RLIMIT_NOFILE, &more) == 0) files = more;
  }
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  lower((double)files.rlim_max - 100, "files");
  lower(kib_of("/proc/meminfo", "MemAvailable:") / 2 / 65536, "memory");
}

static void remove_socket(void) {
  unlink(address.sun_path);
  rmdir(folder);
}

static void end_server(void) {
  remove_socket();
  if (server <= 0) return;
  kill(server, SIGTERM);
  for (int i = 0; i < 500 && waitpid(server, NULL, WNOHANG) == 0; ++i) usleep(10000);
  kill(-server, SIGKILL);  // its own group: what it may have left
}

static void fail(const char* what) {
  fprintf(stderr, "echo: %s\n", what);
  end_server();
  exit(1);
}

static void start_server(char** words, int word_count) {
  if (mkdtemp(folder) == NULL) fail("no folder for the socket in /tmp");
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
  char** command = calloc((size_t)word_count + 2, sizeof *command);
  if (command == NULL) fail("out of memory");
  memcpy(command, words, (size_t)word_count * sizeof *command);
  command[word_count] = address.sun_path;
  server = fork();
  if (server == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execv(command[0], command);
    _exit(127);
  }
  free(command);
}

// A connected socket that does not wait, or -1.
static int connect_one(void) {
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct timeval longest = {silence_ms / 1000, 0};
  if (file < 0) return -1;
  setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (connect(file, (const struct sockaddr*)&address, sizeof address) != 0) {
    close(file);
    return -1;
  }
  fcntl(file, F_SETFL, O_NONBLOCK);
  return file;
}

static int connect_first(void) {
  for (int i = 0; i < 1000; ++i) {
    const int file = connect_one();
    if (file >= 0) return file;
    if (waitpid(server, NULL, WNOHANG) == server) {
      server = 0;
      fail("the server ended before it listened");
    }
    usleep(10000);
  }
  return -1;
}

static void send_on(connection* c) {
  static const char message[most_bytes];
  c->left = bytes;
  c->sent_ns = now_ns();
  if (send(c->file, message, (size_t)bytes, MSG_NOSIGNAL) != bytes) fail("a message was not taken");
  ++under_way;
}

// Receives what is there: 1 if a reply is complete, -1 if the server has closed the connection.
static int receive_on(connection* c) {
  static char reply[most_bytes];
  const ssize_t got = recv(c->file, reply, (size_t)c->left, 0);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got <= 0) return -1;
  c->left -= (int)got;
  if (c->left != 0) return 0;
  --under_way;
  return 1;
}

// Waits for replies once; how many came, -1 after silence or when the server hangs up.
static int collect(int keep) {
  struct epoll_event events[batch];
  const int ready = epoll_wait(poller, events, batch, silence_ms);
  int done = 0;
  for (int i = 0; i < ready; ++i) {
    connection* c = &all[events[i].data.u32];
    const int got = c->left > 0 ? receive_on(c) : -1;
    if (got < 0) return -1;
    if (got == 1 && keep && sample_count < most_samples)
      samples[sample_count++] = (float)((now_ns() - c->sent_ns) / 1e3);
    done += got;
  }
  return ready <= 0 ? -1 : done;
}

// One more connection and its first message; 0 if it cannot be made.
static int add_connection(int file) {
  if (file < 0) return 0;
  struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = (unsigned)count}};
  all[count].file = file;
  if (epoll_ctl(poller, EPOLL_CTL_ADD, file, &event) != 0) return 0;
  send_on(&all[count++]);
  return 1;
}

// All of the connections, each answered once. Returns how many are.
static int connect_all(void) {
  while (count < wanted) {
    while (count < wanted && under_way < batch)
      if (!add_connection(connect_one())) break;
    if (under_way == 0) break;
    while (under_way > 0)
      if (collect(0) < 0) return count - under_way;
  }
  return count;
}

// Messages for so long; how many were answered in one second, or 0 if the server fell silent.
static double exchange(double for_ms, int keep) {
  const double begin = now_ns(), end = begin + for_ms * 1e6;
  long done = 0;
  while (now_ns() < end) {
    for (int tried = 0; under_way < window && tried < count; ++tried) {
      connection* c = &all[next_idle];
      next_idle = (next_idle + 1) % count;
      if (c->left == 0) send_on(c);
    }
    const int got = collect(keep);
    if (got < 0) return 0;
    done += got;
  }
  const double seconds = (now_ns() - begin) / 1e9;
  while (under_way > 0)
    if (collect(keep) < 0) return 0;
  return (double)done / seconds;
}

static int compare(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

// Resident pages and page tables of the server, and kernel stacks (of all programs: the system does
// not tell whose they are).
static double memory_with(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)process);
  return kib_of(path, "VmRSS:") + kib_of(path, "VmPTE:") +
         kib_of("/proc/meminfo", "KernelStack:");
}

static char** read_words(char** word) {
  for (; *word != NULL && strcmp(*word, "--") != 0; ++word) {
    if (strncmp(*word, "connections=", 12) == 0) wanted = atoi(*word + 12);
    if (strncmp(*word, "bytes=", 6) == 0) bytes = atoi(*word + 6);
    if (strncmp(*word, "window=", 7) == 0) window = atoi(*word + 7);
    if (strncmp(*word, "budget_ms=", 10) == 0) budget_ms = atof(*word + 10);
  }
  if (*word == NULL || word[1] == NULL) fail("the server's command is missing behind --");
  if (wanted < 1 || bytes < 1 || bytes > most_bytes || window < 1 || budget_ms <= 0)
    fail("connections, bytes (up to 4096), window and budget_ms must be positive");
  return word + 1;
}

static void measure(double memory_before, pid_t process) {
  const double others = count > 1 ? count - 1 : 1;
  report("memory", "B", (memory_with(process) - memory_before) / others);
  if (exchange(budget_ms / 10, 0) <= 0) fail("the server fell silent");
  const double rate = exchange(budget_ms, 1);
  if (rate <= 0 || sample_count == 0) fail("the server fell silent");
  qsort(samples, (size_t)sample_count, sizeof *samples, compare);
  report("rate", "1/s", rate);
  report("latency", "us", samples[sample_count / 2]);
  report("latency_p99", "us", samples[(int)(0.99 * (sample_count - 1))]);
}

int main(int argc, char** argv) {
  char** const words = read_words(argv + 1);
  find_limits();
  all = calloc((size_t)wanted, sizeof *all);
  samples = calloc(most_samples, sizeof *samples);
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (all == NULL || samples == NULL || poller < 0) fail("out of memory");
  start_server(words, (int)(argv + argc - words));
  if (!add_connection(connect_first())) fail("the server does not listen");
  while (under_way > 0)
    if (collect(0) < 0) fail("the server does not answer");
  struct ucred who = {0, 0, 0};  // who listens: not the launcher before it
  socklen_t length = sizeof who;
  getsockopt(all[0].file, SOL_SOCKET, SO_PEERCRED, &who, &length);
  const double memory = memory_with(who.pid);
  const int unserved = wanted - connect_all();
  remove_socket();  // nobody connects any more, and nothing is left behind if we are killed
  if (unserved == 0) {
    measure(memory, who.pid);
  } else {
    report("unserved", "1", unserved);
  }
  end_server();
  return 0;
}
