// The shared file pointer: one number in memory that all ranks of the file map.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi {

class shared_position {
 public:
  /// Collective over `at`. Throws sinew::error, on all ranks, if there is no memory. Cold.
  [[nodiscard]] static std::unique_ptr<shared_position> make(coll::participant at);

  // In etypes. Relaxed: the order of the numbers is all that ranks agree on by it; collectives
  // order it with everything else.
  [[nodiscard]] std::int64_t get() const noexcept {
    return where_->load(std::memory_order_relaxed);
  }
  void set(std::int64_t to) noexcept {
    SINEW_EXPECT(to >= 0);
    where_->store(to, std::memory_order_relaxed);
  }
  /// What it was before `by` etypes were taken. Hot.
  [[nodiscard]] std::int64_t take(std::int64_t by) noexcept {
    SINEW_EXPECT(by >= 0);
    return where_->fetch_add(by, std::memory_order_relaxed);
  }

 private:
  using number = std::atomic<std::int64_t>;
  static_assert(number::is_always_lock_free);

  shared_position() : where_(&alone_) {}
  explicit shared_position(boot::memory_mapping memory);

  number alone_{0};  ///< of a file that one rank has opened
  boot::memory_mapping memory_;
  number* where_;
};

}  // namespace sinew::mpi
