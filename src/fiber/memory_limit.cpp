#include "fiber/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace sinew::fiber {
namespace {

/// The number that a file begins with; UINT64_MAX if there is none ("max", no such file).
std::uint64_t number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  return in >> value ? value : UINT64_MAX;
}

/// The least of a group's limit and those of the groups around it.
std::uint64_t limit_of_group(const std::string& mount, std::string group, const char* file) {
  std::uint64_t least = UINT64_MAX;
  for (;;) {
    least = std::min(least, number_in(mount + group + "/" + file));
    const std::size_t end = group.rfind('/');
    if (group.empty() || end == std::string::npos) {
      return least;
    }
    group.resize(end);
  }
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  std::uint64_t least = pages > 0 && page > 0
                            ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                            : UINT64_MAX;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" of version 2, "5:memory:/path" of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string_view kinds = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (kinds.empty()) {
      least = std::min(least, limit_of_group(root + "/sys/fs/cgroup", group, "memory.max"));
    } else if (kinds == "memory") {
      least = std::min(
          least, limit_of_group(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::int64_t guards_within_limit(std::int64_t wanted, const std::string& root) {
  constexpr std::uint64_t usual = 65530;
  const std::uint64_t said = number_in(root + "/proc/sys/vm/max_map_count");
  const std::uint64_t mappings =
      said == UINT64_MAX ? usual : std::min<std::uint64_t>(said, 1U << 30U);
  constexpr std::uint64_t slack = 64;  // the usual number has room for the default of the setting
  return std::min(wanted, static_cast<std::int64_t>(mappings / 4 + slack));
}

}  // namespace sinew::fiber
