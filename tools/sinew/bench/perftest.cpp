// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/perftest.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::tool {
namespace {

constexpr double mebibyte = 1 << 20;  // its MB

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += ' ' + shell_word(word);
  }
  return text;
}

// Ends a host's part at once, with a sentence, where the program is missing.
std::string unless_missing(const std::string& host) {
  return "command -v ucx_perftest >/dev/null || { echo 'there is no ucx_perftest on '" +
         shell_word(host) + "' (Debian: ucx-utils)' >&2; exit 127; }; ";
}

}  // namespace

std::optional<perftest_result> parse_perftest(const std::string& output) {
  std::vector<std::string> names, values;
  for (const std::string& line : stats::split(output, '\n')) {
    if (line.starts_with("iterations,")) {
      names = stats::split(line, ',');
    } else if (!names.empty()) {
      const auto fields =
          stats::split(line.substr(std::min(line.find_first_not_of(' '), line.size())), ',');
      if (fields.size() == names.size() && stats::parse_number(fields[0])) {
        values = fields;
      }
    }
  }
  const auto column = [&](std::string_view name) -> std::optional<double> {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (names[i].ends_with(name)) {
        return stats::parse_number(values[i]);
      }
    }
    return std::nullopt;
  };
  const auto us = column("_percentile_lat"), mb = column("overall_bw"), mr = column("overall_mr");
  if (!us || !mb || !mr) {
    return std::nullopt;
  }
  return perftest_result{*us * 1e3, *mb * mebibyte / 1e9, *mr / 1e6};
}

std::string shell_word(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + '\'';
}

std::string perftest_line(const perftest_plan& plan) {
  SINEW_EXPECT(plan.port > 0 && plan.iterations > 0 && !plan.test.empty());
  // A time limit on each host: an agent that is ended does not always end what it has started.
  const std::string program = "env" + joined(plan.settings) + " timeout 60 ucx_perftest";
  const std::string port = " -p " + std::to_string(plan.port);
  const std::string server = unless_missing(plan.server) + program + port + joined(plan.server_cpu);
  const std::string client =
      unless_missing(plan.client) + "n=0; until " + program + ' ' + shell_word(plan.server) + port +
      joined(plan.client_cpu) + " -t " + plan.test + " -s " + std::to_string(plan.bytes) + " -n " +
      std::to_string(plan.iterations) + " -w " + std::to_string(std::max(plan.iterations / 10, 1)) +
      (plan.threads ? " -M multi" : "") +
      " -f -v; do n=$((n+1)); test $n -lt 40 || exit 1; sleep 0.1; done";
  return plan.agent + ' ' + shell_word(plan.server) + ' ' + shell_word(server) + " >/dev/null & " +
         plan.agent + ' ' + shell_word(plan.client) + ' ' + shell_word(client) +
         "; code=$?; test $code = 0 || kill $! 2>/dev/null; wait; exit $code";
}

}  // namespace sinew::tool
