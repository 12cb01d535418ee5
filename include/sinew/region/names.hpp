// Names of types that are the same on every rank, without a table: ranks run the same build.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sinew::region {

/// As the compiler spells it.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
  // "... [with T = double; ...]" or "... [T = double]"
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return h;
}

/// A name cut to what fits; lies in shared memory, for messages.
struct short_name {
  char text[32] = {};
  constexpr short_name() = default;
  constexpr explicit short_name(std::string_view name) noexcept {
    std::copy_n(name.begin(), std::min(name.size(), sizeof text - 1), text);
  }
  [[nodiscard]] std::string_view view() const noexcept { return text; }
};

}  // namespace sinew::region
