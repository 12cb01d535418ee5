// SPDX-License-Identifier: BSD-3-Clause
// What a daemon has to know to start its ranks: all that the launcher was told, and where it
// stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/hosts.hpp"

namespace sinew::tool {

/// The daemon reads the launcher's own words by the same table of options, in the same directory
/// and environment, so that both mean the same.
struct host_orders {
  std::string job;
  int node = 0;
  std::string directory;
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::vector<int> ranks;  ///< of each program
  host_map hosts;
  std::int64_t host_timeout_ms = 0;
  std::vector<int> parents;  ///< by node: see host_tree.hpp
  std::string agent;         ///< by which daemons are started; empty: ssh
};

[[nodiscard]] std::string pack(const host_orders& orders);
/// Nothing if it is not of that form.
[[nodiscard]] std::optional<host_orders> unpack_orders(std::string_view bytes);

}  // namespace sinew::tool
