// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/sentence.hpp"

namespace sinew {

std::string as_sentence(std::string_view text) {
  constexpr std::string_view ends = ".?!:\n";
  const bool ended = text.empty() || ends.find(text.back()) != std::string_view::npos;
  return std::string(text) + (ended ? "" : ".");
}

std::string_view as_clause(std::string_view text) noexcept {
  return text.substr(0, text.size() - (text.ends_with('.') ? 1 : 0));
}

}  // namespace sinew
