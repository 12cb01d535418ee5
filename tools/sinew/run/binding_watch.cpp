// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/binding_watch.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "sinew/base/affinity.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/run/process_tree.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t first_pause_ns = 50'000'000;
constexpr std::int64_t longest_pause_ns = second_ns;
// A tenth of the time, and not just once: services of the system run everywhere now and then.
constexpr std::int64_t least_share = 10;
constexpr std::int64_t least_wait_ns = 20'000'000;

/// Whether there were threads to release.
bool release_once(pid_t pid, const std::vector<int>& bound, const std::vector<int>& cpus) {
  bool any = false;
  for (const pid_t process : process_tree(pid)) {
    for (const pid_t thread : threads_of(process)) {
      if (topology::cpus_of_thread(thread) == bound) {
        any = topology::bind_thread(thread, cpus) || any;  // else it has ended
      }
    }
  }
  return any;
}

}  // namespace

std::int64_t time_in_run_queue(pid_t pid) {
  std::int64_t sum = 0;
  for (const pid_t each : process_tree(pid)) {
    std::ifstream file(folder_of(each) + "/schedstat");
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    sum += file >> ran >> waited ? waited : 0;
  }
  return sum;
}

void release_threads(pid_t pid, const std::vector<int>& bound, const std::vector<int>& cpus) {
  // Those that start meanwhile inherit from one that may not have been released yet.
  for (int times = 0; bound != cpus && times < 4 && release_once(pid, bound, cpus); ++times) {
  }
}

void binding_watch::add(pid_t pid, std::vector<int> cpus) { ranks_[pid] = {std::move(cpus), 0}; }

bool binding_watch::look(std::int64_t now_ns) {
  if (ranks_.empty() || now_ns < next_ns_) {
    return false;
  }
  const std::int64_t passed_ns = now_ns - last_ns_;
  const std::int64_t most_ns = std::max(least_wait_ns, passed_ns / least_share);
  bool waits = false;
  for (auto& [pid, rank] : ranks_) {
    const std::int64_t waited_ns = waited_(pid);
    waits = waits || (last_ns_ != 0 && waited_ns - rank.waited_ns > most_ns);
    rank.waited_ns = waited_ns;
  }
  const std::int64_t pause_ns = last_ns_ == 0 ? first_pause_ns : 2 * passed_ns;
  last_ns_ = now_ns;
  next_ns_ = now_ns + std::min(pause_ns, longest_pause_ns);
  return waits;
}

int binding_watch::wait_ms(std::int64_t now_ns) const {
  return ranks_.empty()
             ? -1
             : static_cast<int>(std::max<std::int64_t>(next_ns_ - now_ns, 0) / 1'000'000 +
                                (next_ns_ > now_ns ? 1 : 0));
}

void binding_watch::release(const std::vector<int>& cpus) {
  for (const auto& [pid, rank] : ranks_) {
    release_threads(pid, rank.cpus, cpus);
  }
  ranks_.clear();
}

}  // namespace sinew::tool
