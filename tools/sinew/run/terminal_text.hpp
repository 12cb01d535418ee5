// SPDX-License-Identifier: BSD-3-Clause
// Text that other programs have a part in, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sinew::tool {

/// `text` with every byte that a terminal could take for a command as \xNN: control characters
/// other than newline and tab, those of the second set (U+0080 to U+009F), and what is not UTF-8.
[[nodiscard]] std::string terminal_text(std::string_view text);

}  // namespace sinew::tool
