// SPDX-License-Identifier: BSD-3-Clause
// One rank of a test of fabric, and what all of them share.
#pragma once

#include <sched.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::contract {

/// Memory that all ranks of a test see, beside the fabric.
struct common {
  std::atomic<int> arrived;
  std::atomic<int> round;
  std::atomic<int> failed;
  std::atomic<std::uint64_t> word[64];
  remote_address exposed[64];
  remote_address exposed_in_node[64];
};

/// One rank of a test.
struct member {
  endpoint& fabric;
  common& all;
  std::byte* node_heap;  ///< 64 KiB inside the node memory; null where there is none
  std::size_t node_heap_bytes;

  [[nodiscard]] int rank() const { return fabric.rank().value(); }
  [[nodiscard]] int size() const { return fabric.size(); }

  /// One round of progress for somebody who has nothing else to do; ends the test if a rank failed.
  void idle() {
    if (fabric.progress(64) == 0) {
      sched_yield();
    }
    if (all.failed.load() != 0) {
      throw std::runtime_error("another rank failed");
    }
  }
  template <class Ready>
  void until(Ready ready) {
    while (!ready()) {
      idle();
    }
  }
  void barrier() {
    const int mine = all.round.load();
    if (all.arrived.fetch_add(1) + 1 == size()) {
      all.arrived.store(0);
      all.round.fetch_add(1);
    }
    until([&] { return all.round.load() != mine; });
  }
};

inline void require(bool condition, const std::string& otherwise) {
  if (!condition) {
    throw std::runtime_error(otherwise);
  }
}

using body = std::function<void(member&)>;

}  // namespace sinew::fabric::contract
