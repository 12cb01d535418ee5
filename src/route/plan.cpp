#include "sinew/route/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "balanced.hpp"
#include "baselines.hpp"
#include "bounds.hpp"
#include "normal_jobs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/route/default_route.hpp"

namespace sinew::route {
namespace {

constexpr std::array<const char*, 6> names = {"default",   "adaptive", "heu-load",
                                              "heu-chunk", "opt",      "sinew"};

split split_by(const topology& net, const job_list& jobs, const plan_options& o, proof& bound) {
  switch (o.how) {
    case method::standard:
      return plan_standard(net, jobs);
    case method::adaptive:
      return plan_adaptive(net, jobs, o.costs.chunk);
    case method::heu_load:
      return plan_heu_load(net, jobs, o);
    case method::heu_chunk:
      return plan_heu_chunk(net, jobs, o);
    case method::opt:
      return plan_opt(net, jobs, o);
    case method::balanced:
      return plan_balanced(net, jobs, o, bound);
  }
  return {};
}

// Shares become whole bytes; what rounding leaves goes to the job's largest. With few bytes every
// share may round to nothing, so the largest is told by the shares before rounding, and it stays.
void append_job(route_plan& plan, const split& s, std::size_t j, std::uint64_t bytes) {
  const auto share_of = [&](std::size_t p) { return std::max(s.bytes[p], 0.0); };
  std::size_t largest = s.first[j];
  for (std::size_t p = s.first[j]; p < s.first[j + 1]; ++p) {
    if (share_of(p) > share_of(largest)) largest = p;
  }
  std::uint64_t given = 0;
  std::size_t row_of_largest = 0;
  for (std::size_t p = s.first[j]; p < s.first[j + 1]; ++p) {
    const auto share = std::min(static_cast<std::uint64_t>(share_of(p)), bytes - given);
    if (share == 0 && p != largest) continue;
    if (p == largest) row_of_largest = plan.bytes.size();
    plan.paths.add(s.paths[p]);
    plan.bytes.push_back(share);
    given += share;
  }
  SINEW_ASSERT(s.first[j] < s.first[j + 1] && row_of_largest < plan.bytes.size());
  plan.bytes[row_of_largest] += bytes - given;
}

// Jobs in their order again, with those that do not move.
route_plan assemble(const job_list& jobs, const split& s) {
  route_plan plan;
  plan.jobs = jobs;
  plan.first_path.push_back(0);
  std::size_t moving = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.bytes[j] > 0 && jobs.source[j] == jobs.destination[j]) {
      plan.paths.close();
      plan.bytes.push_back(jobs.bytes[j]);
    } else if (jobs.bytes[j] > 0) {
      append_job(plan, s, moving++, jobs.bytes[j]);
    }
    plan.first_path.push_back(plan.paths.size());
  }
  return plan;
}

double busiest_of(const topology& net, const std::vector<double>& load) {
  double most = 0;
  for (link_id l = 0; l < net.links(); ++l) {
    if (load[l] > 0) {
      most = std::max(most, net.capacity(l) > 0 ? load[l] / net.capacity(l)
                                                : std::numeric_limits<double>::infinity());
    }
  }
  return most;
}

// A job whose default route has room for all of it needs no other: one message, nothing forwarded.
route_plan prefer_default(const topology& net, const route_plan& plan) {
  std::vector<double> load = link_loads(net, plan);
  const double most = busiest_of(net, load);
  default_router router(net);
  route_plan out = plan;
  out.paths = {};
  out.bytes.clear();
  out.first_path.assign(1, 0);
  std::vector<link_id> way;
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    const std::size_t begin = plan.first_path[j];
    const std::size_t end = plan.first_path[j + 1];
    const auto shift = [&](double sign) {
      for (std::size_t p = begin; p < end; ++p) {
        for (const link_id l : plan.paths[p]) load[l] += sign * static_cast<double>(plan.bytes[p]);
      }
    };
    const auto bytes = static_cast<double>(plan.jobs.bytes[j]);
    way.clear();
    bool fits = end > begin && router.append(plan.jobs.source[j], plan.jobs.destination[j], way);
    shift(-1);
    fits = fits && std::all_of(way.begin(), way.end(), [&](link_id l) {
             return load[l] + bytes <= most * net.capacity(l);
           });
    if (fits) {
      for (const link_id l : way) load[l] += bytes;
      out.paths.add(way);
      out.bytes.push_back(plan.jobs.bytes[j]);
    } else {
      shift(1);
      for (std::size_t p = begin; p < end; ++p) {
        out.paths.add(plan.paths[p]);
        out.bytes.push_back(plan.bytes[p]);
      }
    }
    out.first_path.push_back(out.paths.size());
  }
  return out;
}

