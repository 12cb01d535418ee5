// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/formats/csv.hpp"

#include <algorithm>

#include "sinew/formats/text.hpp"

namespace sinew::formats {
namespace {

constexpr std::string_view blanks = " \t\r";

// Takes one field and the comma behind it off the line; false where the line ended with it.
bool take_field(std::string_view& line, const std::string& where, std::size_t number,
                std::string& field) {
  field.clear();
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  if (line.starts_with('"')) {
    while (true) {
      const std::size_t end = line.find('"', 1);
      if (end == line.npos) {
        bad_line(where, number, "a field in quotes does not end on its line");
      }
      field += line.substr(1, end - 1);
      line.remove_prefix(end + 1);
      if (!line.starts_with('"')) {
        break;
      }
      field += '"';
    }
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (!line.empty() && line[0] != ',') {
      bad_line(where, number, "behind a field in quotes comes a comma");
    }
  } else {
    const std::string_view raw = line.substr(0, line.find(','));
    field = trimmed(raw);
    line.remove_prefix(raw.size());
  }
  const bool more = !line.empty();
  line.remove_prefix(more ? 1 : 0);
  return more;
}

}  // namespace

void for_each_row(std::string_view text, const std::string& where,
                  const std::function<void(std::size_t, const std::vector<std::string>&)>& take) {
  std::vector<std::string> fields;
  std::string field;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with('#') || trimmed(line).empty()) {
      continue;
    }
    fields.clear();
    bool more = true;
    while (more) {
      more = take_field(line, where, number, field);
      fields.push_back(field);
    }
    take(number, fields);
  }
}

std::string csv_field(std::string_view text) {
  if (trimmed(text).size() == text.size() && text.find_first_of(",\"\n#") == text.npos) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c == '\n' ? ' ' : c);
  }
  return out + '"';
}

}  // namespace sinew::formats
