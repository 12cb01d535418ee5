// SPDX-License-Identifier: BSD-3-Clause
/* Runs a program in which chosen system calls fail, as on an older kernel (ENOSYS) or in a
 * container whose profile refuses them (EPERM): `without_call ENOSYS|EPERM CALL[,CALL]... PROGRAM
 * [ARGUMENTS]`. Ends with 77 where the machine's headers do not know the call. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { skipped = 77, most_calls = 32 };

struct call {
  const char* name;
  int number;
};

static const struct call calls[] = {
#ifdef SYS_close_range
    {"close_range", SYS_close_range},
#endif
#ifdef SYS_pidfd_open
    {"pidfd_open", SYS_pidfd_open},
#endif
#ifdef SYS_clone3
    {"clone3", SYS_clone3},
#endif
    {"membarrier", SYS_membarrier},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"memfd_create", SYS_memfd_create},
#ifdef SYS_signalfd
    {"signalfd", SYS_signalfd},
#endif
    {"signalfd4", SYS_signalfd4},
#ifdef SYS_epoll_create
    {"epoll_create", SYS_epoll_create},
#endif
    {"epoll_create1", SYS_epoll_create1},
    {"epoll_ctl", SYS_epoll_ctl},
#ifdef SYS_epoll_wait
    {"epoll_wait", SYS_epoll_wait},
#endif
    {"epoll_pwait", SYS_epoll_pwait},
#ifdef SYS_epoll_pwait2
    {"epoll_pwait2", SYS_epoll_pwait2},
#endif
    {"statx", SYS_statx},
#ifdef SYS_rseq
    {"rseq", SYS_rseq},
#endif
#ifdef SYS_openat2
    {"openat2", SYS_openat2},
#endif
#ifdef SYS_faccessat2
    {"faccessat2", SYS_faccessat2},
#endif
    {"getrandom", SYS_getrandom},
    {"copy_file_range", SYS_copy_file_range},
    {"prlimit64", SYS_prlimit64},
};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(calls[i].name, name) == 0) {
      return calls[i].number;
    }
  }
  return -1;
}

int main(int count, char** words) {
  if (count < 4) {
    fputs("usage: without_call ENOSYS|EPERM CALL[,CALL]... PROGRAM [ARGUMENTS]\n", stderr);
    return 2;
  }
  const unsigned failure = strcmp(words[1], "EPERM") == 0 ? EPERM : ENOSYS;
  struct sock_filter filter[2 * most_calls + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short length = 1;
  for (char* name = strtok(words[2], ","); name != NULL; name = strtok(NULL, ",")) {
    const int number = number_of(name);
    if (number < 0 || length >= 2 * most_calls) {
      return skipped;
    }
    filter[length++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | failure);
  }
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("without_call: no filter");
    return skipped;
  }
  execvp(words[3], words + 3);
  perror(words[3]);
  return 127;
}
