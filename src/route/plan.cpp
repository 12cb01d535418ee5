// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "balanced.hpp"
#include "baselines.hpp"
#include "bounds.hpp"
#include "normal_jobs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/route/default_route.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::route {
namespace {

constexpr std::array<const char*, 6> names = {"default",   "adaptive", "heu-load",
                                              "heu-chunk", "opt",      "sinew"};

split split_by(const topology& net, const job_list& jobs, const plan_options& o, proof& bound,
               path_choices& fed) {
  switch (o.how) {
    case method::default_route:
      return plan_default_route(net, jobs);
    case method::adaptive:
      return plan_adaptive(net, jobs, o.costs.chunk);
    case method::heu_load:
      return plan_heu_load(net, jobs, o, fed);
    case method::heu_chunk:
      return plan_heu_chunk(net, jobs, o, fed);
    case method::opt:
      return plan_opt(net, jobs, o, fed);
    case method::balanced:
      return plan_balanced(net, jobs, o, bound);
  }
  return {};
}

// Shares become whole bytes; what rounding leaves goes to the job's largest. With few bytes every
// share may round to nothing, so the largest is told by the shares before rounding, and it stays.
void append_job(route_plan& plan, const split& s, std::size_t j, std::uint64_t bytes) {
  SINEW_EXPECT(j + 1 < s.first.size() && s.bytes.size() == s.paths.size());
  const auto share_of = [&](std::size_t p) { return std::max(s.bytes[p], 0.0); };
  std::size_t largest = s.first[j];
  for (std::size_t p = s.first[j]; p < s.first[j + 1]; ++p) {
    if (share_of(p) > share_of(largest)) {
      largest = p;
    }
  }
  std::uint64_t given = 0;
  std::size_t row_of_largest = 0;
  for (std::size_t p = s.first[j]; p < s.first[j + 1]; ++p) {
    const auto share = std::min(static_cast<std::uint64_t>(share_of(p)), bytes - given);
    if (share == 0 && p != largest) {
      continue;
    }
    if (p == largest) {
      row_of_largest = plan.bytes.size();
    }
    plan.paths.add(s.paths[p]);
    plan.bytes.push_back(share);
    given += share;
  }
  SINEW_ASSERT(s.first[j] < s.first[j + 1] && row_of_largest < plan.bytes.size());
  // A byte for each path, and what sums of shares differ from their job's.
  SINEW_ASSERT(bytes - given <= s.first[j + 1] - s.first[j] + bytes / 100'000);
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
  SINEW_ENSURE(moving + 1 == s.first.size());  // each row has found its job
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
        for (const link_id l : plan.paths[p]) {
          load[l] += sign * static_cast<double>(plan.bytes[p]);
        }
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
      for (const link_id l : way) {
        load[l] += bytes;
      }
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
  SINEW_ENSURE(busiest_of(net, link_loads(net, out)) <= most * (1 + 1e-9));
  return out;
}

bool default_routes_exist(const topology& net, const job_list& jobs) {
  default_router router(net);
  std::vector<link_id> way;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    way.clear();
    if (!router.append(jobs.source[j], jobs.destination[j], way)) {
      return false;
    }
  }
  return true;
}

void check_options(const plan_options& o) {
  check_machine(o.costs);
  SINEW_CHECK(o.most_paths <= 16,
              "no plan with at most " + std::to_string(o.most_paths) + " paths for each job",
              "a job keeps 1 to 16 paths", "ask for 1..16");
  SINEW_CHECK(o.gap >= 0, "no plan with a gap below 0", "no plan is better than its bound",
              "the gap is 0 or more");
}

}  // namespace

const char* method_name(method how) noexcept { return names[static_cast<std::size_t>(how)]; }

method parse_method(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) {
      return static_cast<method>(i);
    }
  }
  throw error("unknown method " + std::string(name), "it is none of the planner's",
              "methods are default, adaptive, heu-load, heu-chunk, opt, sinew");
}

