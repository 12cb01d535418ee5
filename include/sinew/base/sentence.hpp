// SPDX-License-Identifier: BSD-3-Clause
// Texts for people are put together from clauses; whoever prints one makes it a sentence.
#pragma once

#include <string>
#include <string_view>

namespace sinew {

/// `text` with a full stop, unless it ends with one, with another mark that ends a sentence, or
/// with the colon of a list. Cold.
[[nodiscard]] std::string as_sentence(std::string_view text);

/// `text` without its full stop, so that a sentence can go on behind it. Allocates nothing. Cold.
[[nodiscard]] std::string_view as_clause(std::string_view text) noexcept;

}  // namespace sinew
