// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/rma/arena.hpp"

#include <iterator>

#include "sinew/base/check.hpp"

namespace sinew::rma {

arena::arena(std::uint64_t begin, std::uint64_t bytes) : begin_(begin), bytes_(bytes) {
  SINEW_EXPECT(begin % grain == 0 && bytes % grain == 0);
  if (bytes != 0) {
    add_free(begin, bytes);
  }
}

// Where memory is exhausted each of these throws std::bad_alloc and has changed nothing: what needs
// memory comes first, and after that entries are reused.

void arena::add_free(std::uint64_t begin, std::uint64_t bytes) {
  SINEW_EXPECT(bytes != 0 && begin % grain == 0 && bytes % grain == 0);
  SINEW_EXPECT(begin >= begin_ && begin + bytes <= begin_ + bytes_);
  const auto added = free_.emplace(begin, bytes).first;
  try {
    by_size_.emplace(bytes, begin);
  } catch (...) {
    free_.erase(added);
    throw;
  }
}

/// A free piece begins and ends elsewhere now. Its entries are reused: needs no memory.
void arena::change_free(std::uint64_t old_begin, std::uint64_t begin,
                        std::uint64_t bytes) noexcept {
  SINEW_EXPECT(bytes != 0 && begin >= begin_ && begin + bytes <= begin_ + bytes_);
  auto by_begin = free_.extract(old_begin);
  SINEW_ASSERT(!by_begin.empty());
  auto by_size = by_size_.extract({by_begin.mapped(), old_begin});
  SINEW_ASSERT(!by_size.empty());
  by_begin.key() = begin;
  by_begin.mapped() = bytes;
  by_size.value() = {bytes, begin};
  free_.insert(std::move(by_begin));
  by_size_.insert(std::move(by_size));
  SINEW_ENSURE(free_.size() == by_size_.size());
}

void arena::remove_free(std::uint64_t begin, std::uint64_t bytes) noexcept {
  [[maybe_unused]] const std::size_t erased = free_.erase(begin) + by_size_.erase({bytes, begin});
  SINEW_ENSURE(erased == 2);
}

std::uint64_t arena::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  return take(bytes, alignment, &arena::take_best);
}
std::uint64_t arena::allocate_high(std::uint64_t bytes, std::uint64_t alignment) {
  return take(bytes, alignment, &arena::take_highest);
}

std::uint64_t arena::take(std::uint64_t bytes, std::uint64_t alignment, search where) {
  SINEW_EXPECT(alignment != 0 && (alignment & (alignment - 1)) == 0);
  if (bytes > bytes_) {
    return 0;  // before rounding up could wrap
  }
  const std::lock_guard held(mutex_);
  return (this->*where)(rounded(bytes), std::max<std::uint64_t>(grain, alignment));
}

std::uint64_t arena::take_best(std::uint64_t bytes, std::uint64_t alignment) {
  constexpr std::uint64_t quarter = page / 4;
  if (bytes >= large && alignment <= quarter) {
    if (const std::uint64_t at = take_at(bytes, page, (placed_++ % 3 + 1) * quarter)) {
      return at;
    }
  }
  return take_at(bytes, alignment, 0);
}

// The best fit for an offset that modulo `alignment` is `residue`, or 0.
std::uint64_t arena::take_at(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t residue) {
  SINEW_EXPECT(residue < alignment && bytes % grain == 0 && residue % grain == 0);
  for (auto fit = by_size_.lower_bound({bytes, 0}); fit != by_size_.end(); ++fit) {
    const auto [size, begin] = *fit;
    const std::uint64_t at = begin + (residue - begin) % alignment;
    if (at - begin > size - bytes) {
      continue;
    }
    carve({begin, size}, {at, bytes});
    SINEW_ENSURE(at % alignment == residue);
    return at;
  }
  return 0;
}

