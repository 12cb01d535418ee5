#include "rma/arena.hpp"

#include <algorithm>
#include <iterator>

#include "sinew/base/check.hpp"

namespace sinew::rma {

arena::arena(std::uint64_t begin, std::uint64_t bytes) : begin_(begin), bytes_(bytes) {
  SINEW_EXPECT(begin % grain == 0 && bytes % grain == 0);
  if (bytes != 0) {
    add_free(begin, bytes);
  }
}

void arena::add_free(std::uint64_t begin, std::uint64_t bytes) {
  SINEW_EXPECT(bytes != 0 && begin % grain == 0 && bytes % grain == 0);
  SINEW_EXPECT(begin >= begin_ && begin + bytes <= begin_ + bytes_);
  free_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

std::uint64_t arena::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  SINEW_EXPECT(alignment != 0 && (alignment & (alignment - 1)) == 0);
  if (bytes > bytes_) {
    return 0;  // before rounding up could wrap
  }
  bytes = std::max<std::uint64_t>(grain, (bytes + grain - 1) / grain * grain);
  alignment = std::max<std::uint64_t>(grain, alignment);
  const std::lock_guard held(mutex_);
  constexpr std::uint64_t quarter = page / 4;
  if (bytes >= large && alignment <= quarter) {
    if (const std::uint64_t at = take(bytes, page, (placed_++ % 3 + 1) * quarter)) {
      return at;
    }
  }
  return take(bytes, alignment, 0);
}

// The best fit for an offset that modulo `alignment` is `residue`, or 0.
std::uint64_t arena::take(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t residue) {
  SINEW_EXPECT(residue < alignment && bytes % grain == 0 && residue % grain == 0);
  for (auto fit = by_size_.lower_bound({bytes, 0}); fit != by_size_.end(); ++fit) {
    const auto [size, begin] = *fit;
    const std::uint64_t at = begin + (residue - begin) % alignment;
    if (at - begin > size - bytes) {
      continue;
    }
    taken_.emplace(at, bytes);
    by_size_.erase(fit);
    free_.erase(begin);
    if (at != begin) {
      add_free(begin, at - begin);
    }
    if (at + bytes != begin + size) {
      add_free(at + bytes, begin + size - at - bytes);
    }
    used_ += bytes;
    SINEW_ENSURE(at % alignment == residue && used_ <= bytes_);
    return at;
  }
  return 0;
}

std::uint64_t arena::release(std::uint64_t offset) {
  const std::lock_guard held(mutex_);
  const auto found = taken_.find(offset);
  if (found == taken_.end()) {
    return 0;
  }
  const std::uint64_t size = found->second;
  SINEW_ASSERT(used_ >= size);
  taken_.erase(found);
  used_ -= size;
  std::uint64_t begin = offset;
  std::uint64_t end = offset + size;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == end) {
    end += next->second;
    by_size_.erase({next->second, next->first});
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      begin = before->first;
      by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  add_free(begin, end - begin);
  SINEW_ENSURE(free_.size() == by_size_.size());
  return size;
}

std::uint64_t arena::bytes_of(std::uint64_t offset) const {
  const std::lock_guard held(mutex_);
  const auto found = taken_.find(offset);
  return found == taken_.end() ? 0 : found->second;
}

std::uint64_t arena::used() const {
  const std::lock_guard held(mutex_);
  return used_;
}

std::uint64_t arena::largest_free() const {
  const std::lock_guard held(mutex_);
  return by_size_.empty() ? 0 : by_size_.rbegin()->first;
}

}  // namespace sinew::rma
