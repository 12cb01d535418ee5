// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/results_file.hpp"

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/bench/results_json.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::tool {
namespace {

using formats::json_member;
using kind = json_value::kind;

std::string text_of(const json_value& v) {
  return v.what == kind::number ? stats::json_number(v.number) : v.text;
}

const std::string& text_member(const json_value& of, const std::string& file, const char* name) {
  return json_member(of, file, name, kind::text).text;
}

double number_at(const std::vector<json_value>& list, std::size_t at) {
  return at < list.size() && list[at].what == kind::number ? list[at].number : 0;
}

stats::series samples_of(const json_value& one, const std::string& file) {
  const json_value* all = one.find("samples");
  if (all == nullptr) {
    return {stats::sample{json_member(one, file, "median", kind::number).number}};
  }
  const auto& values = json_member(*all, file, "value", kind::array).items;
  const auto& starts = json_member(*all, file, "start", kind::array).items;
  const json_value* lines = all->find("line_ns");
  stats::series found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    found.push_back({number_at(values, i), static_cast<int>(number_at(starts, i)),
                     lines != nullptr ? number_at(lines->items, i) : 0});
  }
  return found;
}

void add_result(results_file& to, const json_value& one) {
  stats::row_key key{text_member(one, to.name, "experiment"),
                     text_member(one, to.name, "case"),
                     {},
                     text_member(one, to.name, "metric"),
                     text_member(one, to.name, "unit")};
  std::string subject = text_member(one, to.name, "subject");
  const json_value& params = json_member(one, to.name, "params", kind::object);
  for (std::size_t i = 0; i < params.names.size(); ++i) {
    const std::string& name = params.names[i];
    const bool of_subject = i == 0 && ((name == "engine" && subject == "sinew") ||
                                       (name == "series" && subject == "paper"));
    if (of_subject) {
      subject += ':' + text_of(params.items[i]);
    } else {
      key.params.emplace_back(name, text_of(params.items[i]));
    }
  }
  for (const stats::sample& s : samples_of(one, to.name)) {
    to.results.add(key, subject, s);
  }
}

}  // namespace

results_file parse_results(std::string_view text, const std::string& name) {
  json_value all = formats::parse_json(text, name);
  results_file file;
  file.name = name;
  const double schema = json_member(all, name, "schema", kind::number).number;
  SINEW_CHECK(schema == 1 || schema == 2, "cannot use " + name,
              "its schema is " + stats::json_number(schema) + ", known are 1 and 2",
              "measure again with this version");
  file.schema = static_cast<int>(schema);
  file.host = json_member(all, name, "host", kind::object);
  if (const json_value* run = all.find("run")) {
    file.run = *run;
  }
  for (const json_value& one : json_member(all, name, "results", kind::array).items) {
    add_result(file, one);
  }
  return file;
}

results_file read_results(const std::string& path) {
  return parse_results(formats::whole_file(path, "sinew bench --json FILE writes one"), path);
}

std::string fact(const json_value& of, std::string_view name) {
  const json_value* found = of.find(name);
  return found == nullptr ? std::string() : text_of(*found);
}

}  // namespace sinew::tool
