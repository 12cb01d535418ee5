// SPDX-License-Identifier: BSD-3-Clause
// What the two sides of partitioned messages share.
#include "sinew/partitioned/operation.hpp"

#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::partitioned {

void* operation::place_of(std::size_t instance) const noexcept {
  // By numbers: the base may be MPI_BOTTOM.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(with_.each.base) +
                                 instance * static_cast<std::size_t>(with_.each.type->extent()));
}

void operation::begin() noexcept {
  over_.reset();
  fault_.store(p2p::fault::none, std::memory_order_relaxed);
  left_.store(1, std::memory_order_relaxed);
}

void operation::end_some(std::size_t messages) noexcept {
  const std::size_t before = left_.fetch_sub(messages, std::memory_order_acq_rel);
  SINEW_ASSERT(before >= messages);
  if (before == messages) {
    over_.complete();
  }
}

void operation::note(p2p::fault f) noexcept {
  if (f != p2p::fault::none) {
    fault_.store(f, std::memory_order_relaxed);
  }
}

p2p::result operation::outcome() const noexcept {
  p2p::result all = received();
  all.error = fault_.load(std::memory_order_relaxed);
  return all;
}

}  // namespace sinew::partitioned
