// SPDX-License-Identifier: BSD-3-Clause
// One table of options per command: parsing, help, man page and completion all come from it.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

/// A mistake on the command line; the text is one line for the user. Becomes exit code 2.
class usage_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct option {
  std::vector<std::string_view> names;  ///< "-n", "--ranks"; the last is the one to suggest
  std::string_view value;               ///< name of its value for people; empty: a flag
                                        ///< "[=NAME]": it may be left out, and is never a word
                                        ///< of its own
  std::string_view about;
  std::function<void(std::string_view)> apply;  ///< gets the value; may throw usage_failure
  std::string_view choices = {};                ///< "a|b|c" for completion
};

/// What `sinew help` knows of a command.
struct command_page {
  std::string_view name;
  std::string_view summary;   ///< one line
  std::string_view synopsis;  ///< after "sinew NAME "
  std::string_view text;      ///< what an option's line cannot say
  std::vector<option> options;
  std::vector<std::string_view> words = {};  ///< those it knows besides options, for completion
};

/// Applies options from the front of `arguments`; stops at the first other word, or behind "--".
/// Accepts "--name value", "--name=value", "-n4", "-np4". Returns how many words it took.
/// Throws usage_failure if an option is unknown: with what `elsewhere` says of it, else with the
/// nearest name.
std::size_t parse_options(std::span<const std::string_view> arguments,
                          const std::vector<option>& table,
                          std::string (*elsewhere)(std::string_view option) = nullptr);

/// Options and other words in any order; those that are none go to `take`. Throws usage_failure.
void read_words(std::span<const std::string_view> words, const std::vector<option>& table,
                const std::function<void(std::string_view word)>& take);

/// The candidate nearest to `word`, if near enough to be meant; else empty.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> candidates);

/// How many letters of a word like "-np4" are the longest name with one dash that `is_name` knows;
/// 0: none.
[[nodiscard]] std::size_t glued_name(std::string_view word,
                                     const std::function<bool(std::string_view)>& is_name);

/// Whole numbers and seconds ("2", "0.5") as option values; throw usage_failure that names `what`.
[[nodiscard]] int whole_number(std::string_view what, std::string_view text, int least);
[[nodiscard]] double seconds(std::string_view what, std::string_view text);

/// It needs a value, which is the next word where the option has none.
[[nodiscard]] bool takes_word(const option& each);

/// "-n, --ranks N", "--profile[=FILE]"
[[nodiscard]] std::string left_column(const option& each);

/// The page as text for a terminal; other forms are in pages.hpp.
[[nodiscard]] std::string help_text(const command_page& page);

}  // namespace sinew::tool
