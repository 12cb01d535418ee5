#include "sinew/base/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew {
namespace {

constexpr int deepest = 32;

[[noreturn]] void bad_line(const std::string& where, std::size_t line, const std::string& why) {
  throw error(where + ":" + std::to_string(line) + " is malformed", why);
}

// A code point below 0x10000 in UTF-8.
std::string utf8(unsigned code) {
  SINEW_EXPECT(code < 0x10000);
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  if (code < 0x800) {
    return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
  }
  return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

class reader {
 public:
  reader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  json_value document() {
    json_value value = any(0);
    blanks();
    if (at_ < text_.size()) {
      fail("something follows the value");
    }
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { bad_line(where_, line_, why); }

  void blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
      }
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
        return;
      }
    }
  }

  char peek() {
    blanks();
    if (at_ >= text_.size()) {
      fail("the text ends too early");
    }
    return text_[at_];
  }

  bool take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  void need(char c) {
    if (!take(c)) {
      fail(std::string("'") + c + "' expected");
    }
  }

  void word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) {
      fail("no JSON value");
    }
    at_ += expected.size();
  }

  json_value any(int depth) {
    if (depth > deepest) {
      fail("nested too deeply");
    }
    json_value value;
    const char c = peek();
    value.line = line_;
    if (c == '{') {
      object(value, depth);
    } else if (c == '[') {
      array(value, depth);
    } else if (c == '"') {
      value.what = json_value::kind::text;
      value.text = string();
    } else if (c == 't' || c == 'f') {
      value.what = json_value::kind::boolean;
      value.truth = c == 't';
      word(value.truth ? "true" : "false");
    } else if (c == 'n') {
      word("null");
    } else {
      value.what = json_value::kind::number;
      const char* begin = text_.data() + at_;
      const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value.number);
      if (failed != std::errc{} || !std::isfinite(value.number)) {
        fail("no JSON value");
      }
      at_ += static_cast<std::size_t>(end - begin);
    }
    return value;
  }

  void object(json_value& value, int depth) {
    value.what = json_value::kind::object;
    need('{');
    if (take('}')) {
      return;
    }
    do {
      if (peek() != '"') {
        fail("a member's name expected");
      }
      value.names.push_back(string());
      need(':');
      value.items.push_back(any(depth + 1));
    } while (take(','));
    need('}');
  }

  void array(json_value& value, int depth) {
    value.what = json_value::kind::array;
    need('[');
    if (take(']')) {
      return;
    }
    do {
      value.items.push_back(any(depth + 1));
    } while (take(','));
    need(']');
  }

  // The four digits after "\u"; leaves `at_` on the last.
  std::string code_point() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_ + 1, 4);
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (failed != std::errc{} || end != digits.data() + 4 || (code >= 0xd800 && code < 0xe000)) {
      fail("an escape that is not read here");
    }
    at_ += 4;
    return utf8(code);
  }

  std::string string() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      char c = text_[at_];
      if (c == '\n') {
        fail("a string ends at its line's end");
      }
      if (c == '\\') {
        if (++at_ >= text_.size()) {
          break;
        }
        c = text_[at_];
        switch (c) {
          case 'n':
            c = '\n';
            break;
          case 't':
            c = '\t';
            break;
          case '"':
          case '\\':
          case '/':
            break;
          case 'u':
            out += code_point();
            continue;
          default:
            fail("an escape that is not read here");
        }
      }
      out += c;
    }
    if (at_ >= text_.size()) {
      fail("a string without end");
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

const json_value* json_value::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return &items[i];
    }
  }
  return nullptr;
}

json_value parse_json(std::string_view text, const std::string& where) {
  return reader(text, where).document();
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      if (c == '"' || c == '\\') {
        out += '\\';
      }
      out += c;
    }
  }
  return out + '"';
}

std::uint64_t json_whole(const json_value& value, const std::string& where, const char* what,
                         double most) {
  const bool good = value.what == json_value::kind::number && value.number >= 0 &&
                    value.number <= most && value.number == std::floor(value.number);
  if (!good) {
    char text[96];
    std::snprintf(text, sizeof text, "%s must be a whole number in 0..%.0f", what, most);
    bad_line(where, value.line, text);
  }
  return static_cast<std::uint64_t>(value.number);
}

const json_value& json_member(const json_value& value, const std::string& where, const char* name,
                              json_value::kind what) {
  const json_value* found = value.find(name);
  if (found == nullptr || found->what != what) {
    bad_line(where, value.line, std::string("\"") + name + "\" is missing or of another kind");
  }
  return *found;
}

}  // namespace sinew
