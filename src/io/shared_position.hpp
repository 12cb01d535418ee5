// SPDX-License-Identifier: BSD-3-Clause
// The shared file pointer: one number in memory that all ranks of the file map, or if they are on
// several nodes, that rank 0 has and the others reach by the fabric's atomics. Rank 0 must make
// progress for these, as it must for their messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::io {

class shared_position {
 public:
  /// Collective over `at`. Throws sinew::error, on all ranks, if there is no memory. Cold.
  [[nodiscard]] static std::unique_ptr<shared_position> make(coll::participant at);

  shared_position(const shared_position&) = delete;
  shared_position& operator=(const shared_position&) = delete;
  ~shared_position();

  // In etypes. Relaxed: the order of the numbers is all that ranks agree on by it; collectives
  // order it with everything else.
  [[nodiscard]] std::int64_t get() const {
    return where_ != nullptr ? where_->load(std::memory_order_relaxed) : fetch_add(0);
  }
  /// By rank 0 of the file.
  void set(std::int64_t to) noexcept {
    SINEW_EXPECT(to >= 0 && where_ != nullptr);
    where_->store(to, std::memory_order_relaxed);
  }
  /// What it was before `by` etypes were taken. Hot within a node.
  [[nodiscard]] std::int64_t take(std::int64_t by) {
    SINEW_EXPECT(by >= 0);
    return where_ != nullptr ? where_->fetch_add(by, std::memory_order_relaxed) : fetch_add(by);
  }

 private:
  using number = std::atomic<std::int64_t>;
  static_assert(number::is_always_lock_free);

  shared_position() : where_(&own_) {}
  explicit shared_position(boot::memory_mapping memory);
  explicit shared_position(p2p::engine& by) : engine_(&by) {}
  [[nodiscard]] static std::unique_ptr<shared_position> over_nodes(coll::participant at);
  [[nodiscard]] std::int64_t fetch_add(std::int64_t by) const;

  number own_{0};  ///< of a file that one rank has opened, and over nodes of rank 0
  boot::memory_mapping memory_;
  number* where_ = nullptr;        ///< null where `owner_` has it
  p2p::engine* engine_ = nullptr;  ///< over nodes only
  job_rank owner_ = no_job_rank;
  fabric::remote_address there_{};
};

}  // namespace sinew::io
