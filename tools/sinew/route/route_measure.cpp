// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/route_measure.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/parse.hpp"
#include "sinew/bench/stats.hpp"
#include "sinew/options.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::tool {
namespace {

using namespace sinew::route;

constexpr const char* four_patterns[] = {"disjoint", "overlap", "subset", "incast"};

void print(const std::string& name, const char* metric, const char* unit, const std::string& params,
           double value) {
  std::printf("@ %s %s %s %s %.9g\n", name.c_str(), metric, unit, params.c_str(), value);
  std::fflush(stdout);
}

/// A row of rows: the same jobs planned by several methods. Ours first: it proves the bound with
/// which all are compared. Returns the plans' figures as lines.
class comparison {
 public:
  comparison(const topology& net, std::string name, std::string params)
      : net_(net), name_(std::move(name)), params_(std::move(params)) {}

  // The original's planners try several of the equally short paths that they are fed, as whenever
  // they are asked, so that they are as strong as published; their time is that of one.
  void add(const job_list& jobs, plan_options o, const std::string& more = "") {
    double seconds = 0;
    if (o.how == method::heu_load || o.how == method::heu_chunk || o.how == method::opt) {
      plan_options once = o;
      once.orders = 1;
      seconds = make_plan(net_, jobs, once).seconds;
    }
    const route_plan plan = make_plan(net_, jobs, o);
    seconds = seconds > 0 ? seconds : plan.seconds;
    bound_ = std::max(bound_, plan.bound);
    const plan_figures f = figures_of(net_, plan, o.costs.chunk);
    const std::string params = params_ + ",method=" + method_name(o.how) + more;
    simulation_options s;
    s.costs = o.costs;
    print(name_, "busiest_link", "MB", params, plan.busiest * 1e-6);
    if (bound_ > 0) {
      print(name_, "bound", "MB", params, bound_ * 1e-6);
      print(name_, "gap", "1", params, plan.busiest / bound_ - 1);
    }
    print(name_, "plan_time", "s", params, seconds);
    print(name_, "paths_per_job", "1", params, f.job_paths_mean);
    print(name_, "hops_max", "1", params, static_cast<double>(f.hops_max));
    print(name_, "hops_mean", "1", params, f.hops_mean);
    print(name_, "used_link", "MB", params, f.link_bytes_mean * 1e-6);
    print(name_, "predicted", "MB/s", params, f.bytes / predict(net_, plan, o.costs) * 1e-6);
    print(name_, "throughput", "MB/s", params, simulate_flows(net_, plan, s).throughput() * 1e-6);
    if (with_distribution_) {
      print_distribution(plan, params);
    }
  }
  /// From now on also how many links carry how much.
  void with_distribution() { with_distribution_ = true; }

 private:
  // Links that carry so many MiB or more.
  void print_distribution(const route_plan& plan, const std::string& params) const {
    const std::vector<double> loads = link_loads(net_, plan);
    for (int mib = 1; mib <= 64; mib *= 2) {
      const double least = mib * 1048576.0 * (1 - 1e-9);  // sums of shares are not exact
      const auto links =
          std::count_if(loads.begin(), loads.end(), [least](double l) { return l >= least; });
      if (links > 0) {
        print(name_ + "-loads", "links", "1", params + ",mib=" + std::to_string(mib),
              static_cast<double>(links));
      }
    }
  }

