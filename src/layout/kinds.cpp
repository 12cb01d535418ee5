// SPDX-License-Identifier: BSD-3-Clause
// Whether the data of a message are of the kinds that its receive expects.
#include <algorithm>
#include <string>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout {
namespace {

constexpr std::uint32_t of_one_kind = 0x80000000;

std::uint32_t word_of(element kind) noexcept {
  return kind == element::byte ? 0 : of_one_kind | static_cast<std::uint32_t>(kind);
}

/// Runs of one kind, however the types divide them.
struct kinds_seen {
  std::size_t left;  ///< bytes
  element kind = element::none;
  std::size_t run = 0;
  bool several = false;
  bool has_bytes = false;
  std::uint32_t hash = 0x811c9dc5;

  void mix(std::uint64_t word) noexcept {
    for (int i = 0; i < 8; ++i) {
      hash = (hash ^ static_cast<std::uint8_t>(word >> (8 * i))) * 0x01000193;
    }
  }
  void end_run() noexcept {
    mix(static_cast<std::uint64_t>(kind));
    mix(run);
  }
  void add(std::size_t n, element e) noexcept {
    const std::size_t size = size_of(e);
    n = std::min(n, left / size);
    left = n == 0 ? 0 : left - n * size;
    if (n == 0) {
      return;
    }
    has_bytes = has_bytes || e == element::byte;
    if (run != 0 && e != kind) {
      end_run();
      several = true;
      run = 0;
    }
    kind = e;
    run += n;
  }
};

}  // namespace

std::uint32_t kinds_in(const datatype& t, std::size_t count, std::size_t bytes) noexcept {
  if (bytes == 0 || count == 0) {
    return 0;
  }
  if (t.base() != element::none) {
    return word_of(t.base());
  }
  kinds_seen all{std::min(bytes, count * t.size())};
  for_each_leaf(t, count, [&](std::ptrdiff_t, std::size_t n, element e) { all.add(n, e); });
  if (!all.several) {
    return word_of(all.kind);
  }
  all.end_run();
  // What plain bytes stand for is not known.
  return all.has_bytes ? 0 : std::max(all.hash & ~of_one_kind, 1U);
}

std::string text_of_kinds(std::uint32_t kinds) {
  return (kinds & of_one_kind) == 0
             ? "elements of several kinds"
             : std::string("elements ") + name_of(static_cast<element>(kinds & 0xff));
}

}  // namespace sinew::layout
