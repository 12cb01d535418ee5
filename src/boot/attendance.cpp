// SPDX-License-Identifier: BSD-3-Clause
#include "boot/attendance.hpp"

#include <utility>

namespace sinew::boot {

static_assert(std::atomic<unsigned char>::is_always_lock_free);

std::vector<local_rank> attendance::all(int ranks) {
  std::vector<local_rank> result;
  for (local_rank rank = 0; rank.below(ranks); ++rank) {
    result.push_back(rank);
  }
  return result;
}

std::size_t attendance::begin_behind(std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  return (bytes + line - 1) / line * line;
}

attendance::attendance(std::byte* base, local_rank mine, std::vector<local_rank> members) noexcept
    : states_(reinterpret_cast<std::atomic<unsigned char>*>(base)),
      mine_(mine),
      members_(std::move(members)) {
  states_[mine_.index()].store(present, std::memory_order_release);
}

void attendance::leave() noexcept {
  if (states_ != nullptr) {
    states_[mine_.index()].store(gone, std::memory_order_release);
  }
}

void attendance::come_back() noexcept {
  if (states_ != nullptr) {
    states_[mine_.index()].store(present, std::memory_order_release);
  }
}

std::vector<local_rank> attendance::absent() const {
  std::vector<local_rank> result;
  for (const local_rank rank : members_) {
    if (states_[rank.index()].load(std::memory_order_acquire) == absent_yet) {
      result.push_back(rank);
    }
  }
  return result;
}

bool attendance::others_have_left() const noexcept {
  for (const local_rank rank : members_) {
    if (rank != mine_ && states_[rank.index()].load(std::memory_order_acquire) != gone) {
      return false;
    }
  }
  return states_ != nullptr;
}

}  // namespace sinew::boot
