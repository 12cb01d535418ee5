// SPDX-License-Identifier: BSD-3-Clause
// sinew route: plans, compares, simulates and shows many paths for one message.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/bench/stats.hpp"
#include "sinew/commands.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/progress_line.hpp"
#include "sinew/route/default_route.hpp"
#include "sinew/route/interchange.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/route_files.hpp"
#include "sinew/route/route_measure.hpp"
#include "sinew/route/route_picture.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::tool {
namespace {

using namespace sinew::route;

struct request {
  std::string action;
  std::string file;  // of `show`
  std::string topology = "4x4x4x8x2";
  std::string pattern = "disjoint";
  pattern_options jobs;
  plan_options plan;
  std::vector<method> methods;
  simulation_options simulation;
  std::string failed;
  std::vector<std::uint32_t> nodes;   // `compare` along partitions of Mira
  std::vector<std::uint64_t> chunks;  // `simulate` along sizes of chunks
  std::string output;
  route_files files;
  std::string beside;  // loads that `show` draws too
  bool fluid = false;
  bool help = false;
  std::vector<std::string> given;  // options by their long names
  std::optional<double> link_bandwidth, injection, latency;

  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(given.begin(), given.end(), name) != given.end();
  }
};

std::uint64_t byte_count(std::string_view name, std::string_view text) {
  const auto value = base::parse_bytes(text);
  if (!value) {
    throw usage_failure(std::string(name) + " needs a number of bytes, such as 64k or 8M, not \"" +
                        std::string(text) + "\"");
  }
  return static_cast<std::uint64_t>(*value);
}

std::uint64_t chunk_bytes(std::string_view name, std::string_view text) {
  const std::uint64_t bytes = byte_count(name, text);
  if (bytes == 0) {
    throw usage_failure(std::string(name) + " needs 1 byte or more, not 0");
  }
  return bytes;
}

double bandwidth(std::string_view name, std::string_view text) {
  const auto value = parse_bandwidth(text);
  if (!value) {
    throw usage_failure(std::string(name) +
                        " needs a bandwidth above 0, such as 1.8e9, 125MBps or 10Gbps, not \"" +
                        std::string(text) + "\"");
  }
  return *value;
}

double percentage(std::string_view name, std::string_view text) {
  const auto value = stats::parse_number(text);
  if (!value || *value < 0 || *value > 1000) {
    throw usage_failure(std::string(name) + " needs percent from 0 to 1000, not \"" +
                        std::string(text) + "\"");
  }
  return *value / 100;
}

std::vector<option> shape_options(request& r) {
  return {
      {{"-t", "--topology"},
       "SHAPE",
       "4x4x4x8x2, mesh:8x8, hypercube:10, fattree:2;4,4;1,2;1,2, dragonfly:3,4;4,3;5,1;2, "
       "mira:1024 or a file: edges, JSON, GraphML, SimGrid's, ibnetdiscover's",
       [&r](std::string_view v) { r.topology = v; }},
      {{"-p", "--pattern"},
       "NAME",
       "disjoint, overlap, subset, incast, aggregation, random, alltoall, alltoallv, halo, "
       "experiment:0..90, or a file of jobs: lines, or CSV (list or matrix)",
       [&r](std::string_view v) { r.pattern = v; }},
      {{"-b", "--bytes"},
       "N",
       "bytes of each job (8M)",
       [&r](std::string_view v) { r.jobs.bytes = byte_count("--bytes", v); }},
      {{"--ranks-per-node"},
       "N",
       "consecutive ranks share a node (1)",
       [&r](std::string_view v) {
         r.jobs.ranks_per_node = static_cast<std::uint32_t>(whole_number("--ranks-per-node", v, 1));
       }},
      {{"--group"},
       "N",
       "ranks per group of aggregation (8)",
       [&r](std::string_view v) {
         r.jobs.group = static_cast<std::uint32_t>(whole_number("--group", v, 1));
       }},
      {{"--failed"},
       "LIST",
       "failed links to avoid: 0-1,5-9",
       [&r](std::string_view v) { r.failed = v; }},
  };
}