namespace {

/// Seconds that no plan can stay below: what the first byte of a message takes, and all its bytes
/// out of its node; the busiest link.
double least_seconds(const topology& net, const job_list& moving, const machine& m, double bound) {
  default_router hops(net);
  double least = m.start_up + m.hop_latency + bound / m.link_bandwidth;
  for (const std::uint32_t j : by_destination(moving)) {
    const std::uint32_t away = hops.hops_to(moving.destination[j])[moving.source[j]];
    SINEW_ASSERT(away != nothing);  // there is a plan already
    least = std::max(least, m.start_up + m.hop_latency * static_cast<double>(away) +
                                static_cast<double>(moving.bytes[j]) / m.injection_bandwidth);
  }
  return least;
}

/// The plans among which the best is taken, judged as they are: in whole bytes.
class contest {
 public:
  contest(const topology& net, const job_list& jobs, const job_list& moving, const plan_options& o,
          path_choices& fed)
      : net_(net), jobs_(jobs), moving_(moving), options_(o), fed_(fed) {}

  void enter(route_plan plan, method from) {
    plan.taken_from = from;
    plan.fingerprint = net_.fingerprint();
    plan.busiest = busiest_of(net_, link_loads(net_, plan));
    plans_.push_back(std::move(plan));
  }

  /// The plans of methods that are not ours. One with more paths than were asked for is none.
  void enter_others(double bound) {
    if (!worth_trying(bound)) {
      return;
    }
    for (const method how : {method::adaptive, method::heu_load, method::heu_chunk, method::opt}) {
      plan_options o = options_;
      o.how = how;
      proof none;
      route_plan plan = assemble(jobs_, split_by(net_, moving_, o, none, fed_));
      if (within_paths(plan)) {
        enter(std::move(plan), how);
      }
    }
  }

