// SPDX-License-Identifier: BSD-3-Clause
// Priorities, policies and processors of threads. Workers have them; what a thread asks for is
// kept, so that it reads what it wrote, and changes nothing.
#include "abi/threads/priority.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "abi/threads/real.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/signals.hpp"

namespace sinew::threads {
namespace {

bool is_priority(int policy, int priority) noexcept {
  const int least = ::sched_get_priority_min(policy);
  return least >= 0 && priority >= least && priority <= ::sched_get_priority_max(policy);
}

}  // namespace

scheduling scheduling_of_fiber(long number, long& thread, long& second) noexcept {
  if (number == SYS_setpriority || number == SYS_getpriority) {
    if (thread != PRIO_PROCESS || second < first_fiber_id ||
        thread_with(static_cast<int>(second)) == nullptr) {
      return scheduling::of_kernel;
    }
    second = 0;
    return number == SYS_setpriority ? scheduling::ignored : scheduling::of_kernel;
  }
  if (thread < first_fiber_id) {
    return scheduling::of_kernel;
  }
  switch (number) {
    case SYS_sched_setaffinity:
    case SYS_sched_setattr:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
      return scheduling::ignored;
    case SYS_sched_getaffinity:
    case SYS_sched_getattr:
    case SYS_sched_getparam:
    case SYS_sched_getscheduler:
      thread = 0;
      return scheduling::of_kernel;
    default:
      return scheduling::of_kernel;
  }
}

}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) noexcept {
  const record* const r = record_of(thread);
  if (!r->ours) {
    return real().getschedparam(thread, policy, parameters);
  }
  *policy = r->policy;
  parameters->sched_priority = r->priority;
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().setschedparam(thread, policy, parameters);
  }
  if (!is_priority(policy, parameters->sched_priority)) {
    return EINVAL;
  }
  r->policy = policy;
  r->priority = parameters->sched_priority;
  return 0;
}

int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  record* const r = record_of(thread);
  if (!r->ours) {
    return real().setschedprio(thread, priority);
  }
  if (!is_priority(r->policy, priority)) {
    return EINVAL;
  }
  r->priority = priority;
  return 0;
}

int pthread_getaffinity_np(pthread_t thread, std::size_t bytes, cpu_set_t* set) noexcept {
  if (!record_of(thread)->ours) {
    return real().getaffinity(thread, bytes, set);
  }
  return ::sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
}

int pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* set) noexcept {
  return record_of(thread)->ours ? 0 : real().setaffinity(thread, bytes, set);
}

int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) noexcept {
  const long filled = ::syscall(SYS_sched_getaffinity, static_cast<long>(thread), bytes, set);
  if (filled < 0) {
    return -1;
  }
  std::memset(reinterpret_cast<char*>(set) + filled, 0, bytes - static_cast<std::size_t>(filled));
  return 0;
}

int sched_setaffinity(pid_t thread, std::size_t bytes, const cpu_set_t* set) noexcept {
  return static_cast<int>(::syscall(SYS_sched_setaffinity, static_cast<long>(thread), bytes, set));
}

int getpriority(__priority_which_t which, id_t who) noexcept {
  // The kernel's numbers are all positive: 20 less what is meant.
  const long code = ::syscall(SYS_getpriority, static_cast<long>(which), static_cast<long>(who));
  return static_cast<int>(code < 0 ? -1 : 20 - code);
}

int setpriority(__priority_which_t which, id_t who, int to) noexcept {
  return static_cast<int>(::syscall(SYS_setpriority, static_cast<long>(which),
                                    static_cast<long>(who), static_cast<long>(to)));
}

int sched_getparam(pid_t thread, sched_param* parameters) noexcept {
  return static_cast<int>(::syscall(SYS_sched_getparam, static_cast<long>(thread), parameters));
}

int sched_setparam(pid_t thread, const sched_param* parameters) noexcept {
  return static_cast<int>(::syscall(SYS_sched_setparam, static_cast<long>(thread), parameters));
}

int sched_getscheduler(pid_t thread) noexcept {
  return static_cast<int>(::syscall(SYS_sched_getscheduler, static_cast<long>(thread)));
}

int sched_setscheduler(pid_t thread, int policy, const sched_param* parameters) noexcept {
  return static_cast<int>(::syscall(SYS_sched_setscheduler, static_cast<long>(thread),
                                    static_cast<long>(policy), parameters));
}

}  // extern "C"
