// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/simulate/simulation_options.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"

namespace sinew::tool {
namespace {

void choose_compute(run_options& options, std::string_view text) {
  const std::optional<double> scale =
      text == "none" ? std::optional(0.0) : base::parse_double(text);
  if (!scale.has_value() || !(*scale >= 0 && *scale <= 1e6)) {
    throw usage_failure("--compute takes none, or what a second of the processor lasts, not \"" +
                        std::string(text) + "\"");
  }
  options.compute = *scale;
}

void choose_seed(run_options& options, std::string_view text) {
  const std::optional<std::int64_t> seed = base::parse_integer(text);
  if (!seed.has_value() || *seed < 0) {
    throw usage_failure("--seed takes a whole number, not \"" + std::string(text) + "\"");
  }
  options.seed = static_cast<std::uint64_t>(*seed);
}

void choose_faults(run_options& options, std::string_view text) {
  if (!base::is_choice(text, sim::fault_choices)) {
    throw usage_failure("--faults takes ranks, hosts, links or slow, not \"" + std::string(text) +
                        "\"");
  }
  options.draws = text;
}

void add_fault(run_options& options, std::string_view text) {
  try {
    options.faults.push_back(sim::parse_fault(text));
  } catch (const error& e) {
    throw usage_failure(e.what());
  }
}

void add_matches(run_options& options, std::string_view text) {
  try {
    for (const std::string& each : base::split(text, ',')) {
      options.matches.push_back(p2p::parse_match(each));
    }
  } catch (const error& e) {
    throw usage_failure(e.what());
  }
}

}  // namespace

std::vector<option> simulation_options(run_options& options) {
  return {
      {{"--simulate"},
       "",
       "the job runs in virtual time, its ranks on the nodes of a simulated network",
       [&options](std::string_view) { options.simulate = true; }},
      {{"--network"},
       "NETWORK[,NAME=VALUE]",
       "simulated: the network, as sinew route takes it, and its speeds; see sinew simulate",
       [&options](std::string_view v) { options.network = v; }},
      {{"--calibrate"},
       "FILE",
       "simulated: runs no program; measures this machine, or the first two of --hosts, and writes "
       "their speeds for --network speeds=FILE",
       [&options](std::string_view v) { options.calibrate = v; }},
      {{"--ranks-per-node"},
       "N",
       "simulated: ranks that share a node, and its adapter (default: 1)",
       [&options](std::string_view v) {
         options.ranks_per_node = whole_number("--ranks-per-node", v, 1);
       }},
      {{"--seed"},
       "S",
       "simulated: varies delays and orders, the same for the same S (default: 0, nothing)",
       [&options](std::string_view v) { choose_seed(options, v); }},
      {{"--compute"},
       "none|SCALE",
       "simulated: computing takes no time (the default), or SCALE times the processor's",
       [&options](std::string_view v) { choose_compute(options, v); }},
      {{"--picture"},
       "FILE",
       "simulated: a picture of what each link has carried (SVG)",
       [&options](std::string_view v) { options.picture = v; }},
      {{"--runs"},
       "N",
       "simulated: so many runs with other seeds, until one ends otherwise (sinew explore)",
       [&options](std::string_view v) { options.runs = whole_number("--runs", v, 1); }},
      {{"--same-output"},
       "",
       "of these runs: one that prints something else ends otherwise, too",
       [&options](std::string_view) { options.same_output = true; }},
      {{"--faults"},
       "ranks|hosts|links|slow",
       "of these runs: in each a rank dies, or all of a node, or a link fails or gets slow, or a "
       "rank is slow for a while",
       [&options](std::string_view v) { choose_faults(options, v); },
       sim::fault_choices},
      {{"--fault"},
       "kill:RANK@NS|slow:RANK@NS-NS+NS|link:NODE-NODE@NS[-NS[/N]]",
       "simulated: a rank dies at that time; each of its turns meanwhile begins so much later; a "
       "link carries nothing from then on, or meanwhile, or only an N-th (repeatable)",
       [&options](std::string_view v) { add_fault(options, v); }},
      {{"--match"},
       "RANK:NUMBER=SENDER,...",
       "simulated: whose message the NUMBER-th receive or probe from any source on RANK meets",
       [&options](std::string_view v) { add_matches(options, v); }},
      {{"--preempt"},
       "",
       "simulated: time goes on without a rank that computes for 0.1 s without a call",
       [&options](std::string_view) { options.preempt = true; }},
  };
}

void check_simulation(const run_options& options) {
  const run_options usual;
  const bool of_simulation =
      !options.network.empty() || options.seed != usual.seed || options.compute != usual.compute ||
      options.preempt || options.runs != usual.runs || options.same_output ||
      !options.draws.empty() || !options.faults.empty() || !options.matches.empty() ||
      !options.picture.empty() || options.ranks_per_node != usual.ranks_per_node ||
      !options.calibrate.empty();
  if (of_simulation && !options.simulate) {
    throw usage_failure(
        "--network, --calibrate, --ranks-per-node, --seed, --compute, --runs, --fault, --match and "
        "--preempt need --simulate");
  }
  if (!options.report.empty() && options.runs != 0) {
    throw usage_failure("--report is of one job, not of the runs of sinew explore");
  }
  if (!options.draws.empty() && options.runs == 0) {
    throw usage_failure("--faults is for the runs of sinew explore; --fault names one of one run");
  }
  if (options.simulate && options.calibrate.empty() &&
      (!options.hosts.empty() || !options.host_file.empty())) {
    throw usage_failure("a simulated job runs on this machine: leave out --hosts and --hostfile");
  }
}

}  // namespace sinew::tool