std::vector<option> simulation_table(request& r) {
  return {
      {{"--chunk"},
       "N",
       "bytes of a chunk (64k)",
       [&r](std::string_view v) { r.plan.costs.chunk = chunk_bytes("--chunk", v); }},
      {{"--chunks"},
       "LIST",
       "simulate: one after the other; -o draws the curve",
       [&r](std::string_view v) {
         r.chunks.clear();
         for (const std::string& size : base::split(v, ',')) {
           r.chunks.push_back(chunk_bytes("--chunks", size));
         }
       }},
      {{"--nodes"},
       "LIST",
       "compare: partitions of Mira by their nodes (512 to 32768); -o draws the curves",
       [&r](std::string_view v) {
         r.nodes.clear();
         for (const std::string& count : base::split(v, ',')) {
           r.nodes.push_back(static_cast<std::uint32_t>(whole_number("--nodes", count, 1)));
         }
       }},
      {{"--buffers"},
       "N",
       "chunks that a node holds for others, by hops behind them (64)",
       [&r](std::string_view v) {
         r.simulation.buffers = static_cast<std::uint32_t>(whole_number("--buffers", v, 1));
       }},
      {{"--round-robin"},
       "",
       "own and forwarded chunks take turns (else: forwarded first)",
       [&r](std::string_view) { r.simulation.rule = queue_rule::round_robin; }},
      {{"--every-hop"},
       "",
       "store and forward at every node, not only where the default route is left",
       [&r](std::string_view) { r.simulation.every_hop = true; }},
      {{"--fluid"},
       "",
       "simulate max-min fair flows instead of chunks",
       [&r](std::string_view) { r.fluid = true; }},
  };
}

// Speeds of a file's network count unless options say others.
std::vector<option> machine_table(request& r) {
  return {
      {{"--link-bandwidth"},
       "N",
       "bytes a second of one cable and direction: 1.8e9, 125MBps, 10Gbps (1.8e9)",
       [&r](std::string_view v) { r.link_bandwidth = bandwidth("--link-bandwidth", v); }},
      {{"--injection-bandwidth"},
       "N",
       "bytes a second that one node sends in all, or receives (16e9)",
       [&r](std::string_view v) { r.injection = bandwidth("--injection-bandwidth", v); }},
      {{"--latency"},
       "TIME",
       "of a hop: 45ns, 1us, 50e-6 (45ns)",
       [&r](std::string_view v) {
         r.latency = parse_latency(v);
         if (!r.latency) {
           throw usage_failure("--latency needs a time, such as 45ns or 1e-6, not \"" +
                               std::string(v) + "\"");
         }
       }},
  };
}

// What other programs read.
std::vector<option> file_table(request& r) {
  return {
      {{"--loads"},
       "FILE",
       "plan, show: bytes on each link as CSV",
       [&r](std::string_view v) { r.files.loads = v; }},
      {{"--jobs"},
       "FILE",
       "plan, show: who sends how much to whom, a row for each pair, as CSV",
       [&r](std::string_view v) { r.files.jobs = v; }},
      {{"--matrix"},
       "FILE",
       "plan, show: the same as a matrix",
       [&r](std::string_view v) { r.files.matrix = v; }},
      {{"--splits"},
       "FILE",
       "plan, show: ratios of ECMP, by destination and node, as CSV",
       [&r](std::string_view v) { r.files.splits = v; }},
      {{"--beside"},
       "FILE",
       "show -o: also draws loads from CSV: counters of a machine, another planner's",
       [&r](std::string_view v) { r.beside = v; }},
      {{"--graphml"},
       "FILE",
       "plan, show: the network with the plan's loads as GraphML",
       [&r](std::string_view v) { r.files.graphml = v; }},
  };
}

std::vector<option> option_table(request& r) {
  std::vector<option> table = shape_options(r);
  const std::vector<option> rest = {
      {{"-m", "--method"},
       "LIST",
       "default, adaptive, heu-load, heu-chunk, opt, sinew",
       [&r](std::string_view v) {
         r.methods.clear();
         for (const std::string& name : base::split(v, ',')) {
           r.methods.push_back(parse_method(name));
         }
       },
       "default|adaptive|heu-load|heu-chunk|opt|sinew"},
      {{"--max-paths"},
       "N",
       "most paths of one job, 1 to 16 (12, or what a better plan of another method has)",
       [&r](std::string_view v) {
         r.plan.most_paths = static_cast<std::uint32_t>(whole_number("--max-paths", v, 1));
         if (r.plan.most_paths > 16) {
           throw usage_failure("--max-paths needs 1 to 16, not " + std::string(v) +
                               ": a job keeps at most 16 paths");
         }
       }},
      {{"--gap"},
       "PERCENT",
       "good enough: so near to what is proven unavoidable (0.5)",
       [&r](std::string_view v) { r.plan.gap = percentage("--gap", v); }},
      {{"--seed"},
       "N",
       "draws other random choices",
       [&r](std::string_view v) {
         r.plan.seed = r.jobs.seed = static_cast<std::uint64_t>(whole_number("--seed", v, 0));
       }},
      {{"-o", "--output"},
       "FILE",
       "plan: JSON; show, compare --nodes, simulate --chunks: an SVG picture",
       [&r](std::string_view v) { r.output = v; }},
      {{"-h", "--help"}, "", "explains", [&r](std::string_view) { r.help = true; }},
  };
  table.insert(table.end(), rest.begin(), rest.end());
  for (const auto& more : {machine_table(r), simulation_table(r), file_table(r)}) {
    table.insert(table.end(), more.begin(), more.end());
  }
  return table;
}

