// SPDX-License-Identifier: BSD-3-Clause
// Names of types that are the same on every rank, without a table: ranks run the same build.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace sinew::region {

/// As the compiler spells it.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
  // "... [with T = double; ...]" or "... [T = double]"
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv).
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return h;
}

/// The first 31 bytes of a name, by value: it lies in shared records and in messages.
struct short_name {
  char text[32] = {};
  constexpr short_name() = default;
  constexpr explicit short_name(std::string_view name) noexcept {
    std::copy_n(name.begin(), std::min(name.size(), sizeof text - 1), text);
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return text; }
};

static_assert(type_name<double>() == "double", "the compiler spells functions as expected");
static_assert(hash_of("") == 0xcbf29ce484222325u && hash_of("a") == 0xaf63dc4c8601ec8cu,
              "FNV-1a's published values");
static_assert(short_name("12345678901234567890123456789012345").view().size() == 31);
static_assert(std::is_trivially_copyable_v<short_name>);

}  // namespace sinew::region
