#include "sinew/route/route_measure.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/parse.hpp"
#include "sinew/bench_stats.hpp"
#include "sinew/options.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::tool {
namespace {

using namespace sinew::route;

void print(const std::string& name, const char* metric, const char* unit, const std::string& params,
           double value) {
  std::printf("@ %s %s %s %s %.9g\n", name.c_str(), metric, unit, params.c_str(), value);
  std::fflush(stdout);
}

void one_method(const topology& net, const std::string& pattern, method how, double& bound) {
  plan_options o;
  o.how = how;
  const route_plan plan = make_plan(net, make_pattern(net, pattern), o);
  bound = std::max(bound, plan.bound);
  const std::string params =
      "nodes=" + std::to_string(net.nodes()) + ",method=" + method_name(how) + ",bytes=8388608";
  const plan_figures f = figures_of(net, plan, o.costs.chunk);
  print(pattern, "busiest_link", "MB", params, plan.busiest * 1e-6);
  print(pattern, "gap", "1", params, plan.busiest / bound - 1);
  print(pattern, "plan_time", "s", params, plan.seconds);
  print(pattern, "paths_per_job", "1", params, f.job_paths_mean);
  print(pattern, "predicted", "MB/s", params, f.bytes / predict(net, plan, o.costs) * 1e-6);
  simulation_options s;
  print(pattern, "throughput", "MB/s", params, simulate_flows(net, plan, s).throughput() * 1e-6);
}

// Ours first: it proves the bound to which the others are compared. The LP and the load limit are
// left out where their paths alone would take minutes.
void routing(const std::vector<std::string>& nodes) {
  for (const std::string& count : nodes) {
    const topology net = parse_topology("mira:" + count);
    for (const char* pattern : {"disjoint", "overlap", "subset", "incast"}) {
      double bound = 0;
      one_method(net, pattern, method::balanced, bound);
      one_method(net, pattern, method::standard, bound);
      one_method(net, pattern, method::heu_load, bound);
      one_method(net, pattern, method::heu_chunk, bound);
      if (net.nodes() <= 1024) one_method(net, pattern, method::opt, bound);
    }
  }
}

void chunks(const std::vector<std::string>& nodes, const std::vector<std::string>& sizes,
            std::uint32_t step) {
  for (const std::string& count : nodes) {
    const topology net = parse_topology("mira:" + count);
    for (std::uint32_t id = 0; id < experiments; id += step) {
      const std::string name = "experiment:" + std::to_string(id);
      const route_plan plan = make_plan(net, make_pattern(net, name));
      for (const std::string& size : sizes) {
        simulation_options s;
        s.costs.chunk = static_cast<std::uint64_t>(base::parse_bytes(size).value_or(65536));
        const simulation done = simulate_chunks(net, plan, s);
        print(std::string(experiment_kind(id)) + "-" + std::to_string(id), "throughput", "MB/s",
              "nodes=" + count + ",method=sinew,chunk=" + std::to_string(s.costs.chunk),
              done.throughput() * 1e-6);
        if (done.chunk_hops > 100000) {
          print("simulator", "rate", "Mhop/s", "nodes=" + count + ",chunk=" + size,
                static_cast<double>(done.chunk_hops) / done.host_seconds * 1e-6);
        }
      }
    }
  }
}

}  // namespace

int measure_routes(int argc, char** argv) {
  std::vector<std::string> nodes = {"512", "1024"};
  std::vector<std::string> sizes = {"64k"};
  std::string what;
  std::uint32_t step = 1;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("nodes=")) {
      nodes = base::split(word.substr(6), ',');
    } else if (word.starts_with("sizes=")) {
      sizes = base::split(word.substr(6), ',');
    } else if (word.starts_with("step=")) {
      step = static_cast<std::uint32_t>(whole_number("step", word.substr(5), 1));
    } else {
      what = word;
    }
  }
  if (what == "routing") {
    routing(nodes);
  } else if (what == "chunks") {
    chunks(nodes, sizes, step);
  } else {
    throw usage_failure("--measure needs routing or chunks");
  }
  return 0;
}

}  // namespace sinew::tool
