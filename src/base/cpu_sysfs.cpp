// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu_sysfs.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

namespace sinew::topology {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number at the front of `text`, which moves past it; -1 if there is none.
int take_number(std::string_view& text) {
  int value = -1;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{}) {
    return -1;
  }
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

int number_in(const std::string& path) {
  const std::string line = first_line(path);
  std::string_view text = line;
  return std::max(0, take_number(text));
}

// A processor's folder holds a link named node<N>.
int node_of(const std::string& folder) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node")) {
      std::string_view digits = std::string_view(name).substr(4);
      const int node = take_number(digits);
      if (node >= 0 && digits.empty()) {
        return node;
      }
    }
  }
  return 0;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> result;
  while (!text.empty()) {
    const int first = take_number(text);
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (first < 0 || last < first || last >= most_cpus) {
      break;
    }
    for (int cpu = first; cpu <= last; ++cpu) {
      result.push_back(cpu);
    }
    if (!text.starts_with(',') || result.size() > most_cpus) {
      break;
    }
    text.remove_prefix(1);
  }
  return result;
}

std::vector<core> read_cores(const std::string& system, const std::vector<int>& usable) {
  std::map<int, core> by_first_sibling;
  for (const int cpu : usable) {
    const std::string folder = system + "/devices/system/cpu/cpu" + std::to_string(cpu);
    const auto siblings = parse_cpu_list(first_line(folder + "/topology/thread_siblings_list"));
    core& one = by_first_sibling[siblings.empty() ? cpu : siblings.front()];
    if (one.cpus.empty()) {
      one.package = number_in(folder + "/topology/physical_package_id");
      one.numa_node = node_of(folder);
    }
    one.cpus.push_back(cpu);
  }
  std::vector<core> result;
  result.reserve(by_first_sibling.size());
  for (auto& [first, one] : by_first_sibling) {
    result.push_back(std::move(one));
  }
  std::sort(result.begin(), result.end(), [](const core& a, const core& b) {
    return std::tie(a.package, a.numa_node, a.cpus) < std::tie(b.package, b.numa_node, b.cpus);
  });
  return result;
}

}  // namespace sinew::topology
