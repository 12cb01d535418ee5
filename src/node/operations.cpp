// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/node/operations.hpp"

#include "sinew/base/copy.hpp"

namespace sinew::node {

bool operations::read(int m, const line& l, std::size_t offset, void* into,
                      std::size_t bytes) const {
  SINEW_EXPECT(is_shown(l) && offset + bytes <= l.bytes());
  const rma::outside there = rma::outside::of(team_.job_rank_of(m), l.lies.where + offset);
  if (const std::byte* const mapped = team_.memory().reach(there, bytes)) {
    copy_bytes(into, mapped, bytes);
    return true;
  }
  if (bytes == 0) {
    return true;
  }
  const fabric::piece one{into, there.address, bytes};
  const fabric::copied now =
      team_.memory().runtime().endpoint().copy_now(there.rank, fabric::direction::in, {&one, 1});
  SINEW_ENSURE(now != fabric::copied::refused);  // all have agreed that it is not
  return now == fabric::copied::done;
}

bool operations::all_have_ended(std::uint64_t n) const noexcept {
  for (int m = 0; m < team_.size(); ++m) {
    if (!has_ended(n, m)) {
      return false;
    }
  }
  return true;
}

std::byte* operations::long_place(std::uint64_t turn, std::uint64_t n, std::size_t bytes) noexcept {
  SINEW_EXPECT(turn < turns_ && n <= begun_ && bytes <= long_room);
  const std::uint64_t which = turn % long_places;
  place_state& state = places_[which];
  if (state.turn != turn || (state.before != 0 && !all_have_ended(state.before))) {
    return nullptr;
  }
  state = {turn + long_places, n};
  return slots_of(team_.rank()).long_rooms[which].data();
}

const std::byte* operations::in_long_place(int m, const line& l, std::size_t offset,
                                           std::size_t bytes) const noexcept {
  SINEW_EXPECT(is_shown(l) && offset + bytes <= l.bytes());
  return team_.memory().reach(rma::outside::of(team_.job_rank_of(m), l.lies.where + offset), bytes);
}

bool operations::look_for_free(std::uint64_t n) noexcept {
  // As far as it goes: the other members' lines are fetched once for many operations.
  while (free_up_to_ < begun_ + depth && all_have_ended(free_up_to_ + 1 - depth)) {
    ++free_up_to_;
  }
  return n <= free_up_to_;
}

}  // namespace sinew::node
