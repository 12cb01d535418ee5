// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/pmi_wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace sinew::boot {
namespace {

constexpr std::size_t name_limit = 64;

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return -1;
}

bool plain(unsigned char c) {
  return c > ' ' && c < 0x7f && c != '=' && c != '%' && c != ';' && c != '\\' && c != '"';
}

}  // namespace

std::optional<pmi_message> pmi_message::parse(std::string_view line) {
  if (line.size() > pmi_line_limit || !printable(line)) {
    return std::nullopt;
  }
  pmi_message message;
  while (true) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) {
      break;
    }
    line.remove_prefix(start);
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      if (message.fields_.size() < 2) {
        return std::nullopt;
      }
      message.fields_.back().second.append(1, ' ').append(word);
      continue;
    }
    if (equals == 0 || equals > name_limit || message.fields_.size() == pmi_field_limit) {
      return std::nullopt;
    }
    message.fields_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (message.fields_.empty()) {
    return std::nullopt;
  }
  const auto& [name, command] = message.fields_.front();
  if ((name != "cmd" && name != "mcmd") || command.empty()) {
    return std::nullopt;
  }
  return message;
}

std::optional<std::string_view> pmi_message::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : fields_) {
    if (key == name) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<int> pmi_message::number(std::string_view name) const noexcept {
  const auto text = find(name);
  return text ? parse_number(*text) : std::nullopt;
}

bool pmi_line_buffer::append(std::string_view bytes) {
  pending_.erase(0, taken_);
  taken_ = 0;
  pending_.append(bytes);
  const std::size_t last = pending_.rfind('\n');
  const std::size_t open = last == std::string::npos ? pending_.size() : pending_.size() - last - 1;
  return open <= pmi_line_limit;
}

std::optional<std::string> pmi_line_buffer::next() {
  const std::size_t end = pending_.find('\n', taken_);
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string line = pending_.substr(taken_, end - taken_);
  taken_ = end + 1;
  return line;
}

std::string pmi_visible(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f) {
      text += c;
    } else {
      text.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return text;
}

std::optional<int> parse_number(std::string_view text) noexcept {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string pmi_escape(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string word = "v";  // never empty: some launchers drop an empty value
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain(byte)) {
      word += c;
    } else {
      word += '%';
      word += digits[byte >> 4];
      word += digits[byte & 15];
    }
  }
  return word;
}

std::optional<std::string> pmi_unescape(std::string_view word) {
  if (!word.starts_with('v')) {
    return std::nullopt;
  }
  std::string bytes;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '%') {
      bytes += word[i];
      continue;
    }
    if (i + 2 >= word.size()) {
      return std::nullopt;
    }
    const int high = hex_digit(word[i + 1]);
    const int low = hex_digit(word[i + 2]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

}  // namespace sinew::boot
