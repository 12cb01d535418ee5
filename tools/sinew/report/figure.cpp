// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/report/figure.hpp"

#include <algorithm>
#include <filesystem>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::tool {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words = stats::split(text, ' ');
  std::erase(words, "");
  return words;
}

// What follows the first `count` words.
std::string after(std::string_view text, int count) {
  for (; count > 0; --count) {
    const std::size_t blank = text.find(' ');
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return std::string(text);
}

/// Reads one file; keeps the line for messages.
class figures_reader {
 public:
  figures_reader(const std::string& file, const std::string& experiment)
      : file_(file), experiment_(experiment) {}

  void take(std::string_view line) {
    ++line_;
    const std::string_view text = formats::trimmed(line);
    if (text.empty() || text.front() == '#') {
      return;
    }
    const std::size_t colon = text.find(':');
    need(colon != text.npos, "\"name: value\" expected");
    const std::string name(text.substr(0, colon));
    const std::string value(formats::trimmed(text.substr(colon + 1)));
    if (name == "figure") {
      finish();
      found_.emplace_back();
      found_.back().name = value;
      found_.back().experiment = experiment_;
      return;
    }
    need(!found_.empty(), "a figure begins with \"figure:\"");
    set(found_.back(), name, value);
  }

  std::vector<figure> all() {
    finish();
    return std::move(found_);
  }

 private:
  void need(bool condition, const std::string& why) const {
    SINEW_CHECK(condition, file_ + ":" + std::to_string(line_) + " is malformed", why,
                "tools/sinew/report/figure.hpp describes the format");
  }

  void finish() const {
    if (!found_.empty()) {
      const figure& f = found_.back();
      need(!f.case_name.empty() && !f.x_parameter.empty() && !f.y.label.empty() &&
               !f.system.empty() && !f.title.empty() && !f.repeat.empty(),
           "figure " + f.name + " lacks system, title, rows, x, y or repeat");
    }
  }

  [[nodiscard]] scale_kind kind_of(const std::string& word) const {
    static const std::vector<std::string> words = {"linear", "log2", "log10", "words"};
    const auto at = std::find(words.begin(), words.end(), word);
    need(at != words.end(), "an axis is linear, log2, log10 or words, not " + word);
    return static_cast<scale_kind>(at - words.begin());
  }

  [[nodiscard]] double number_of(const std::string& word) const {
    const auto number = stats::parse_number(word);
    need(number.has_value(), "a number expected, not " + word);
    return *number;
  }

  void set_limits(figure& f, const std::string& value) const {
    for (const std::string& part : stats::split(value, ',')) {
      const auto words = words_of(part);
      need(words.size() == 3 && (words[0] == "x" || words[0] == "y"), "limits: x LOW HIGH, y ...");
      axis& which = words[0] == "x" ? f.x : f.y;
      which.low = number_of(words[1]);
      which.high = number_of(words[2]);
      need(*which.low < *which.high, "an axis ends above its beginning");
    }
  }

  void set(figure& f, const std::string& name, const std::string& value) const {
    const auto words = words_of(value);
    if (name == "system") {
      f.system = value;
    } else if (name == "title") {
      f.title = value;
    } else if (name == "published") {
      f.published = value;
    } else if (name == "differs") {
      f.differs = value;
    } else if (name == "ours") {
      f.ours = value;
    } else if (name == "repeat") {
      f.repeat = value;
    } else if (name == "rows") {
      need(words.size() == 2, "rows: case and metric");
      f.case_name = words[0];
      f.metric = words[1];
    } else if (name == "where") {
      const auto params = stats::parse_parameters(value);
      need(params.has_value(), "where: name=value,...");
      f.where = *params;
    } else if (name == "lines") {
      f.lines = words;
    } else if (name == "subjects") {
      f.subjects = words;
    } else if (name == "limits") {
      set_limits(f, value);
    } else if (name == "x") {
      need(words.size() >= 3, "x: parameter, axis, label");
      f.x_parameter = words[0];
      f.x.kind = kind_of(words[1]);
      f.x.label = after(value, 2);
    } else if (name == "y") {
      need(words.size() >= 3, "y: axis, scale, label");
      f.y.kind = kind_of(words[0]);
      f.y_scale = number_of(words[1]);
      f.y.label = after(value, 2);
    } else {
      need(false, "unknown name " + name);
    }
  }

  const std::string& file_;
  const std::string& experiment_;
  std::size_t line_ = 0;
  std::vector<figure> found_;
};

const std::string* value_in(const stats::parameters& params, const std::string& name) {
  const auto found = std::find_if(params.begin(), params.end(),
                                  [&name](const auto& p) { return p.first == name; });
  return found == params.end() ? nullptr : &found->second;
}

}  // namespace

bool figure::has(const stats::row_key& key) const {
  if (key.experiment != experiment || (case_name != "*" && key.case_name != case_name) ||
      key.metric != metric || !x_of(key)) {
    return false;
  }
  return std::all_of(where.begin(), where.end(), [&key](const auto& wanted) {
    const std::string* value = value_in(key.params, wanted.first);
    return wanted.second.empty() ? value == nullptr : value != nullptr && *value == wanted.second;
  });
}

std::optional<std::string> figure::x_of(const stats::row_key& key) const {
  if (x_parameter == "case") {
    return key.case_name.substr(key.case_name.rfind('-') + 1);
  }
  const std::string* value = value_in(key.params, x_parameter);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string figure::line_of(const stats::row_key& key) const {
  std::string text;
  for (const std::string& parameter : lines) {
    if (const std::string* value = value_in(key.params, parameter)) {
      text += (text.empty() ? "" : " ") + parameter + '=' + *value;
    }
  }
  return text;
}

std::vector<figure> parse_figures(std::string_view text, const std::string& file,
                                  const std::string& experiment) {
  figures_reader reader(file, experiment);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.all();
}

std::vector<figure> all_figures(const std::string& bench) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(bench)) {
    if (fs::exists(entry.path() / "figures.txt")) {
      files.push_back(entry.path() / "figures.txt");
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<figure> all;
  for (const fs::path& path : files) {
    for (figure& f :
         parse_figures(formats::whole_file(path), path, path.parent_path().filename().string())) {
      all.push_back(std::move(f));
    }
  }
  return all;
}

}  // namespace sinew::tool