bool default_routes_exist(const topology& net, const job_list& jobs) {
  default_router router(net);
  std::vector<link_id> way;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    way.clear();
    if (!router.append(jobs.source[j], jobs.destination[j], way)) return false;
  }
  return true;
}

void check_options(const plan_options& o) {
  SINEW_CHECK(o.costs.chunk >= 1, "no plan with chunks of 0 bytes",
              "messages are cut into chunks, and none would ever arrive",
              "a chunk has 1 byte or more");
  SINEW_CHECK(o.most_paths >= 1 && o.most_paths <= 16,
              "no plan with at most " + std::to_string(o.most_paths) + " paths for each job",
              "a job keeps 1 to 16 paths", "ask for 1..16");
  SINEW_CHECK(o.gap >= 0, "no plan with a gap below 0", "no plan is better than its bound",
              "the gap is 0 or more");
  const machine& m = o.costs;
  SINEW_CHECK(m.link_bandwidth > 0 && m.injection_bandwidth > 0 && m.copy_bandwidth > 0,
              "no plan for a machine without bandwidth", "a bandwidth is not above 0",
              "bandwidths are bytes per second");
  SINEW_CHECK(m.start_up >= 0 && m.hop_latency >= 0 && m.forward_latency >= 0,
              "no plan for a machine with negative times", "a latency is below 0",
              "latencies are seconds");
}

}  // namespace

const char* method_name(method how) noexcept { return names[static_cast<std::size_t>(how)]; }

method parse_method(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<method>(i);
  }
  throw error("unknown method " + std::string(name), "it is none of the planner's",
              "methods are default, adaptive, heu-load, heu-chunk, opt, sinew");
}

route_plan make_plan(const topology& net, const job_list& jobs, const plan_options& options) {
  const std::int64_t begin = now_ns();
  check_options(options);
  const job_list merged = merged_jobs(net, jobs);
  const job_list moving = jobs_that_move(merged);
  proof bound;
  if (moving.size() > 0) bound = simple_bounds(net, moving);
  const split s = moving.size() > 0 ? split_by(net, moving, options, bound) : split{};
  route_plan plan = assemble(merged, s);
  if (options.how == method::balanced && options.fall_back && moving.size() > 0) {
    plan = prefer_default(net, plan);
    if (default_routes_exist(net, moving)) {
      route_plan simple = assemble(merged, plan_standard(net, moving));
      if (predict(net, simple, options.costs) <= predict(net, plan, options.costs)) {
        plan = std::move(simple);
        plan.fell_back = true;
      }
    }
  }
  plan.network = net.name();
  plan.fingerprint = net.fingerprint();
  plan.how = options.how;
  plan.busiest = busiest_of(net, link_loads(net, plan));
  plan.bound = bound.bytes;
  plan.bound_by = bound.by;
  plan.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  return plan;
}

void check_plan(const topology& net, const route_plan& plan) {
  const auto fail = [](const std::string& what, const std::string& why) {
    throw error("the plan is wrong: " + what, why, "make a new one");
  };
  if (plan.fingerprint != net.fingerprint()) {
    fail("it was made for another network (" + plan.network + ")", "this one is " + net.name());
  }
  const std::size_t n = plan.jobs.size();
  if (plan.first_path.size() != n + 1 || plan.first_path.back() != plan.paths.size() ||
      plan.bytes.size() != plan.paths.size() || plan.first_path[0] != 0) {
    fail("its tables do not fit together", "jobs, paths and bytes differ in number");
  }
  std::vector<std::size_t> seen(net.nodes(), SIZE_MAX);
  for (std::size_t j = 0; j < n; ++j) {
    std::uint64_t sum = 0;
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      const std::string which = "path " + std::to_string(p) + " of job " + std::to_string(j);
      node_id at = plan.jobs.source[j];
      seen[at] = p;
      for (const link_id l : plan.paths[p]) {
        if (l >= net.links() || net.from(l) != at) fail(which, "its links do not join");
        if (net.capacity(l) <= 0) fail(which, "it crosses a failed link");
        at = net.to(l);
        if (seen[at] == p) fail(which, "it visits node " + std::to_string(at) + " twice");
        seen[at] = p;
      }
      if (at != plan.jobs.destination[j]) fail(which, "it ends elsewhere");
      sum += plan.bytes[p];
    }
    if (sum != plan.jobs.bytes[j]) {
      fail("job " + std::to_string(j), "its paths carry " + std::to_string(sum) + " bytes of " +
                                           std::to_string(plan.jobs.bytes[j]));
    }
  }
}

}  // namespace sinew::route