  route_plan winner() {
    SINEW_EXPECT(!plans_.empty());
    find_times();
    const std::vector<double>& seconds = seconds_;
    // What the others have on their best: a plan that is as good in both comes before faster ones.
    double busiest = std::numeric_limits<double>::infinity();
    double least = busiest;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].taken_from != method::balanced) {
        busiest = std::min(busiest, plans_[i].busiest);
        least = std::min(least, seconds[i]);
      }
    }
    const auto rank = [&](std::size_t i) {
      const route_plan& plan = plans_[i];
      const bool fits = !above(plan.busiest, busiest) && !above(seconds[i], least);
      const double first = options_.fall_back ? seconds[i] : plan.busiest;
      const double second = options_.fall_back ? plan.busiest : seconds[i];
      return std::tuple(options_.fall_back && !fits, first,
                        options_.fall_back && plan.taken_from != method::default_route, second);
    };
    const auto before = [&](std::size_t i, std::size_t j) {
      const auto [i_unfit, i_first, i_other, i_second] = rank(i);
      const auto [j_unfit, j_first, j_other, j_second] = rank(j);
      if (i_unfit != j_unfit) {
        return j_unfit;
      }
      if (above(i_first, j_first) || above(j_first, i_first)) {
        return i_first < j_first;
      }
      return i_other != j_other ? j_other : i_second < j_second;
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < plans_.size(); ++i) {
      best = before(i, best) ? i : best;
    }
    plans_[best].fell_back = options_.fall_back && plans_[best].taken_from == method::default_route;
    return std::move(plans_[best]);
  }

 private:
  /// More than rounding explains.
  static bool above(double a, double b) { return a > b * (1 + 1e-9); }

  static constexpr std::size_t few_jobs = 20'000;
  static constexpr std::uint32_t few_nodes = 1024;
  static constexpr std::size_t most_jobs = 100'000;
  static constexpr double most_chunks = 2e7;

  [[nodiscard]] bool worth_trying(double bound) {
    const bool few = moving_.size() <= few_jobs && net_.nodes() <= few_nodes;
    if (moving_.size() > most_jobs || (few && options_.fall_back && is_fast(bound))) {
      return false;
    }
    const double gap = few ? 1e-9 : options_.gap;
    const bool proven = std::any_of(plans_.begin(), plans_.end(), [&](const route_plan& plan) {
      return plan.busiest <= bound * (1 + gap);
    });
    if (proven && !(few && options_.fall_back)) {
      return false;
    }
    double chunks = 0;
    for (const std::uint64_t bytes : moving_.bytes) {
      chunks += static_cast<double>(bytes) / static_cast<double>(options_.costs.chunk);
    }
    return chunks <= most_chunks;
  }

  /// No plan can take clearly less time than the fastest here.
  [[nodiscard]] bool is_fast(double bound) {
    find_times();
    return *std::min_element(seconds_.begin(), seconds_.end()) <=
           (1 + options_.gap) * least_seconds(net_, moving_, options_.costs, bound);
  }

  /// What each plan is expected to take. One of theirs whose busiest link alone takes longer than
  /// another one of theirs is not simulated: it has that link's time.
  void find_times() {
    std::vector<const route_plan*> all;
    for (const route_plan& plan : plans_) {
      all.push_back(&plan);
    }
    const bool simulated = are_quickly_simulated(all);
    std::vector<std::size_t> order(plans_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t i, std::size_t j) {
      return std::pair(plans_[i].busiest, i) < std::pair(plans_[j].busiest, j);
    });
    std::vector<double> before = std::exchange(seconds_, std::vector<double>(plans_.size()));
    before.resize(plans_.size(), -1);
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t i : order) {
      const bool theirs = plans_[i].taken_from != method::balanced;
      const double floor = plans_[i].busiest / options_.costs.link_bandwidth;
      if (simulated && theirs && above(floor, least)) {
        seconds_[i] = floor;
      } else if (simulated && before[i] >= 0) {
        seconds_[i] = before[i];
      } else {
        seconds_[i] = expected_seconds(net_, plans_[i], options_.costs, simulated);
      }
      least = theirs ? std::min(least, seconds_[i]) : least;
    }
  }

  [[nodiscard]] bool within_paths(const route_plan& plan) const {
    if (options_.most_paths == 0) {
      return true;
    }
    for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
      if (plan.first_path[j + 1] - plan.first_path[j] > options_.most_paths) {
        return false;
      }
    }
    return true;
  }

  const topology& net_;
  const job_list& jobs_;
  const job_list& moving_;
  const plan_options& options_;
  path_choices& fed_;
  std::vector<route_plan> plans_;
  std::vector<double> seconds_;  ///< of find_times()
};

/// Default routes, if messages are short and no plan can be a twentieth faster: most of the time is
/// latency then.
bool short_messages(const topology& net, const job_list& moving, const route_plan& simple,
                    const plan_options& o, double bound) {
  const bool short_ones = std::all_of(moving.bytes.begin(), moving.bytes.end(),
                                      [&](std::uint64_t bytes) { return bytes <= o.costs.chunk; });
  return short_ones &&
         predict(net, simple, o.costs) <= 1.05 * least_seconds(net, moving, o.costs, bound);
}

route_plan best_plan(const topology& net, const job_list& jobs, const job_list& moving,
                     const plan_options& o, proof& bound) {
  path_choices fed(net, moving, o);
  contest plans(net, jobs, moving, o, fed);
  if (default_routes_exist(net, moving)) {
    route_plan simple = assemble(jobs, plan_default_route(net, moving));
    if (o.fall_back && short_messages(net, moving, simple, o, bound.bytes)) {
      const auto [bytes, by] = lower_bound(net, moving);
      bound.raise(bytes, by);
      simple.taken_from = method::default_route;
      simple.fell_back = true;
      return simple;
    }
    plans.enter(std::move(simple), method::default_route);
  }
  route_plan ours = assemble(jobs, split_by(net, moving, o, bound, fed));
  plans.enter(prefer_default(net, ours), method::balanced);
  plans.enter(std::move(ours), method::balanced);
  plans.enter_others(bound.bytes);
  return plans.winner();
}

}  // namespace

