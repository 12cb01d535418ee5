// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/results_json.hpp"

#include "sinew/bench/intervals.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::tool::stats {
namespace {

using formats::json_quoted;

template <class Number>
std::string array_of(const series& samples, Number&& number) {
  std::string out = "[";
  for (const sample& s : samples) {
    out += (out.size() > 1 ? "," : "") + json_number(static_cast<double>(number(s)));
  }
  return out + ']';
}

std::string json_series(const series& samples) {
  const auto line = [](const sample& s) { return s.line_ns; };
  std::string out = "{\"start\":" + array_of(samples, [](const sample& s) { return s.start; }) +
                    ",\"value\":" + array_of(samples, [](const sample& s) { return s.value; });
  if (std::any_of(samples.begin(), samples.end(), [](const auto& s) { return s.line_ns > 0; })) {
    out += ",\"line_ns\":" + array_of(samples, line);
  }
  return out + '}';
}

std::string json_result(const row& r, const std::string& subject, const series& samples) {
  const std::size_t colon = subject.find(':');
  parameters params = r.key.params;
  if (colon != std::string::npos) {
    params.insert(params.begin(),
                  {published(subject) ? "series" : "engine", subject.substr(colon + 1)});
  }
  const summary s = summarise(samples);
  std::string out = "{\"experiment\":" + json_quoted(r.key.experiment) +
                    ",\"case\":" + json_quoted(r.key.case_name) +
                    ",\"params\":" + json_parameters(params) +
                    ",\"subject\":" + json_quoted(subject.substr(0, colon)) +
                    ",\"metric\":" + json_quoted(r.key.metric) +
                    ",\"unit\":" + json_quoted(r.key.unit) + ",\"n\":" + std::to_string(s.n) +
                    ",\"median\":" + json_number(s.median) + ",\"mad\":" + json_number(s.mad) +
                    ",\"min\":" + json_number(s.min) + ",\"max\":" + json_number(s.max);
  if (published(subject)) {
    return out + '}';
  }
  const estimate e = estimate_of(samples);
  return out + ",\"interval\":[" + json_number(e.low) + ',' + json_number(e.high) +
         "],\"samples\":" + json_series(samples) + '}';
}

}  // namespace

std::string json_number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string json_parameters(const parameters& params) {
  std::string out = "{";
  for (const auto& [name, value] : params) {
    if (out.size() > 1) {
      out += ',';
    }
    const auto number = parse_number(value);
    out += json_quoted(name) + ':' + (number ? json_number(*number) : json_quoted(value));
  }
  return out += '}';
}

std::string json_results(const result_set& results) {
  std::string out = "[";
  for (const row& r : results.rows()) {
    for (const auto& [subject, samples] : r.samples) {
      if (!samples.empty()) {
        out += (out.size() > 1 ? ",\n " : "\n ") + json_result(r, subject, samples);
      }
    }
  }
  return out += "\n]";
}

}  // namespace sinew::tool::stats
