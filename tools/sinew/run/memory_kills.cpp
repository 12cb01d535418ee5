// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/memory_kills.hpp"

#include <fstream>
#include <sstream>

#include "sinew/base/system_limits.hpp"

namespace sinew::tool {
namespace {

// Lines of "oom_kill 3", among others, in memory.events, memory.oom_control and /proc/vmstat.
std::optional<std::uint64_t> count_in(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t count = 0;
    if (words >> name >> count && name == "oom_kill") {
      return count;
    }
  }
  return std::nullopt;
}

// Where the counter may be, best first.
std::string counter_file(const std::string& root) {
  for (const std::string& group : base::control_groups("memory", root)) {
    for (const char* const name : {"/memory.events", "/memory.oom_control"}) {
      if (count_in(group + name)) {
        return group + name;
      }
    }
  }
  return root + "/proc/vmstat";
}

}  // namespace

memory_kills::memory_kills(std::string root) : file_(counter_file(root)), last_(count_in(file_)) {}

bool memory_kills::rose() {
  const std::optional<std::uint64_t> now = count_in(file_);
  const bool more = now && last_ && *now > *last_;
  last_ = now;
  return more;
}

}  // namespace sinew::tool