constexpr std::array<std::string_view, 4> actions = {"plan", "compare", "simulate", "show"};

[[noreturn]] void no_effect(std::string_view option, const std::string& why) {
  throw usage_failure(std::string(option) + " has no effect " + why);
}

struct restricted {
  std::string_view option;
  std::string_view actions;  // where it means something
};
constexpr restricted limits[] = {
    {"--nodes", "compare"},
    {"--chunks", "simulate"},
    {"--buffers", "simulate"},
    {"--round-robin", "simulate"},
    {"--every-hop", "simulate"},
    {"--fluid", "simulate"},
    {"--beside", "show"},
    {"--loads", "plan show"},
    {"--jobs", "plan show"},
    {"--matrix", "plan show"},
    {"--splits", "plan show"},
    {"--graphml", "plan show"},
    {"--topology", "plan compare simulate"},
    {"--pattern", "plan compare simulate"},
    {"--bytes", "plan compare simulate"},
    {"--ranks-per-node", "plan compare simulate"},
    {"--group", "plan compare simulate"},
    {"--method", "plan compare simulate"},
    {"--max-paths", "plan compare simulate"},
    {"--gap", "plan compare simulate"},
    {"--seed", "plan compare simulate"},
};

// Whoever gives an option means something by it: what would change nothing is refused.
void refuse_idle_options(const request& r) {
  for (const restricted& one : limits) {
    if (!r.has(one.option) || one.actions.find(r.action) != one.actions.npos) {
      continue;
    }
    no_effect(one.option, "with " + r.action + "; it is for " + std::string(one.actions));
  }
  if (r.action == "plan" && r.methods.size() > 1) {
    throw usage_failure("plan makes one plan, and --method names " +
                        std::to_string(r.methods.size()) + " methods; compare takes several");
  }
  if (r.action == "compare" && r.nodes.empty() && r.has("--output")) {
    no_effect("--output", "with compare unless --nodes says along what to draw");
  }
  if (!r.beside.empty() && !r.has("--output")) {
    no_effect("--beside", "without -o, which draws");
  }
  if (!r.nodes.empty() && r.has("--topology")) {
    no_effect("--topology", "beside --nodes, which names partitions of Mira");
  }
  for (const std::string_view name : {"--buffers", "--round-robin"}) {
    if (r.fluid && r.has(name)) {
      no_effect(name, "with --fluid, which knows no chunks");
    }
  }
  if (r.has("--group") && r.pattern != "aggregation") {
    no_effect("--group", "on the pattern " + r.pattern + "; it is for aggregation");
  }
  const auto& known = pattern_names();
  const bool named = r.pattern.starts_with("experiment:") ||
                     std::find(known.begin(), known.end(), r.pattern) != known.end();
  if (r.has("--bytes") && !named) {
    no_effect("--bytes", "on the jobs of a file, which has its own");
  }
  const bool ours = r.methods.empty() || std::find(r.methods.begin(), r.methods.end(),
                                                   method::balanced) != r.methods.end();
  for (const std::string_view name : {"--max-paths", "--gap"}) {
    if (r.has(name) && !ours) {
      no_effect(name, "without the method sinew");
    }
  }
}

