// SPDX-License-Identifier: BSD-3-Clause
// What part of a file a process sees: the runs of bytes of one filetype, repeated. Positions in a
// view count its bytes, the holes left out.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/layout/datatype.hpp"

namespace sinew::io {

/// Bytes in a file, one behind the other.
struct file_piece {
  std::int64_t offset;
  std::int64_t bytes;
};

class file_view {
 public:
  enum class defect { none, negative, backwards, overlapping };
  /// `filetype` as it lies in the file, at `displacement`, made of etypes of so many bytes. Runs
  /// cost 16 bytes each, once. Cold.
  file_view(std::int64_t displacement, std::int64_t etype_bytes, const layout::datatype& filetype);

  /// What MPI does not allow of the filetype; overlapping parts are an error only if
  /// the file is written.
  [[nodiscard]] defect wrong() const noexcept { return defect_; }
  /// Whether a byte of the file can appear twice in the view: then offsets do not rise with
  /// positions.
  [[nodiscard]] bool folded() const noexcept { return folded_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// One run without end.
  [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }
  [[nodiscard]] std::int64_t displacement() const noexcept { return displacement_; }
  [[nodiscard]] std::int64_t etype_bytes() const noexcept { return etype_bytes_; }
  /// Bytes of a run, on average.
  [[nodiscard]] std::int64_t usual_run() const noexcept {
    return runs_.empty() ? 0 : size_ / static_cast<std::int64_t>(runs_.size());
  }

  /// Where in the file the byte at `position` lies. An empty view has position 0 alone, at its
  /// displacement.
  [[nodiscard]] std::int64_t offset_of(std::int64_t position) const noexcept;
  /// How many of the view's bytes lie before `offset` of the file. Not of folded views, where it is
  /// a guess.
  [[nodiscard]] std::int64_t bytes_before(std::int64_t offset) const noexcept;

 private:
  friend class view_cursor;
  struct run {
    std::int64_t offset;  ///< from where the instance lies
    std::int64_t start;   ///< position in the instance
  };
  [[nodiscard]] std::size_t run_at(std::int64_t within) const noexcept;
  [[nodiscard]] std::int64_t end_of(std::size_t index) const noexcept {
    return index + 1 < runs_.size() ? runs_[index + 1].start : size_;
  }

  std::int64_t displacement_;
  std::int64_t etype_bytes_;
  std::int64_t size_;
  std::int64_t extent_;
  std::vector<run> runs_;
  bool contiguous_ = false;
  bool folded_ = false;
  defect defect_ = defect::none;
};

/// Walks through a view from a position on.
class view_cursor {
 public:
  view_cursor(const file_view& view, std::int64_t position) noexcept;
  /// The next piece, of `most` bytes at most (1 at least); adjacent runs are one piece. Hot.
  [[nodiscard]] file_piece next(std::int64_t most) noexcept;

 private:
  void advance(std::int64_t bytes) noexcept;
  [[nodiscard]] std::int64_t left() const noexcept { return view_.end_of(index_) - within_; }
  [[nodiscard]] std::int64_t offset() const noexcept {
    const file_view::run& r = view_.runs_[index_];
    return instance_ + r.offset + (within_ - r.start);
  }

  const file_view& view_;
  std::int64_t instance_ = 0;  ///< where in the file it lies
  std::size_t index_ = 0;      ///< of the run
  std::int64_t within_ = 0;    ///< position in the instance
};

}  // namespace sinew::io
