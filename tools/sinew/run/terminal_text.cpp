// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/terminal_text.hpp"

#include <cstdint>

#include "sinew/boot/pmi_wire.hpp"

namespace sinew::tool {
namespace {

// Bytes of the character at the front of `text` if that is well-formed UTF-8 of several bytes and
// no control character; else 0.
std::size_t long_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first >= 0xc2 && first < 0xe0   ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  if (bytes == 0 || text.size() < bytes) {
    return 0;
  }
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (next & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};  // below: too long, or control
  return code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? bytes : 0;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t taken = long_character(text);
    if (taken != 0 || (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t') {
      taken = taken == 0 ? 1 : taken;
      result += text.substr(0, taken);
    } else {
      taken = 1;
      result += boot::pmi_visible(text.substr(0, 1));
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace sinew::tool
