// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/system_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace sinew::base {
namespace {

std::optional<long long> limit_in(const std::string& path) {
  long long value = 0;
  return std::ifstream(path) >> value ? std::optional(value) : std::nullopt;  // "max" is none
}

/// A limit that a process which could not be made ran into.
struct process_limit {
  std::string text;
  std::string advice;
};

process_limit process_limit_here(const std::string& root) {
  for (const std::string& group : control_groups("pids", root)) {
    const auto most = limit_in(group + "/pids.max");
    if (most && limit_in(group + "/pids.current").value_or(0) >= *most) {
      return {"the control group has all the " + std::to_string(*most) +
                  " processes and threads that it may have (pids.max)",
              "raise pids.max of " + group.substr(root.size()) +
                  " (docker --pids-limit), or start fewer ranks"};
    }
  }
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return {limited ? "this user may have " + std::to_string(limit.rlim_cur) + " (ulimit -u)" : "",
          "raise the limit on processes (ulimit -u), or start fewer ranks"};
}

std::string file_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "the limit is " + std::to_string(limit.rlim_cur) + " (ulimit -n)";
}

}  // namespace

std::string system_reason(int failure, const std::string& root) {
  const std::string limit = failure == EMFILE   ? file_limit()
                            : failure == EAGAIN ? process_limit_here(root).text
                                                : "";
  return std::strerror(failure) + (limit.empty() ? "" : ": " + limit);
}

std::string system_advice(int failure, std::string_view otherwise, const std::string& root) {
  return failure == EMFILE   ? "raise that limit"
         : failure == ENFILE ? "raise the system's limit on open files (sysctl fs.file-max)"
         : failure == EAGAIN ? process_limit_here(root).advice
                             : std::string(otherwise);
}

bool is_exhausted(int failure) noexcept {
  return failure == EMFILE || failure == ENFILE || failure == ENOMEM || failure == ENOBUFS;
}

// A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH; version 2 names no controllers.
std::vector<std::string> control_groups(std::string_view controller, const std::string& root) {
  std::vector<std::string> folders;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool newer = controllers == ",,";
    const std::string name(controller);
    if (!newer && controllers.find("," + name + ",") == std::string::npos) {
      continue;
    }
    const std::string top = root + "/sys/fs/cgroup" + (newer ? "" : "/" + name);
    for (std::string path = line.substr(second + 1); path.size() > 1;
         path.resize(std::min(path.rfind('/'), path.size()))) {
      folders.push_back(top + path);
    }
    folders.push_back(top);
  }
  return folders;
}

}  // namespace sinew::base
