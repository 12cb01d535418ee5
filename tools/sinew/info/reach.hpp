// SPDX-License-Identifier: BSD-3-Clause
// Which host reaches which, by what, and how fast: measured by a small job on them.
#pragma once

#include <string>
#include <vector>

namespace sinew::tool {

/// Hosts as a user names them.
struct host_choice {
  std::string list;   ///< "h1:2,h2"; empty: not given
  std::string file;   ///< a host file
  std::string agent;  ///< --rsh; empty: the launcher's own choice
  [[nodiscard]] bool given() const noexcept { return !list.empty() || !file.empty(); }
};

struct reach_map {
  struct host {
    std::string name;
    int slots = 1;
    std::string boot = {};  ///< of the kernel that runs it
    int processors = 0;
    std::string problem = {};  ///< why it takes part in nothing; empty: it does
  };
  struct way {
    double us = 0;  ///< one way of 8 bytes; 0: not measured
    std::string transports = {};
    std::string problem = {};
  };
  std::vector<host> hosts;
  std::vector<std::vector<way>> ways;  ///< from, to

  /// All hosts take part, and reach each other.
  [[nodiscard]] bool complete() const;
  /// What is wrong, a sentence for each host or pair; several hosts may have the same.
  [[nodiscard]] std::vector<std::string> problems() const;
  /// Some hosts are one machine: its processors are shared.
  [[nodiscard]] bool share_processors() const;
};

/// Starts jobs on the hosts by `sinew run`. Where the job on all of them fails, each is tried
/// alone, then the others together, and if that fails too, two by two. Suspends for seconds. Throws
/// usage_failure if the hosts cannot be read. Cold.
[[nodiscard]] reach_map reach_of(const host_choice& hosts);

/// A table: a line and a column for each host, sentences below.
[[nodiscard]] std::string reach_text(const reach_map& map);

}  // namespace sinew::tool
