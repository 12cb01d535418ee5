// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/calibrate.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/bench/experiment.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/info/reach.hpp"

namespace sinew::tool {
namespace {

using measurements = std::vector<stats::measurement>;

const experiment& experiment_of(std::string_view name) {
  const auto& all = all_experiments();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const auto* e) { return e->name == name; });
  SINEW_ASSERT(found != all.end());
  return **found;
}

[[noreturn]] void fail(std::string_view what, const std::string& why) {
  throw error("the network cannot be measured", std::string(what) + ": " + why,
              "see whether sinew bench latency, rate, bandwidth and overheads run");
}

/// What a program of `sinew bench` prints.
measurements run_experiment(std::string_view name, const start& how, bool pretend) {
  const experiment& e = experiment_of(name);
  const std::optional<subject> ours = find_ours();
  if (!ours) {
    fail(name, "no mpicc.sinew beside this program");
  }
  std::string why;
  std::optional<command> job = e.by.prepare(e, *ours, how, why);
  if (!job) {
    fail(name, why);
  }
  job->timeout_s = 90;
  if (pretend) {
    job->environment.emplace_back("SINEW_FABRIC_NODES", "2");
  }
  const command_result done = run_command(*job);
  if (!done.ok()) {
    fail(name, stats::last_line(done.errors.empty() ? done.output : done.errors));
  }
  measurements all;
  for (const std::string& line : stats::split(done.output, '\n')) {
    auto m = stats::parse_line(line);
    if (m && std::none_of(m->params.begin(), m->params.end(),
                          [](const auto& each) { return each.first == "offset"; })) {
      all.push_back(std::move(*m));  // buffers lie as well as they can
    }
  }
  return all;
}

double median_of(const measurements& all, std::string_view name, std::string_view metric) {
  std::vector<double> values;
  for (const stats::measurement& m : all) {
    if (m.case_name == name && m.metric == metric) {
      values.push_back(m.value);
    }
  }
  if (values.empty()) {
    fail(name, "it has no " + std::string(metric));
  }
  return stats::median_of(std::move(values));
}

/// `over` null: on this machine.
pair_figures measure(const std::shared_ptr<const placement>& over, bool pretend) {
  const auto of = [&](std::string_view experiment, const char* sizes) {
    return run_experiment(experiment, {2, {sizes, "budget_ms=200"}, {}, over}, pretend);
  };
  pair_figures found;
  found.trip_ns = median_of(of("latency", "sizes=8"), "one-way", "latency");
  found.each_ns = 1e3 / median_of(of("rate", "sizes=8"), "window", "rate");
  found.rate = median_of(of("bandwidth", "sizes=1048576"), "uni", "bandwidth");
  const measurements own = of("overheads", "sizes=8");
  found.send_ns = median_of(own, "send", "time");
  found.receive_ns = median_of(own, "receive", "time");
  return found;
}

std::string file_text(const sim::network_speeds& speeds, const std::string& where) {
  return "# Measured by sinew simulate --calibrate " + where +
         ". Read by --network NETWORK,speeds=FILE.\n# ns and GB/s. memory-rate is not measured.\n" +
         sim::to_text(speeds);
}

}  // namespace

// In a stream a rank spends its own time on each message, so that is no more than the stream has
// for one: a single call may last longer than its work in a stream, where messages go together.
sim::network_speeds speeds_of(const pair_figures& between_nodes, const pair_figures& on_a_node,
                              const sim::network_speeds& usual) {
  sim::network_speeds made = usual;
  const double most = std::min(between_nodes.each_ns, between_nodes.trip_ns / 2);
  made.send_overhead = std::min(between_nodes.send_ns, most);
  made.receive_overhead = std::min(between_nodes.receive_ns, most);
  made.gap = between_nodes.each_ns;
  // A simulated network needs a least delay: it is how far ranks may run ahead of each other.
  made.latency = std::max(between_nodes.trip_ns - made.send_overhead - made.receive_overhead,
                          between_nodes.trip_ns / 10);
  made.hop_latency = 0;
  made.link_rate = between_nodes.rate;
  made.injection_rate = between_nodes.rate;
  made.node_latency = on_a_node.trip_ns;
  made.node_rate = on_a_node.rate;
  made.memory_rate = std::max(usual.memory_rate, on_a_node.rate);
  return made;
}

int calibrate(const run_options& options) {
  adopt_orphans();
  const host_choice hosts{options.hosts, options.host_file, options.agent};
  std::shared_ptr<placement> pair, one;
  std::string where = "on one machine";
  if (hosts.given()) {
    const reach_map map = reach_of(hosts);
    SINEW_CHECK(map.hosts.size() >= 2, "the network cannot be measured", "one host is given",
                "name two, like --hosts h1:2,h2:2, or none, to measure this machine");
    for (const std::string& sentence : map.problems()) {
      std::fprintf(stderr, "sinew simulate: %s\n", as_sentence(sentence).c_str());
    }
    if (!map.complete()) {
      return 1;
    }
    pair = std::make_shared<placement>(placement_of(map, hosts.agent, true));
    one = std::make_shared<placement>(pair->first(1));
    one->hosts.front().ranks = 2;
    where = "between " + pair->hosts[0].name + " and " + pair->hosts[1].name + ", by " +
            map.ways[0][1].transports;
  }
  const pair_figures between_nodes = measure(pair, !hosts.given());
  const pair_figures on_a_node = measure(one, false);
  const std::string text =
      file_text(speeds_of(between_nodes, on_a_node, sim::presets().back().speeds), where);
  formats::write_file(options.calibrate, text);
  std::printf("%s", text.c_str());
  return interrupted() ? 130 : 0;
}

}  // namespace sinew::tool
