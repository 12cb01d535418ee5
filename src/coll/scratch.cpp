// SPDX-License-Identifier: BSD-3-Clause
#include "coll/scratch.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace sinew::coll {
namespace {

constexpr std::size_t worth_keeping = 32 << 10;  // smaller ones malloc serves without the kernel
constexpr std::size_t longest_kept = 2 << 20;

/// Blocks for this thread's next calls. A block that is in use is not in here, so a call may end
/// on another thread than the one it began on.
struct kept_blocks {
  struct kept {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  kept blocks[3];

  ~kept_blocks() {
    for (const kept& k : blocks) {
      std::free(k.memory);
    }
  }
};

thread_local kept_blocks spare;

}  // namespace

void scratch::borrow(std::size_t bytes) {
  heap_bytes_ = (bytes + alignment - 1) & ~(alignment - 1);
  if (heap_bytes_ >= worth_keeping) {
    for (auto& k : spare.blocks) {
      if (k.bytes < heap_bytes_) {
        continue;
      }
      heap_ = std::exchange(k.memory, nullptr);
      heap_bytes_ = std::exchange(k.bytes, 0);
      SINEW_ENSURE(heap_ != nullptr && heap_bytes_ >= bytes);
      return;
    }
  }
  SINEW_ASSERT(heap_bytes_ >= bytes);
  heap_ = std::aligned_alloc(alignment, heap_bytes_);
  if (heap_ == nullptr) {
    throw std::bad_alloc();
  }
}

void scratch::give_back() noexcept {
  if (heap_bytes_ >= worth_keeping && heap_bytes_ <= longest_kept) {
    for (auto& k : spare.blocks) {
      if (k.bytes >= heap_bytes_) {
        continue;
      }
      std::swap(k.memory, heap_);  // the shorter one goes
      k.bytes = heap_bytes_;
      break;
    }
  }
  std::free(heap_);
}

}  // namespace sinew::coll