request read_command_line(int argc, char** argv) {
  request r;
  std::vector<option> table = option_table(r);
  for (option& one : table) {
    one.apply = [&r, name = std::string(one.names.back()),
                 apply = std::move(one.apply)](std::string_view value) {
      r.given.push_back(name);
      apply(value);
    };
  }
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  std::vector<std::string> plain;
  for (std::size_t at = 0; at < words.size();) {
    at += parse_options(std::span(words).subspan(at), table);
    if (at < words.size()) {
      plain.emplace_back(words[at++]);
    }
  }
  if (r.help) {
    return r;
  }
  if (plain.empty()) {
    throw usage_failure("what? plan, compare, simulate or show");
  }
  r.action = plain[0];
  if (std::find(actions.begin(), actions.end(), r.action) == actions.end()) {
    const std::string_view near = nearest(r.action, actions);
    throw usage_failure("unknown action " + r.action +
                        (near.empty() ? "; it is plan, compare, simulate or show"
                                      : "; did you mean " + std::string(near) + "?"));
  }
  if (r.action == "show") {
    if (plain.size() != 2) {
      throw usage_failure("show needs one plan's file");
    }
    r.file = plain[1];
  } else if (plain.size() > 1) {
    throw usage_failure(r.action + " takes no word \"" + plain[1] + "\"");
  }
  refuse_idle_options(r);
  return r;
}

// The request with the speeds of this network: the file's, unless options say others.
request on(const topology& net, request r) {
  machine& costs = r.plan.costs;
  costs = machine_of(net, costs);
  if (r.link_bandwidth) {
    costs.link_bandwidth = *r.link_bandwidth;
  }
  if (r.injection) {
    costs.injection_bandwidth = *r.injection;
  }
  if (r.latency) {
    costs.hop_latency = *r.latency;
  }
  r.simulation.costs = costs;
  return r;
}

topology network(const request& r) {
  topology net = parse_topology(r.topology);
  if (r.failed.empty()) {
    return net;
  }
  std::vector<std::pair<node_id, node_id>> dead;
  for (const std::string& one : base::split(r.failed, ',')) {
    const auto ends = base::split(one, '-');
    const auto a = ends.size() == 2 ? base::parse_integer(ends[0]) : std::nullopt;
    const auto b = ends.size() == 2 ? base::parse_integer(ends[1]) : std::nullopt;
    if (!a || !b || *a < 0 || *b < 0 || *a > UINT32_MAX || *b > UINT32_MAX) {
      throw usage_failure("--failed needs links such as 0-1,5-9, not \"" + one + "\"");
    }
    dead.emplace_back(static_cast<node_id>(*a), static_cast<node_id>(*b));
    dead.emplace_back(static_cast<node_id>(*b), static_cast<node_id>(*a));
  }
  return net.without(dead);
}

using lines = std::vector<std::vector<std::string>>;

std::string mega(double bytes) { return stats::short_number(bytes * 1e-6); }

const std::vector<std::string> head = {"method", "MB/s",    "paths",      "per job", "max",
                                       "hop-MB", "max",     "copies",     "max",     "link paths",
                                       "max",    "link MB", "busiest MB", "gap %",   "plan s"};

std::string label_of(const route_plan& plan) {
  std::string text = method_name(plan.how);
  if (plan.taken_from != plan.how) {
    text += " (" + std::string(method_name(plan.taken_from)) + ")";
  }
  return text;
}

// The columns of the original's table; means stand before their maxima. MB is 10^6 bytes.
std::vector<std::string> row(const topology& net, const route_plan& plan, const machine& costs,
                             double seconds) {
  const plan_figures f = figures_of(net, plan, costs.chunk);
  const auto n = [](double v) { return stats::short_number(v); };
  return {label_of(plan),
          seconds > 0 ? n(f.bytes / seconds * 1e-6) : "-",
          std::to_string(f.paths),
          n(f.job_paths_mean),
          std::to_string(f.job_paths_max),
          mega(f.hop_bytes_mean),
          mega(f.hop_bytes_max),
          n(f.copies_mean),
          n(f.copies_max),
          n(f.link_paths_mean),
          std::to_string(f.link_paths_max),
          mega(f.link_bytes_mean),
          mega(plan.busiest),
          plan.bound > 0 ? n(plan.gap() * 100) : "-",
          n(plan.seconds)};
}

std::vector<double> seconds_of(const topology& net, const std::vector<route_plan>& plans,
                               const machine& costs) {
  std::vector<const route_plan*> all;
  for (const route_plan& plan : plans) {
    all.push_back(&plan);
  }
  const bool simulated = are_quickly_simulated(all);
  std::vector<double> seconds;
  for (const route_plan& plan : plans) {
    seconds.push_back(expected_seconds(net, plan, costs, simulated));
  }
  return seconds;
}

std::string table_of(const topology& net, const std::vector<route_plan>& plans,
                     const machine& costs) {
  const std::vector<double> seconds = seconds_of(net, plans, costs);
  lines table = {head};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    table.push_back(row(net, plans[i], costs, seconds[i]));
  }
  return stats::render_table(table);
}

