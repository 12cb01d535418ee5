// SPDX-License-Identifier: BSD-3-Clause
#include "sim/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace sinew::sim {

char process_state(int pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  char text[512] = {};
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  const char* const end = got > 0 ? std::strrchr(text, ')') : nullptr;
  return end == nullptr || end[1] == '\0' ? '\0' : end[2];
}

}  // namespace sinew::sim
