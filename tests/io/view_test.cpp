// SPDX-License-Identifier: BSD-3-Clause
// Views against a list of all their bytes.
#include "sinew/io/view.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace sinew::io {
namespace {

using layout::datatype_ref;

const layout::datatype& integer() { return layout::of(layout::element::i32); }

/// The offsets of the first bytes of a view, in its order.
std::vector<std::int64_t> offsets_of(const layout::datatype& type, std::int64_t displacement,
                                     int instances) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < instances; ++i) {
    layout::for_each_run(type, 1, [&](std::ptrdiff_t offset, std::size_t bytes) {
      for (std::size_t b = 0; b < bytes; ++b) {
        all.push_back(displacement + i * type.extent() + offset + static_cast<std::int64_t>(b));
      }
    });
  }
  return all;
}

void check_against_list(const layout::datatype& type, std::int64_t displacement) {
  const std::vector<std::int64_t> all = offsets_of(type, displacement, 5);
  const file_view v(displacement, 4, type);
  ASSERT_EQ(v.wrong(), file_view::defect::none);
  EXPECT_EQ(v.displacement(), displacement);
  for (std::size_t p = 0; p < all.size(); ++p) {
    ASSERT_EQ(v.offset_of(static_cast<std::int64_t>(p)), all[p]) << p;
  }
  if (!v.folded()) {
    for (std::int64_t offset = 0; offset < all.back(); ++offset) {
      ASSERT_EQ(v.bytes_before(offset),
                std::lower_bound(all.begin(), all.end(), offset) - all.begin())
          << offset;
    }
  }
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::size_t at = random() % all.size();
    view_cursor cursor(v, static_cast<std::int64_t>(at));
    while (at < all.size()) {
      const std::size_t most = std::min<std::size_t>(1 + random() % 30, all.size() - at);
      const file_piece piece = cursor.next(static_cast<std::int64_t>(most));
      ASSERT_GE(piece.bytes, 1);
      ASSERT_LE(piece.bytes, static_cast<std::int64_t>(most));
      for (std::int64_t b = 0; b < piece.bytes; ++b) {
        ASSERT_EQ(piece.offset + b, all[at++]);
      }
    }
  }
}

TEST(view, finds_the_bytes_of_every_kind_of_filetype) {
  const std::size_t lengths[] = {2, 1, 3};
  const std::ptrdiff_t places[] = {4, 20, 40};
  check_against_list(integer(), 0);
  check_against_list(integer(), 100);
  check_against_list(*layout::vector(3, 2, 12, integer()), 8);
  check_against_list(*layout::indexed(lengths, places, integer()), 0);
  check_against_list(*layout::resized(*layout::indexed(lengths, places, integer()), 0, 64), 3);
  check_against_list(*layout::resized(integer(), 0, 40), 0);
}

TEST(view, knows_what_is_contiguous_and_what_is_empty) {
  EXPECT_TRUE(file_view(0, 4, *layout::contiguous(8, integer())).contiguous());
  EXPECT_FALSE(file_view(0, 4, *layout::vector(2, 1, 8, integer())).contiguous());
  const file_view none(12, 4, *layout::contiguous(0, integer()));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.offset_of(0), 12);
  EXPECT_EQ(none.bytes_before(1000), 0);
}

TEST(view, says_what_a_file_cannot_have) {
  const std::size_t ones[] = {1, 1};
  const std::ptrdiff_t negative[] = {-4, 8};
  const std::ptrdiff_t backwards[] = {8, 0};
  const std::ptrdiff_t twice[] = {0, 2};
  const auto wrong = [&](const std::ptrdiff_t(&places)[2]) {
    return file_view(0, 4, *layout::indexed(ones, places, integer())).wrong();
  };
  EXPECT_EQ(wrong(negative), file_view::defect::negative);
  EXPECT_EQ(wrong(backwards), file_view::defect::backwards);
  EXPECT_EQ(wrong(twice), file_view::defect::overlapping);
  // Instances that overlap: allowed, but offsets do not rise with positions.
  const file_view folded(0, 4, *layout::resized(*layout::contiguous(2, integer()), 0, 4));
  EXPECT_EQ(folded.wrong(), file_view::defect::none);
  EXPECT_TRUE(folded.folded());
}

}  // namespace
}  // namespace sinew::io
