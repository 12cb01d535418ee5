// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/process_tree.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "sinew/base/folder.hpp"

namespace sinew::tool {

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  for (const std::filesystem::path& each : base::folder_entries(folder_of(pid) + "/task")) {
    const std::string name = each.filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  return threads;
}

std::vector<pid_t> process_tree(pid_t pid, std::size_t most) {
  std::vector<pid_t> all = {pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t thread : threads_of(all[i])) {
      std::ifstream file(folder_of(all[i]) + "/task/" + std::to_string(thread) + "/children");
      for (pid_t child = 0; all.size() < most && file >> child;) {
        all.push_back(child);
      }
    }
  }
  return all;
}

}  // namespace sinew::tool
