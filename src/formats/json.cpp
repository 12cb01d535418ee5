// SPDX-License-Identifier: BSD-3-Clause
// RapidJSON reads; what it tells becomes values with their lines.
#include "sinew/formats/json.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "sinew/base/sentence.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::formats {
namespace {

constexpr std::size_t deepest = 32;

/// Hears of each value when the stream stands behind its first token, which ends on the line where
/// the value began. False stops the reader; refused() says why.
class tree_builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, tree_builder> {
 public:
  tree_builder(std::string_view text, const rapidjson::MemoryStream& stream)
      : text_(text), stream_(stream) {}

  [[nodiscard]] std::size_t line_at(std::size_t offset) {
    const auto begin = text_.begin();
    line_ +=
        static_cast<std::size_t>(std::count(begin + static_cast<std::ptrdiff_t>(counted_),
                                            begin + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
    return line_;
  }
  [[nodiscard]] const char* refused() const noexcept { return refused_; }
  [[nodiscard]] json_value take() { return std::move(root_); }

  bool Null() {
    add(json_value::kind::null);
    return true;
  }
  bool Bool(bool truth) {
    add(json_value::kind::boolean).truth = truth;
    return true;
  }
  bool RawNumber(const char* digits, rapidjson::SizeType length, bool /*copy*/) {
    double& number = add(json_value::kind::number).number;
    const bool read = std::from_chars(digits, digits + length, number).ec == std::errc{};
    return read || refuse("no double holds this number");
  }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    add(json_value::kind::text).text.assign(text, length);
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    open_.back()->names.emplace_back(text, length);
    return true;
  }
  bool StartObject() { return open(json_value::kind::object); }
  bool StartArray() { return open(json_value::kind::array); }
  bool EndObject(rapidjson::SizeType /*members*/) { return close(); }
  bool EndArray(rapidjson::SizeType /*items*/) { return close(); }

 private:
  json_value& add(json_value::kind what) {
    json_value& value = open_.empty() ? root_ : open_.back()->items.emplace_back();
    value.what = what;
    value.line = line_at(stream_.Tell());
    return value;
  }
  bool open(json_value::kind what) {
    // Stays where it is: nothing is added beside it while it is open.
    open_.push_back(&add(what));
    return open_.size() <= deepest || refuse("nested too deeply");
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool refuse(const char* why) {
    refused_ = why;
    return false;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
  const char* refused_ = nullptr;
  json_value root_;
  std::vector<json_value*> open_;
};

}  // namespace

const json_value* json_value::find(std::string_view name) const noexcept {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

json_value parse_json(std::string_view text, const std::string& where) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  tree_builder builder(text, stream);
  const rapidjson::ParseResult read =
      rapidjson::Reader().Parse<rapidjson::kParseNumbersAsStringsFlag>(stream, builder);
  std::string_view why;
  if (read.IsError()) {
    why = builder.refused() != nullptr ? builder.refused() : GetParseError_En(read.Code());
  } else if (stream.Tell() != text.size()) {  // the reader takes a zero byte for the text's end
    why = "a zero byte follows the value";
  }
  if (!why.empty()) {
    bad_line(where, builder.line_at(stream.Tell()), std::string(as_clause(why)));
  }
  return builder.take();
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
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

}  // namespace sinew::formats
