// SPDX-License-Identifier: BSD-3-Clause
// Several hosts to measure on: how the launchers of all subjects start the same ranks there.
#pragma once

#include <string>
#include <vector>

#include "sinew/bench/process.hpp"
#include "sinew/bench/subjects.hpp"
#include "sinew/info/reach.hpp"

namespace sinew::tool {

/// Which ranks run where, and by what they reach each other.
struct placement {
  struct host {
    std::string name;
    int ranks = 1;
  };
  std::vector<host> hosts;
  std::string agent = {};      ///< --rsh; empty: each launcher's own choice
  std::string script = {};     ///< a program that calls the agent, for launchers that want one
  std::string interface = {};  ///< of this machine, towards the hosts; empty: not known
  std::string devices = {};    ///< as UCX_NET_DEVICES has them: "eth0"
  bool tcp = false;            ///< the hosts reach each other by tcp alone
  bool one_machine = false;    ///< some hosts share processors
  bool each_its_core = false;  ///< each host has as many processors as ranks

  [[nodiscard]] int ranks() const;
  /// The first `count` of the hosts, with one rank each.
  [[nodiscard]] placement first(std::size_t count) const;
  /// "h1:2,h2:2", which all launchers read.
  [[nodiscard]] std::string list() const;
};

/// Of hosts that all reach each other. `pair`: one rank on each of the first two. Pure but for
/// looking up the first host's address. Cold.
[[nodiscard]] placement placement_of(const reach_map& map, const std::string& agent, bool pair);

/// What UCX is told, so that all use the network that ours uses: NAME=VALUE. `local`: ranks of one
/// host reach each other by UCX too.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ucx_settings(const placement& on,
                                                                            bool local);

/// The command that starts `program` on the ranks of `on`. Where hosts share processors no launcher
/// can know which are free, so rank r is bound to processor r modulo their number by
/// place_rank_main(). `plain` as in launch_command().
[[nodiscard]] command launch_over(const placement& on, const subject& who,
                                  const std::string& program, const std::vector<std::string>& words,
                                  bool plain);

/// `sinew bench --place-rank PROGRAM ...`: binds itself by the rank that the launcher's variables
/// tell, then becomes the program. Returns only if that fails.
int place_rank_main(int argc, char** argv);

/// A program in a folder of its own that calls the agent with its arguments; gone with this object.
class agent_script {
 public:
  /// Throws base's error if it cannot be written.
  explicit agent_script(const std::string& agent);
  ~agent_script();
  agent_script(const agent_script&) = delete;
  agent_script& operator=(const agent_script&) = delete;
  [[nodiscard]] std::string path() const { return folder_ + "/agent"; }

 private:
  std::string folder_;
};

}  // namespace sinew::tool
