// Files of words, and the sentence that says in which line one is malformed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::route {

/// The whole file. Throws sinew::error: it cannot be read, or has more than 256 MiB.
std::string whole_file(const std::string& path);

/// Throws "where:line is malformed (why)".
[[noreturn]] void bad_line(const std::string& where, std::size_t line, const std::string& why);

/// Calls `take` with the words of each line that has any; # starts a comment. Lines count from 1.
void for_each_line(
    std::string_view text,
    const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take);

}  // namespace sinew::route
