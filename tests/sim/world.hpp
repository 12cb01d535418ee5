// SPDX-License-Identifier: BSD-3-Clause
// A simulated job inside a test: memory, a simulator in a thread of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "fabric/worlds.hpp"
#include "sinew/fabric/virtual_world.hpp"
#include "sinew/sim/simulator.hpp"

namespace sinew::sim::test {

inline std::unique_ptr<network> network_of(const std::string& text, int ranks) {
  return std::make_unique<network>(parse_network(text), ranks, 1);
}

/// Ranks are the caller's: threads or forked processes that open rank(). The simulator's thread
/// begins with serve().
class world {
 public:
  world(int n, const std::string& network, const choices& how = {})
      : ranks(n),
        board(sizeof(fabric::contract::common)),
        memory_(fabric::virtual_world::bytes_for(n)),
        simulator_(memory_.at(), n, network_of(network, n), how) {
    new (board.at()) fabric::contract::common{};
  }
  ~world() {
    simulator_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void serve(const listeners& told = {}) {
    thread_ = std::thread([this, told] { simulator_.run(told); });
  }
  void ended(int rank, bool died) { simulator_.ended(rank, died); }
  /// When all ranks have left.
  const totals& finish() {
    simulator_.stop();
    thread_.join();
    return simulator_.result();
  }
  [[nodiscard]] std::unique_ptr<fabric::endpoint> rank(int r) const {
    return fabric::virtual_world::open_at(memory_.at(), job_rank{r});
  }

  // What fabric's contract wants of a world.
  [[nodiscard]] fabric::contract::common& all() const {
    return *reinterpret_cast<fabric::contract::common*>(board.at());
  }
  [[nodiscard]] static std::byte* heap(int /*rank*/) { return nullptr; }
  int ranks;
  fabric::contract::shared_mapping board;

 private:
  fabric::contract::shared_mapping memory_;
  simulator simulator_;
  std::thread thread_;
};

}  // namespace sinew::sim::test
