// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/formats/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::formats {

std::string whole_file(const std::string& path, const std::string& hint) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  SINEW_CHECK(!failed, "cannot read " + path, failed.message(), hint);
  SINEW_CHECK(size <= (256u << 20), path + " is too large",
              "it has " + std::to_string(size >> 20) + " MiB", "at most 256 are read");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  SINEW_CHECK(in.good() || in.eof(), "cannot read " + path, std::strerror(errno), hint);
  return std::move(text).str();
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  SINEW_CHECK(out.good(), "cannot write " + path, "the file could not be opened or filled", "");
}

void bad_line(const std::string& where, std::size_t line, const std::string& why) {
  throw error(where + ":" + std::to_string(line) + " is malformed", why);
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

void for_each_line(
    std::string_view text,
    const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take) {
  constexpr std::string_view blanks = " \t\r,";
  std::vector<std::string_view> words;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    words.clear();
    while (true) {
      const std::size_t at = line.find_first_not_of(blanks);
      if (at == line.npos) {
        break;
      }
      line.remove_prefix(at);
      words.push_back(line.substr(0, line.find_first_of(blanks)));
      line.remove_prefix(words.back().size());
    }
    if (!words.empty()) {
      take(number, words);
    }
  }
}

}  // namespace sinew::formats
