// SPDX-License-Identifier: BSD-3-Clause
// Files of words, and the sentence that says in which line one is malformed. Cold.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::formats {

/// The whole file. Throws sinew::error: it cannot be read, where `hint` helps, or has more than 256
/// MiB.
[[nodiscard]] std::string whole_file(const std::string& path, const std::string& hint = "");
/// Instead of what the file has held. Throws sinew::error.
void write_file(const std::string& path, std::string_view text);

/// Throws "where:line is malformed (why)".
[[noreturn]] void bad_line(const std::string& where, std::size_t line, const std::string& why);

/// Without blanks and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Calls `take` with the words of each line that has any; # starts a comment. Lines count from 1.
void for_each_line(
    std::string_view text,
    const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take);

}  // namespace sinew::formats