  const topology& net_;
  std::string name_;
  std::string params_;
  double bound_ = 0;
  bool with_distribution_ = false;
};

// `fed`: paths that the original's planners get for a job; 0 where all jobs share 50 * 1024.
void compare(const topology& net, const std::string& name, const std::string& params,
             const job_list& jobs, const std::vector<method>& methods, std::uint32_t fed = 0) {
  comparison rows(net, name, params);
  for (const method how : methods) {
    plan_options o;
    o.how = how;
    o.fed = fed;
    rows.add(jobs, o);
  }
}

std::string nodes_word(const topology& net) { return "nodes=" + std::to_string(net.nodes()); }

void routing(const std::vector<std::string>& nodes, const std::vector<std::string>& patterns) {
  for (const std::string& count : nodes) {
    const topology net = parse_topology("mira:" + count);
    for (const std::string& pattern : patterns) {
      compare(net, pattern, nodes_word(net) + ",bytes=8388608", make_pattern(net, pattern),
              {method::balanced, method::default_route, method::heu_load, method::heu_chunk,
               method::opt},
              pattern == "disjoint" ? 0 : 50);  // the original shares in this pattern alone
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

// The sweeps of the original, each along one quantity, at `nodes` nodes.
const std::vector<method> swept = {method::balanced, method::default_route, method::heu_load};

void sweep_distance(const topology& net) {
  const std::uint32_t p = net.nodes();
  for (std::uint32_t first = p / 16; first + p / 16 <= p; first += p / 8) {
    compare(net, "distance", nodes_word(net) + ",first=" + std::to_string(first),
            make_many_to_many(net, {p / 16, 0, p / 16, first}), swept);
  }
}

void sweep_destinations(const topology& net) {
  const std::uint32_t p = net.nodes();
  for (std::uint32_t n = p / 16; n <= p / 2; n *= 2) {
    compare(net, "destinations", nodes_word(net) + ",destinations=" + std::to_string(n),
            make_many_to_many(net, {p / 16, 0, n, p - n}), swept);
  }
}

void sweep_bytes(const topology& net) {
  for (std::uint64_t bytes = 512 << 10; bytes <= 8 << 20; bytes *= 2) {
    pattern_options o;
    o.bytes = bytes;
    compare(net, "bytes", nodes_word(net) + ",bytes=" + std::to_string(bytes),
            make_pattern(net, "disjoint", o), swept);
  }
}

void sweep_ranks(const topology& net) {
  for (std::uint32_t ranks = 1; ranks <= 8; ranks *= 2) {
    pattern_options o;
    o.bytes = (8u << 20) / ranks;
    o.ranks_per_node = ranks;
    compare(net, "ranks-per-node", nodes_word(net) + ",ranks=" + std::to_string(ranks),
            make_pattern(net, "disjoint", o), swept);
  }
}

// What each planner makes of fewer paths: k shortest for the baselines, at most k used for ours.
void sweep_fed(const topology& net) {
  const job_list jobs = make_pattern(net, "disjoint");
  comparison rows(net, "paths-fed", nodes_word(net));
  for (const std::uint32_t most : {16u, 12u, 8u, 4u, 2u}) {
    plan_options o;
    o.most_paths = most;
    rows.add(jobs, o, ",k=" + std::to_string(most));
  }
  for (const std::uint32_t k : {4u, 8u, 16u, 32u, 50u}) {
    for (const method how : {method::heu_load, method::heu_chunk, method::opt}) {
      plan_options o;
      o.how = how;
      o.fed = k;
      rows.add(jobs, o, ",k=" + std::to_string(k));
    }
  }
}

// How the limit of paths on a link, up to which the heuristic adds paths, changes its plans.
void sweep_maxload(const topology& net) {
  for (const char* pattern : {"disjoint", "overlap", "incast"}) {
    const job_list jobs = make_pattern(net, pattern);
    comparison rows(net, "maxload", nodes_word(net) + ",pattern=" + pattern);
    rows.add(jobs, {});
    for (std::uint32_t limit = 1; limit <= 32; limit *= 2) {
      plan_options o;
      o.how = method::heu_load;
      o.load_limit = limit;
      rows.add(jobs, o, ",maxload=" + std::to_string(limit));
    }
  }
}

void sweep_groups(const topology& net) {
  for (std::uint32_t group = 4; group <= 64; group *= 2) {
    pattern_options o;
    o.bytes = 1 << 20;
    o.group = group;
    const job_list jobs = make_pattern(net, "aggregation", o);
    comparison rows(net, "aggregation", nodes_word(net) + ",group=" + std::to_string(group));
    if (group == 64) {  // the largest, as published
      rows.with_distribution();
    }
    for (const method how : swept) {
      plan_options options;
      options.how = how;
      rows.add(jobs, options);
    }
  }
}

const std::map<std::string, std::function<void(const topology&)>> sweeps = {
    {"distance", sweep_distance}, {"destinations", sweep_destinations},
    {"bytes", sweep_bytes},       {"ranks-per-node", sweep_ranks},
    {"paths-fed", sweep_fed},     {"aggregation", sweep_groups},
    {"maxload", sweep_maxload},
};

void sweep(const std::vector<std::string>& nodes, const std::vector<std::string>& which) {
  for (const std::string& count : nodes) {
    const topology net = parse_topology("mira:" + count);
    for (const auto& [name, run] : sweeps) {
      if (which.empty() || std::find(which.begin(), which.end(), name) != which.end()) {
        run(net);
      }
    }
  }
}

}  // namespace

int measure_routes(int argc, char** argv) {
  std::vector<std::string> nodes = {"512", "1024"};
  std::vector<std::string> sizes = {"64k"};
  std::vector<std::string> patterns(std::begin(four_patterns), std::end(four_patterns));
  std::vector<std::string> which;
  std::string what;
  std::uint32_t step = 1;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("nodes=")) {
      nodes = base::split(word.substr(6), ',');
    } else if (word.starts_with("sizes=")) {
      sizes = base::split(word.substr(6), ',');
    } else if (word.starts_with("patterns=")) {
      patterns = base::split(word.substr(9), ',');
    } else if (word.starts_with("along=")) {
      which = base::split(word.substr(6), ',');
    } else if (word.starts_with("step=")) {
      step = static_cast<std::uint32_t>(whole_number("step", word.substr(5), 1));
    } else {
      what = word;
    }
  }
  if (what == "routing") {
    routing(nodes, patterns);
  } else if (what == "chunks") {
    chunks(nodes, sizes, step);
  } else if (what == "sweep") {
    sweep(nodes, which);
  } else {
    throw usage_failure("--measure needs routing, chunks or sweep");
  }
  return 0;
}

}  // namespace sinew::tool
