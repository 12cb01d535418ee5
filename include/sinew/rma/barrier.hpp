// SPDX-License-Identifier: BSD-3-Clause
// A barrier over some of the ranks, in a few lines of the heap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {

/// One rank's end of it. One thread at a time; the engine must outlive it.
class barrier {
 public:
  /// Every member calls it with the same list, in which it stands itself; returns when all have.
  /// The local heap of the first member on each node holds it. Throws sinew::error, on all members,
  /// if one is full.
  /// Cold.
  barrier(engine& e, std::span<const job_rank> members);
  /// Waits for nobody; the memory is released once the last member is gone.
  ~barrier();
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Returns when all members have called it as often as this one; what they did to heaps before is
  /// visible. Suspends. Hot.
  void wait();

 private:
  friend class engine;
  struct all_ranks {};
  barrier(engine& e, all_ranks, std::uint64_t offset);  ///< over words that are there already

  [[nodiscard]] std::uint64_t line(std::size_t n) const noexcept { return offset_ + n * 64; }
  void sort_by_node(std::span<const job_rank> members);
  [[nodiscard]] bool leads() const noexcept { return me_ == 0; }
  [[nodiscard]] std::uint64_t make_lines();
  void tell_lines(std::uint64_t mine);
  [[noreturn]] void refuse();
  void wait_around(std::uint64_t epoch);
  void wait_at_counter(std::uint64_t epoch);
  void wait_by_levels(std::uint64_t epoch);
  void wait_for_leaders(std::uint64_t epoch);

  engine& engine_;
  std::vector<job_rank> members_;  ///< on this node, whose leader is the first
  std::size_t me_ = 0;             ///< index in members_
  std::size_t rounds_ = 0;         ///< of the members here or, where there are several, the leaders
  std::uint64_t offset_ = 0;       ///< in the first member's heap
  struct leader {
    job_rank rank;
    std::uint64_t offset;  ///< in its heap; of interest to leaders only
  };
  std::vector<leader> leaders_;  ///< by node
  std::size_t node_ = 0;         ///< this one, in leaders_
  std::uint64_t epoch_ = 0;
  std::size_t size_ = 0;  ///< members on all nodes
  bool owned_ = true;
};

}  // namespace sinew::rma