/// Makes a block of a part of a free piece.
void arena::carve(piece from, piece block) {
  SINEW_EXPECT(block.begin >= from.begin && block.end() <= from.end());
  const std::uint64_t before = block.begin - from.begin;
  const std::uint64_t behind = from.end() - block.end();
  const auto taken = taken_.emplace(block.begin, block.bytes).first;
  if (before != 0 && behind != 0) {  // one piece more
    try {
      add_free(block.end(), behind);
    } catch (...) {
      taken_.erase(taken);
      throw;
    }
  }
  if (before != 0) {
    change_free(from.begin, from.begin, before);
  } else if (behind != 0) {
    change_free(from.begin, block.end(), behind);
  } else {
    remove_free(from.begin, from.bytes);
  }
  used_ += block.bytes;
  SINEW_ENSURE(used_ <= bytes_);
}

std::uint64_t arena::take_highest(std::uint64_t bytes, std::uint64_t alignment) {
  for (auto fit = free_.rbegin(); fit != free_.rend(); ++fit) {
    const auto [begin, size] = *fit;
    const std::uint64_t at = size < bytes ? 0 : (begin + size - bytes) & ~(alignment - 1);
    if (at >= begin) {
      carve({begin, size}, {at, bytes});
      return at;
    }
  }
  return 0;
}

bool arena::claim(const piece& free) {
  const auto [begin, bytes] = free;
  SINEW_EXPECT(bytes != 0 && begin % grain == 0 && bytes % grain == 0);
  const std::lock_guard held(mutex_);
  const auto after = free_.upper_bound(begin);
  if (after == free_.begin()) {
    return false;
  }
  const auto [free_begin, size] = *std::prev(after);
  if (free_begin + size < begin + bytes) {
    return false;
  }
  carve({free_begin, size}, {begin, bytes});
  return true;
}

/// A block begins at this offset, if one covers it.
void arena::cut(std::uint64_t offset) {
  const auto after = taken_.upper_bound(offset);
  if (after == taken_.begin()) {
    return;
  }
  auto& [begin, size] = *std::prev(after);
  if (begin < offset && offset < begin + size) {
    taken_.emplace_hint(after, offset, begin + size - offset);
    size = offset - begin;
  }
}

void arena::recut(const piece& block) {
  const auto [begin, bytes] = block;
  SINEW_EXPECT(bytes != 0 && begin % grain == 0 && bytes % grain == 0);
  const std::lock_guard held(mutex_);
  cut(begin);  // where memory is exhausted a cut stays: only its owner sees it, who then ends the
               // job
  cut(begin + bytes);
  const auto first = taken_.find(begin);
  SINEW_ASSERT(first != taken_.end());
  auto next = std::next(first);
  for (std::uint64_t end = begin + first->second; end != begin + bytes;) {
    SINEW_ASSERT(next != taken_.end() && next->first == end);
    end += next->second;
    next = taken_.erase(next);
  }
  first->second = bytes;
}

std::uint64_t arena::release(std::uint64_t offset) {
  const std::lock_guard held(mutex_);
  const auto found = taken_.find(offset);
  if (found == taken_.end()) {
    return 0;
  }
  const std::uint64_t size = found->second;
  SINEW_ASSERT(used_ >= size);
  const auto next = free_.lower_bound(offset);
  const bool joins_next = next != free_.end() && next->first == offset + size;
  const auto before = next == free_.begin() ? free_.end() : std::prev(next);
  const bool joins_before = before != free_.end() && before->first + before->second == offset;
  if (joins_before) {
    const auto [begin, bytes] = *before;
    std::uint64_t all = bytes + size;
    if (joins_next) {
      all += next->second;
      remove_free(next->first, next->second);
    }
    change_free(begin, begin, all);
  } else if (joins_next) {
    change_free(next->first, offset, size + next->second);
  } else {
    add_free(offset, size);
  }
  taken_.erase(found);
  used_ -= size;
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

std::vector<arena::piece> arena::free_pieces() const {
  const std::lock_guard held(mutex_);
  std::vector<piece> all;
  all.reserve(free_.size());
  for (const auto& [begin, size] : free_) {
    all.push_back({begin, size});
  }
  return all;
}

std::uint64_t arena::largest_free() const {
  const std::lock_guard held(mutex_);
  return by_size_.empty() ? 0 : by_size_.rbegin()->first;
}

}  // namespace sinew::rma
