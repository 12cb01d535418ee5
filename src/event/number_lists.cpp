// SPDX-License-Identifier: BSD-3-Clause
#include "event/number_lists.hpp"

#include <algorithm>

namespace sinew::event {

void number_lists::grow(std::uint32_t& list) {
  const bool is_large = list != 0;
  std::uint32_t& free_list = is_large ? free_large_ : free_small_;
  std::uint32_t c = free_list;
  if (c != 0) {
    free_list = chunks_[c].next;
  } else {
    const std::uint32_t lines = is_large ? large_lines : 1;
    SINEW_CHECK(used_ + lines < lines_, "cannot remember one more dependence between events",
                "the memory reserved for them holds 14 times SINEW_EVENT_MOST_PENDING", "raise it");
    c = used_ + 1;
    used_ += lines;
    chunks_[c].most = is_large ? large : small;
  }
  SINEW_ASSERT(chunks_[c].most == (is_large ? large : small));
  chunks_[c].count = 0;
  chunks_[c].next = list;
  list = c;
}

bool number_lists::contains(std::uint32_t list, std::uint32_t number) const noexcept {
  for (std::uint32_t c = list; c != 0; c = chunks_[c].next) {
    const std::uint32_t* const items = chunks_[c].items;
    if (std::find(items, items + chunks_[c].count, number) != items + chunks_[c].count) {
      return true;
    }
  }
  return false;
}

}  // namespace sinew::event
