// SPDX-License-Identifier: BSD-3-Clause
// What ucx_perftest is asked and answers. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sinew/bench/stats.hpp"

namespace sinew::tool {

/// Its result, from the lines that it prints with -f -v. Columns are found by their names, which
/// stay while their order may change.
struct perftest_result {
  double latency_ns = 0;    ///< the median of half round trips
  double bandwidth_gb = 0;  ///< 1e9 bytes a second
  double rate_m = 0;        ///< million messages a second
};
[[nodiscard]] std::optional<perftest_result> parse_perftest(const std::string& output);

/// `text` as one word for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

/// How two hosts measure with it.
struct perftest_plan {
  std::string agent;           ///< words for a shell
  std::string server, client;  ///< hosts
  int port = 0;
  std::vector<std::string> server_cpu, client_cpu;  ///< "-c N", or nothing
  std::vector<std::string> settings;                ///< NAME=VALUE
  std::string test;                                 ///< tag_lat, ...
  int bytes = 8;
  int iterations = 1000;
  bool threads = false;  ///< as a program with many threads asks for
};

/// A line for a shell of this machine: starts the server by the agent, then the client, which tries
/// again until the server listens; prints what the client does.
[[nodiscard]] std::string perftest_line(const perftest_plan& plan);

}  // namespace sinew::tool
