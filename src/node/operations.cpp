#include "sinew/node/operations.hpp"

namespace sinew::node {

bool operations::look_for_free(std::uint64_t n) noexcept {
  const auto has_ended = [&](std::uint64_t before) {
    for (int m = 0; m < team_.size(); ++m) {
      if (slots_of(m).ended[slot_of(before)].load(std::memory_order_seq_cst) < before) {
        return false;
      }
    }
    return true;
  };
  // As far as it goes: the other members' lines are fetched once for many operations.
  while (free_up_to_ < begun_ + depth && has_ended(free_up_to_ + 1 - depth)) {
    ++free_up_to_;
  }
  return n <= free_up_to_;
}

}  // namespace sinew::node
