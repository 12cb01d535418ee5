// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

namespace sinew::tool {
namespace {

const option* find(std::string_view name, const std::vector<option>& table) {
  for (const option& each : table) {
    if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) {
      return &each;
    }
  }
  return nullptr;
}

// Letters to insert, drop or replace; two neighbours that changed places count once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

// Words of `text` in lines of at most `width`, each after the first indented.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > indent && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

[[noreturn]] void unknown(std::string_view name, const std::vector<option>& table,
                          const std::string& remark) {
  std::vector<std::string_view> names;
  for (const option& each : table) {
    names.insert(names.end(), each.names.begin(), each.names.end());
  }
  const std::string_view near = nearest(name, names);
  throw usage_failure("unknown option " + std::string(name) +
                      (!remark.empty() ? "; " + remark
                       : near.empty()  ? ""
                                       : "; did you mean " + std::string(near) + "?"));
}

struct named {
  const option* what = nullptr;
  std::string_view value;
  bool attached = false;  // the value is part of the word
};

named name_and_value(std::string_view word, const std::vector<option>& table,
                     std::string (*elsewhere)(std::string_view option)) {
  if (const option* whole = find(word, table); whole != nullptr) {
    return {whole, {}, false};
  }
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const bool has_value = word.starts_with("--") && equals != std::string_view::npos;
  if (const option* each = has_value ? find(name, table) : nullptr; each != nullptr) {
    if (each->value.empty()) {
      throw usage_failure(std::string(name) + " takes no value");
    }
    return {each, word.substr(equals + 1), true};
  }
  const std::string remark = elsewhere != nullptr ? elsewhere(name) : "";
  // "-lx" with a flag -l is a mistake, not a flag with a value.
  const std::size_t glued = glued_name(word, [&table](std::string_view front) {
    const option* const each = find(front, table);
    return each != nullptr && takes_word(*each);
  });
  if (glued == 0 || !remark.empty()) {
    unknown(name, table, remark);
  }
  return {find(word.substr(0, glued), table), word.substr(glued), true};
}

}  // namespace

std::string left_column(const option& each) {
  std::string text;
  for (const std::string_view name : each.names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return each.value.empty() ? text : text + (takes_word(each) ? " " : "") + std::string(each.value);
}

bool takes_word(const option& each) { return !each.value.empty() && !each.value.starts_with('['); }

std::size_t glued_name(std::string_view word,
                       const std::function<bool(std::string_view)>& is_name) {
  if (word.starts_with("--")) {
    return 0;
  }
  for (std::size_t length = word.size(); length-- > 2;) {
    if (is_name(word.substr(0, length))) {
      return length;
    }
  }
  return 0;
}

std::size_t parse_options(std::span<const std::string_view> arguments,
                          const std::vector<option>& table,
                          std::string (*elsewhere)(std::string_view option)) {
  std::size_t at = 0;
  while (at < arguments.size()) {
    const std::string_view word = arguments[at];
    if (word == "--") {
      return at + 1;
    }
    if (word.size() < 2 || word[0] != '-') {
      return at;
    }
    ++at;
    const named named_option = name_and_value(word, table, elsewhere);
    std::string_view value = named_option.value;
    const option& found = *named_option.what;
    if (takes_word(found) && !named_option.attached) {
      if (at == arguments.size()) {
        throw usage_failure(std::string(word) + " needs a value: " + std::string(found.value));
      }
      value = arguments[at++];
    }
    found.apply(value);
  }
  return at;
}

void read_words(std::span<const std::string_view> words, const std::vector<option>& table,
                const std::function<void(std::string_view word)>& take) {
  while (!words.empty()) {
    const std::size_t taken = parse_options(words, table);
    if (taken == 0) {
      take(words.front());
    }
    words = words.subspan(std::max<std::size_t>(taken, 1));
  }
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view each : candidates) {
    const std::size_t distance = edit_distance(word, each);
    // One letter after a dash is near to every other such option.
    if (distance < least && distance + 1 < each.size()) {
      least = distance;
      best = each;
    }
  }
  return best;
}

int whole_number(std::string_view what, std::string_view text, int least) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < least) {
    throw usage_failure(std::string(what) + " needs a whole number of at least " +
                        std::to_string(least) + ", not \"" + std::string(text) + "\"");
  }
  return value;
}

double seconds(std::string_view what, std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !(value > 0) || value > 1e9) {
    throw usage_failure(std::string(what) + " needs a number of seconds above 0, not \"" + copy +
                        "\"");
  }
  return value;
}

std::string help_text(const command_page& page) {
  constexpr std::size_t indent = 30;
  std::string text = "sinew " + std::string(page.name) + ": " + std::string(page.summary) +
                     "\n\nusage: sinew " + std::string(page.name) + " " +
                     std::string(page.synopsis) + "\n";
  if (!page.options.empty()) {
    text += "\n";
  }
  for (const option& each : page.options) {
    std::string left = "  " + left_column(each);
    if (left.size() + 2 > indent) {
      left += "\n" + std::string(indent, ' ');
    } else {
      left.resize(indent, ' ');
    }
    text += left + wrap(each.about, indent, 100) + "\n";
  }
  if (!page.text.empty()) {
    text += "\n" + std::string(page.text) + "\n";
  }
  return text;
}

}  // namespace sinew::tool