route_plan make_plan(const topology& net, const job_list& jobs, const plan_options& options) {
  const std::int64_t begin = now_ns();
  check_options(options);
  const job_list merged = merged_jobs(net, jobs);
  const job_list moving = jobs_that_move(merged);
  proof bound;
  if (moving.size() > 0) {
    bound = simple_bounds(net, moving);
  }
  path_choices fed(net, moving, options);
  route_plan plan;
  if (options.how == method::balanced && moving.size() > 0) {
    plan = best_plan(net, merged, moving, options, bound);
  } else {
    plan =
        assemble(merged, moving.size() > 0 ? split_by(net, moving, options, bound, fed) : split{});
    plan.taken_from = options.how;
  }
  plan.network = net.name();
  plan.fingerprint = net.fingerprint();
  plan.how = options.how;
  plan.busiest = busiest_of(net, link_loads(net, plan));
  plan.bound = bound.bytes;
  plan.bound_by = bound.by;
  plan.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  // A bound above what a plan does would be a false proof.
  SINEW_ENSURE(plan.bound <= plan.busiest * (1 + 1e-6));
  return plan;
}

namespace {

/// Whether the columns of a plan have the lengths that the others say.
bool fit_together(const route_plan& plan) {
  const std::size_t n = plan.jobs.size();
  const auto rows = [](const std::vector<std::size_t>& first, std::size_t count) {
    return first.front() == 0 && first.back() == count &&
           std::is_sorted(first.begin(), first.end());
  };
  return plan.jobs.destination.size() == n && plan.jobs.bytes.size() == n &&
         plan.first_path.size() == n + 1 && plan.paths.first.size() == plan.bytes.size() + 1 &&
         rows(plan.first_path, plan.bytes.size()) &&
         rows(plan.paths.first, plan.paths.links.size());
}

}  // namespace

void check_plan(const topology& net, const route_plan& plan) {
  const auto fail = [](const std::string& what, const std::string& why) {
    throw error("the plan is wrong: " + what, why, "make a new one");
  };
  if (plan.fingerprint != net.fingerprint()) {
    fail("it was made for another network (" + plan.network + ")", "this one is " + net.name());
  }
  const std::size_t n = plan.jobs.size();
  if (!fit_together(plan)) {
    fail("its tables do not fit together", "jobs, paths and bytes differ in number");
  }
  std::vector<std::size_t> seen(net.nodes(), SIZE_MAX);
  std::unordered_set<std::uint64_t> pairs;
  for (std::size_t j = 0; j < n; ++j) {
    const node_id from = plan.jobs.source[j];
    const node_id to = plan.jobs.destination[j];
    if (from >= net.endpoints() || to >= net.endpoints()) {
      fail("job " + std::to_string(j),
           "its ends are no endpoints: those are 0.." + std::to_string(net.endpoints() - 1));
    }
    if (!pairs.insert((std::uint64_t{from} << 32) | to).second) {
      fail("job " + std::to_string(j), "one before it has the same ends");
    }
    std::uint64_t sum = 0;
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      const std::string which = "path " + std::to_string(p) + " of job " + std::to_string(j);
      node_id at = from;
      seen[at] = p;
      for (const link_id l : plan.paths[p]) {
        if (l >= net.links() || net.from(l) != at) {
          fail(which, "its links do not join");
        }
        if (net.capacity(l) <= 0) {
          fail(which, "it crosses a failed link");
        }
        at = net.to(l);
        if (seen[at] == p) {
          fail(which, "it visits node " + std::to_string(at) + " twice");
        }
        seen[at] = p;
      }
      if (at != to) {
        fail(which, "it ends elsewhere");
      }
      sum += plan.bytes[p];
    }
    if (sum != plan.jobs.bytes[j]) {
      fail("job " + std::to_string(j), "its paths carry " + std::to_string(sum) + " bytes of " +
                                           std::to_string(plan.jobs.bytes[j]));
    }
  }
}

}  // namespace sinew::route
