#include "boot/attendance.hpp"

namespace sinew::boot {

static_assert(std::atomic<unsigned char>::is_always_lock_free);

std::size_t attendance::begin_behind(std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  return (bytes + line - 1) / line * line;
}

attendance::attendance(std::byte* base, int mine, int ranks) noexcept
    : states_(reinterpret_cast<std::atomic<unsigned char>*>(base)), mine_(mine), ranks_(ranks) {
  states_[mine_].store(present, std::memory_order_release);
}

void attendance::leave() noexcept {
  if (states_ != nullptr) {
    states_[mine_].store(gone, std::memory_order_release);
  }
}

std::vector<int> attendance::absent() const {
  std::vector<int> result;
  for (int rank = 0; states_ != nullptr && rank < ranks_; ++rank) {
    if (states_[rank].load(std::memory_order_acquire) == absent_yet) {
      result.push_back(rank);
    }
  }
  return result;
}

bool attendance::others_have_left() const noexcept {
  for (int rank = 0; states_ != nullptr && rank < ranks_; ++rank) {
    if (rank != mine_ && states_[rank].load(std::memory_order_acquire) != gone) {
      return false;
    }
  }
  return states_ != nullptr;
}

}  // namespace sinew::boot
