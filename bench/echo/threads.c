// SPDX-License-Identifier: BSD-3-Clause
// An echo server with a thread for each connection, in plain POSIX: `sinew bench echo` runs it with
// the system's threads and, the same file, with `sinew run --threads-as-fibers`.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void* serve(void* argument) {
  const int file = (int)(intptr_t)argument;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got <= 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t now = write(file, buffer + done, (size_t)(got - done));
      if (now <= 0) {
        close(file);
        return NULL;
      }
      done += now;
    }
  }
  close(file);
  return NULL;
}

static int listen_at(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  if (file < 0 || bind(file, (const struct sockaddr*)&address, sizeof address) != 0) return -1;
  return listen(file, 4096) == 0 ? file : -1;
}

int main(int argc, char** argv) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const int listener = argc > 1 ? listen_at(argv[argc - 1]) : -1;
  if (listener < 0) {
    perror("threads: cannot listen");
    return 1;
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (;;) {
    pthread_t thread;
    const int file = accept(listener, NULL, NULL);
    if (file < 0) continue;
    const int code = pthread_create(&thread, &attributes, serve, (void*)(intptr_t)file);
    if (code != 0) {
      fprintf(stderr, "threads: cannot create a thread: %s\n", strerror(code));
      return 1;
    }
  }
}
