// SPDX-License-Identifier: BSD-3-Clause
// What shared memory can do on this machine, for people.
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fstream>

#include "fabric/rows.hpp"

namespace sinew::fabric {
namespace {

std::string memory_state() {
  const int memory = ::memfd_create("sinew-state", MFD_CLOEXEC);
  if (memory >= 0) {
    ::close(memory);
    return "yes: memfd; no file, not limited by /dev/shm";
  }
  struct statvfs system{};
  if (::statvfs("/dev/shm", &system) != 0) {
    return "no: neither memfd nor /dev/shm";
  }
  return "yes: /dev/shm, unlinked at once; " +
         std::to_string((system.f_bavail * system.f_frsize) >> 20) + " MiB free";
}

/// Whether a long message can be copied once, by the kernel.
std::string single_copy_state() {
  char from = 'x';
  char to = 0;
  const iovec mine{&to, 1};
  const iovec theirs{&from, 1};
  if (::process_vm_readv(::getpid(), &mine, 1, &theirs, 1, 0) != 1) {
    return "no: process_vm_readv is refused here";
  }
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  return !(file >> scope) || scope == 0
             ? "yes"
             : "only if ranks permit it: ptrace_scope is " + std::to_string(scope);
}

}  // namespace

std::string shm_state() {
  return memory_state() + "; single copy of long messages: " + single_copy_state();
}

}  // namespace sinew::fabric
