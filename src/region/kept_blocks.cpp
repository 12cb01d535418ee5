// SPDX-License-Identifier: BSD-3-Clause
#include "region/kept_blocks.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::region {

memory_block kept_blocks::take(std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  auto best = blocks_.end();
  for (auto b = blocks_.begin(); b != blocks_.end(); ++b) {
    if (b->bytes >= bytes && b->bytes / 2 <= bytes &&
        (best == blocks_.end() || b->bytes < best->bytes)) {
      best = b;
    }
  }
  if (best == blocks_.end()) {
    return {};
  }
  const memory_block found = *best;
  SINEW_ASSERT(bytes_ >= found.bytes);
  bytes_ -= found.bytes;
  *best = blocks_.back();
  blocks_.pop_back();
  SINEW_ENSURE(found.offset != 0 && found.bytes >= bytes);
  return found;
}

bool kept_blocks::keep(const memory_block& b, std::size_t limit) {
  SINEW_EXPECT(b.offset != 0);
  SINEW_EXPECT(std::none_of(blocks_.begin(), blocks_.end(),
                            [&](const memory_block& other) { return other.offset == b.offset; }));
  if (b.bytes < least_bytes || blocks_.size() >= most_blocks || b.bytes > limit ||
      bytes_ > limit - b.bytes) {
    return false;
  }
  blocks_.push_back(b);
  bytes_ += b.bytes;
  return true;
}

std::vector<memory_block> kept_blocks::drain() {
  bytes_ = 0;
  return std::exchange(blocks_, {});
}

}  // namespace sinew::region
