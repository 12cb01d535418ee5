// SPDX-License-Identifier: BSD-3-Clause
// A trace as a page that needs no viewer: ranks over time, and where the time went.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::tool {

/// Kinds of records by their numbers (trace::kind).
inline constexpr std::array<const char*, 9> trace_kinds = {
    "event", "task", "copy", "lock", "put", "get", "sync", "message", "other"};

/// Takes records one by one and keeps sums only, so that a trace of any length makes a small page.
class trace_page {
 public:
  /// Times of all records lie in [0, end_ns].
  trace_page(std::string title, int ranks, std::int64_t end_ns);

  struct record {
    int rank = 0;
    std::size_t kind = 0;
    std::string_view name;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  void add(const record& r);

  /// HTML with the picture in it, without scripts and without network. Cold.
  [[nodiscard]] std::string text() const;

  static constexpr int most_ranks = 64;  ///< that are drawn
  static constexpr std::size_t bins = 500;

 private:
  struct lane {
    std::array<double, bins> busy_ns{};
    std::array<std::uint32_t, bins> marks{};
  };
  struct sum {
    std::uint64_t count = 0;
    double total_ns = 0;
    double most_ns = 0;
  };
  [[nodiscard]] std::string picture() const;
  [[nodiscard]] std::string lane_of(const lane& what, std::size_t kind, double y) const;
  [[nodiscard]] std::string time_axis(double height) const;
  [[nodiscard]] std::string table() const;
  [[nodiscard]] double bin_ns() const;

  std::string title_;
  int ranks_;
  std::int64_t end_ns_;
  std::uint64_t records_ = 0;
  std::map<std::pair<int, std::size_t>, lane> lanes_;
  std::map<std::pair<std::size_t, std::string>, sum> sums_;
};

}  // namespace sinew::tool
