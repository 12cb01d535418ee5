// SPDX-License-Identifier: BSD-3-Clause
// The rounds of `sinew bench`: the same small programs under every subject, in turns, so that
// whatever else the machine does hits all of them alike.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sinew/bench/experiment.hpp"
#include "sinew/info/reach.hpp"

namespace sinew::tool {

struct bench_options {
  std::vector<const experiment*> experiments;
  request asked;
  host_choice hosts;  ///< over which to measure; not given: this machine
  /// Of an experiment that was named: its cases, one "" for all of them.
  std::map<const experiment*, std::vector<std::string>> cases;
  std::string json;
  std::string peers = "auto";
  std::string network;             ///< ours runs in virtual time on this one; empty: really
  int rounds = 0;                  ///< 0: as the experiment says
  std::vector<std::string> words;  ///< the command line, for the file
  bool help = false;
};

/// Measures, prints the tables, writes the file. Returns an exit code. Suspends. Cold.
int run_experiments(const bench_options& o);

}  // namespace sinew::tool
