// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/io/view.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::io {

file_view::file_view(std::int64_t displacement, std::int64_t etype_bytes,
                     const layout::datatype& filetype)
    : displacement_(displacement),
      etype_bytes_(etype_bytes),
      size_(static_cast<std::int64_t>(filetype.size())),
      extent_(filetype.extent()) {
  std::int64_t start = 0;
  std::int64_t end = 0;
  layout::for_each_run(filetype, 1, [&](std::ptrdiff_t offset, std::size_t bytes) {
    if (offset < 0) {
      defect_ = std::max(defect_, defect::negative);
    } else if (!runs_.empty() && offset < runs_.back().offset) {
      defect_ = std::max(defect_, defect::backwards);
    } else if (offset < end) {
      folded_ = true;
    }
    runs_.push_back({offset, start});
    start += static_cast<std::int64_t>(bytes);
    end = std::max(end, offset + static_cast<std::int64_t>(bytes));
  });
  SINEW_ASSERT(start == size_);
  if (folded_ && defect_ == defect::none) {
    defect_ = defect::overlapping;
  }
  if (!runs_.empty()) {
    folded_ = folded_ || end - runs_.front().offset > extent_;
    contiguous_ = runs_.size() == 1 && size_ == extent_;
  }
}

std::size_t file_view::run_at(std::int64_t within) const noexcept {
  SINEW_EXPECT(within >= 0 && within < size_);
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), within,
                                      [](std::int64_t p, const run& r) { return p < r.start; });
  return static_cast<std::size_t>(after - runs_.begin()) - 1;
}

std::int64_t file_view::offset_of(std::int64_t position) const noexcept {
  SINEW_EXPECT(position >= 0);
  if (empty()) {
    SINEW_EXPECT(position == 0);
    return displacement_;
  }
  const std::int64_t within = position % size_;
  const run& r = runs_[run_at(within)];
  return displacement_ + position / size_ * extent_ + r.offset + (within - r.start);
}

std::int64_t file_view::bytes_before(std::int64_t offset) const noexcept {
  if (runs_.empty()) {
    return 0;
  }
  const std::int64_t first = runs_.front().offset;
  const std::int64_t beyond = offset - displacement_ - first;
  if (beyond <= 0) {
    return 0;
  }
  const std::int64_t step = std::max<std::int64_t>(extent_, 1);
  const std::int64_t rest = beyond % step + first;
  // The last run that begins before the place.
  const auto after = std::lower_bound(runs_.begin(), runs_.end(), rest,
                                      [](const run& r, std::int64_t p) { return r.offset < p; });
  std::int64_t within = 0;
  if (after != runs_.begin()) {
    const auto index = static_cast<std::size_t>(after - runs_.begin()) - 1;
    const run& r = runs_[index];
    within = r.start + std::min(rest - r.offset, end_of(index) - r.start);
  }
  SINEW_ENSURE(within >= 0 && within <= size_);
  return beyond / step * size_ + within;
}

view_cursor::view_cursor(const file_view& view, std::int64_t position) noexcept : view_(view) {
  SINEW_EXPECT(position >= 0);
  if (view.empty()) {
    return;
  }
  instance_ = view.displacement_ + position / view.size_ * view.extent_;
  within_ = position % view.size_;
  SINEW_ASSERT(within_ < view.size_);
  index_ = view.run_at(within_);
}

void view_cursor::advance(std::int64_t bytes) noexcept {
  SINEW_EXPECT(bytes >= 0 && bytes <= left());
  within_ += bytes;
  if (within_ < view_.end_of(index_)) {
    return;
  }
  ++index_;
  if (index_ == view_.runs_.size()) {
    index_ = 0;
    within_ = 0;
    instance_ += view_.extent_;
  }
}

file_piece view_cursor::next(std::int64_t most) noexcept {
  SINEW_EXPECT(most >= 1 && !view_.empty());
  file_piece piece{offset(), 0};
  if (view_.contiguous_) {
    piece.bytes = most;
    instance_ += (within_ + most) / view_.size_ * view_.extent_;
    within_ = (within_ + most) % view_.size_;
    return piece;
  }
  do {
    const std::int64_t n = std::min(left(), most - piece.bytes);
    piece.bytes += n;
    advance(n);
  } while (piece.bytes < most && offset() == piece.offset + piece.bytes);
  SINEW_ENSURE(piece.bytes >= 1 && piece.bytes <= most);
  return piece;
}

}  // namespace sinew::io