route_plan one_plan(const topology& net, const job_list& jobs, const request& r, method how) {
  plan_options o = r.plan;
  o.how = how;
  const progress_line shown(std::string("sinew route: planning by ") + method_name(how) + " on " +
                            net.name());
  return make_plan(net, jobs, o);
}

void print_bound(const route_plan& plan) {
  if (plan.bound > 0) {
    std::printf("no plan has less than %s MB on its busiest link: %s\n", mega(plan.bound).c_str(),
                plan.bound_by.c_str());
  }
}

std::string size_of(double x) { return base::bytes_text(static_cast<std::int64_t>(x)); }

void draw(const request& r, const curve_words& words, const std::vector<curve>& curves) {
  if (!r.output.empty()) {
    formats::write_file(r.output, curve_picture(words, curves));
  }
}

/// The same jobs by several methods. All are held against one bound, the best that is known: the
/// gap of a plan does not depend on which others stand beside it.
struct compared_plans {
  std::vector<route_plan> plans;
  route_plan proven;  ///< has the bound
};

compared_plans plans_of(const topology& net, const job_list& jobs, const request& r,
                        const std::vector<method>& methods) {
  compared_plans out;
  const auto learn = [&out](const route_plan& plan) {
    if (plan.bound > out.proven.bound) {
      out.proven = plan;
    }
  };
  for (const method how : methods) {
    out.plans.push_back(one_plan(net, jobs, r, how));
    learn(out.plans.back());
  }
  if (std::find(methods.begin(), methods.end(), method::balanced) == methods.end()) {
    learn(one_plan(net, jobs, r, method::balanced));  // whoever plans less proves less
  }
  for (route_plan& plan : out.plans) {
    plan.bound = out.proven.bound;
    plan.bound_by = out.proven.bound_by;
  }
  return out;
}

// The same pattern on partitions of growing size.
int compare_sizes(const request& asked) {
  std::vector<method> methods = asked.methods;
  if (methods.empty()) {
    methods = {method::default_route, method::heu_load, method::balanced};
  }
  std::vector<curve> curves;
  for (const method how : methods) {
    curves.push_back({method_name(how), {}});
  }
  lines table = {{"nodes", "method", "busiest MB", "gap %", "expected MB/s", "took s"}};
  for (const std::uint32_t nodes : asked.nodes) {
    request one = asked;
    one.topology = "mira:" + std::to_string(nodes);
    const topology net = network(one);
    const request r = on(net, one);
    const job_list jobs = make_pattern(net, r.pattern, r.jobs);
    const compared_plans all = plans_of(net, jobs, r, methods);
    const std::vector<double> seconds = seconds_of(net, all.plans, r.plan.costs);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const route_plan& plan = all.plans[m];
      const double rate = figures_of(net, plan, r.plan.costs.chunk).bytes / seconds[m] * 1e-6;
      curves[m].points.emplace_back(nodes, rate);
      table.push_back({std::to_string(nodes), label_of(plan), mega(plan.busiest),
                       plan.bound > 0 ? stats::short_number(plan.gap() * 100) : "-",
                       stats::short_number(rate), stats::short_number(plan.seconds)});
    }
  }
  std::printf("%s", stats::render_table(table).c_str());
  draw(asked, {asked.pattern + ": throughput by nodes", "nodes", "expected MB/s"}, curves);
  return 0;
}

int compare(const request& asked) {
  if (!asked.nodes.empty()) {
    return compare_sizes(asked);
  }
  const topology net = network(asked);
  const request r = on(net, asked);
  const job_list jobs = make_pattern(net, r.pattern, r.jobs);
  std::vector<method> methods = r.methods;
  if (methods.empty()) {
    methods = {method::default_route, method::adaptive, method::heu_load,
               method::heu_chunk,     method::opt,      method::balanced};
  }
  const compared_plans all = plans_of(net, jobs, r, methods);
  std::printf("%s on %s, %zu jobs of %s bytes\n\n%s\n", r.pattern.c_str(), net.name().c_str(),
              jobs.size(), base::bytes_text(static_cast<std::int64_t>(r.jobs.bytes)).c_str(),
              table_of(net, all.plans, r.plan.costs).c_str());
  print_bound(all.proven);
  return 0;
}

