// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: the time of day is that of a year to come, as on a host whose clock nobody has set.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ahead_s = 365 * 86400 };

int clock_gettime(clockid_t clock, struct timespec* to) {
  const int result = (int)syscall(SYS_clock_gettime, clock, to);
  if (result == 0 && clock == CLOCK_REALTIME) {
    to->tv_sec += ahead_s;
  }
  return result;
}

int timespec_get(struct timespec* to, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, to) == 0 ? base : 0;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) {
    *to = now.tv_sec;
  }
  return now.tv_sec;
}
