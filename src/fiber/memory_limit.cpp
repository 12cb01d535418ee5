// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "sinew/base/system_limits.hpp"

namespace sinew::fiber {
namespace {

/// The number that a file begins with; UINT64_MAX if there is none ("max", no such file).
std::uint64_t number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  return in >> value ? value : UINT64_MAX;
}

struct group_files {
  const char* limit;
  const char* used;
  const char* cached[2];  ///< lines of memory.stat: files' pages, which the kernel gives back
};
constexpr group_files version_1 = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}};
constexpr group_files version_2 = {
    "memory.max", "memory.current", {"active_file", "inactive_file"}};

std::uint64_t cached_in(const std::string& path, const group_files& files) {
  std::ifstream in(path);
  std::uint64_t sum = 0;
  std::string word;
  for (std::uint64_t bytes = 0; in >> word >> bytes;) {
    sum += word == files.cached[0] || word == files.cached[1] ? bytes : 0;
  }
  return sum;
}

/// What a group may still use; UINT64_MAX if it has no limit.
std::uint64_t left_of_group(const std::string& folder, const group_files& files) {
  const std::uint64_t limit = number_in(folder + "/" + files.limit);
  const std::uint64_t used = number_in(folder + "/" + files.used);
  if (limit == UINT64_MAX || used == UINT64_MAX) {
    return limit;
  }
  const std::uint64_t cached = cached_in(folder + "/memory.stat", files);
  const std::uint64_t needed = used - std::min(used, cached);
  return limit - std::min(limit, needed);
}

/// What the machine can still give, or what it has if the kernel does not say.
std::uint64_t left_on_machine(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string line; std::getline(in, line);) {
    for (const std::string_view what : {"MemAvailable:", "SwapFree:"}) {
      if (line.starts_with(what)) {
        kib += std::strtoull(line.c_str() + what.size(), nullptr, 10);
      }
    }
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (kib != 0) {
    return kib << 10U;
  }
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : UINT64_MAX;
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  std::uint64_t least = left_on_machine(root);
  for (const std::string& group : base::control_groups("memory", root)) {
    least = std::min({least, left_of_group(group, version_1), left_of_group(group, version_2)});
  }
  return least;
}

std::uint64_t stacks_within(std::uint64_t memory, std::int64_t guarded) {
  // Measured: 4.7 KiB a fiber, and 3 KiB more of the kernel's for the mappings of one with a guard.
  constexpr std::uint64_t page = 4096;
  constexpr std::uint64_t each = page + page / 4;
  constexpr std::uint64_t each_guarded = 2 * page;
  const std::uint64_t free = memory - memory / 32;
  const auto guards = static_cast<std::uint64_t>(guarded);
  const std::uint64_t fibers = free / each_guarded <= guards
                                   ? free / each_guarded
                                   : guards + (free - guards * each_guarded) / each;
  return fibers * page;
}

guard_counts guards_within_limit(std::int64_t wanted, const std::string& root) {
  constexpr std::uint64_t usual = 65530;
  const std::uint64_t said = number_in(root + "/proc/sys/vm/max_map_count");
  const std::uint64_t mappings =
      said == UINT64_MAX ? usual : std::min<std::uint64_t>(said, 1U << 30U);
  constexpr std::uint64_t slack = 64;  // the usual number has room for the default of the setting
  return {std::min(wanted, static_cast<std::int64_t>(mappings / 4 + slack)),
          static_cast<std::int64_t>(mappings / 8)};
}

}  // namespace sinew::fiber
