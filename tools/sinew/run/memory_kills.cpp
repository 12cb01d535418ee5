#include "sinew/run/memory_kills.hpp"

#include <fstream>
#include <sstream>

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

// Where the counter may be, best first. A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH;
// inside a container the path may be one of the host, and the files lie at the top.
std::string counter_file(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    const bool newer = controllers == ",,";
    if (!newer && controllers.find(",memory,") == std::string::npos) {
      continue;
    }
    const std::string top = root + (newer ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    const std::string name = newer ? "/memory.events" : "/memory.oom_control";
    for (const std::string& each : {top + path + name, top + name}) {
      if (count_in(each)) {
        return each;
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