int plan_action(const request& asked) {
  const topology net = network(asked);
  const request r = on(net, asked);
  const job_list jobs = make_pattern(net, r.pattern, r.jobs);
  const method how = r.methods.empty() ? method::balanced : r.methods[0];
  const compared_plans all = plans_of(net, jobs, r, {how});
  const route_plan& plan = all.plans[0];
  std::printf("%s\n", table_of(net, all.plans, r.plan.costs).c_str());
  print_bound(plan);
  if (!r.output.empty()) {
    formats::write_file(r.output, plan_to_json(net, plan));
  }
  write_files(r.files, net, plan);
  return 0;
}

int simulate_action(const request& asked) {
  const topology net = network(asked);
  const request r = on(net, asked);
  const job_list jobs = make_pattern(net, r.pattern, r.jobs);
  std::vector<method> methods = r.methods;
  if (methods.empty()) {
    methods = {method::default_route, method::balanced};
  }
  lines table = {{"method", "chunk", "predicted ms", "simulated ms", "MB/s", "chunk-hops",
                  "most held", "took s"}};
  std::vector<std::uint64_t> chunks = r.chunks;
  if (chunks.empty()) {
    chunks = {r.plan.costs.chunk};
  }
  std::vector<curve> curves;
  for (const method how : methods) {
    const route_plan plan = one_plan(net, jobs, r, how);
    curves.push_back({method_name(how), {}});
    for (const std::uint64_t chunk : chunks) {
      simulation_options o = r.simulation;
      o.costs.chunk = chunk;
      const progress_line shown("sinew route: simulating chunks of " +
                                size_of(static_cast<double>(chunk)));
      const simulation s = r.fluid ? simulate_flows(net, plan, o) : simulate_chunks(net, plan, o);
      curves.back().points.emplace_back(chunk, s.throughput() * 1e-6);
      table.push_back({method_name(how), size_of(static_cast<double>(chunk)),
                       stats::short_number(predict(net, plan, o.costs) * 1e3),
                       stats::short_number(s.seconds * 1e3),
                       stats::short_number(s.throughput() * 1e-6), std::to_string(s.chunk_hops),
                       std::to_string(s.most_held), stats::short_number(s.host_seconds)});
    }
  }
  std::printf("%s", stats::render_table(table).c_str());
  draw(r,
       {r.pattern + " on " + net.name() + ": throughput by size of chunks", "bytes of a chunk",
        "simulated MB/s"},
       curves);
  return 0;
}

// The default routes of the same jobs, and what a file says that links carried.
std::vector<named_loads> loads_beside(const topology& net, const route_plan& plan,
                                      const std::string& file) {
  std::vector<named_loads> out;
  if (plan.how != method::default_route) {
    try {
      plan_options o;
      o.how = method::default_route;
      out.push_back({"default routes", link_loads(net, make_plan(net, plan.jobs, o))});
    } catch (const error& failure) {
      std::printf("default routes are not drawn: %s\n", failure.what());
    }
  }
  if (!file.empty()) {
    out.push_back({file, loads_from_csv(net, formats::whole_file(file), file)});
  }
  return out;
}

int show(const request& r) {
  const std::string text = formats::whole_file(r.file);
  request shape = r;
  shape.topology = network_of_plan(text, r.file);
  const topology net = network(shape);
  const route_plan plan = plan_from_json(net, text, r.file);
  const machine costs = on(net, r).plan.costs;
  std::printf("%s\n", table_of(net, {plan}, costs).c_str());
  print_bound(plan);
  if (!r.output.empty()) {
    formats::write_file(r.output, load_picture(net, plan, loads_beside(net, plan, r.beside)));
  }
  write_files(r.files, net, plan);
  return 0;
}

}  // namespace

command_page route_page() {
  static request unused;
  return {"route",
          "plans many paths for each message, and predicts what they bring",
          "plan|compare|simulate|show [PLAN.json] [options]",
          "plan makes a plan (-o plan.json); compare sets methods side by side; simulate carries\n"
          "plans out in virtual time; show tells of a plan's file and draws its loads (-o x.svg).\n"
          "MB are 10^6 bytes. \"gap\" is how far the busiest link is above what is proven\n"
          "unavoidable.",
          option_table(unused),
          {"plan", "compare", "simulate", "show"}};
}

int route_main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--measure") {
    return measure_routes(argc - 2, argv + 2);
  }
  const request r = read_command_line(argc, argv);
  if (r.help) {
    std::fputs(help_text(route_page()).c_str(), stdout);
    return 0;
  }
  if (r.action == "plan") {
    return plan_action(r);
  }
  if (r.action == "compare") {
    return compare(r);
  }
  if (r.action == "simulate") {
    return simulate_action(r);
  }
  return show(r);
}

}  // namespace sinew::tool
