// SPDX-License-Identifier: BSD-3-Clause
// OPT against a solver of linear programs where one is installed: Clp, through its C interface,
// found when the test runs.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "sinew/base/random.hpp"
#include "sinew/route/default_route.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

/// The few functions of Clp_C_Interface.h that are needed.
struct clp {
  void* library = nullptr;
  void* (*make)() = nullptr;
  void (*drop)(void*) = nullptr;
  void (*load)(void*, int, int, const int*, const int*, const double*, const double*, const double*,
               const double*, const double*, const double*) = nullptr;
  int (*solve)(void*) = nullptr;
  double (*value)(void*) = nullptr;
  void (*quiet)(void*, int) = nullptr;

  static std::optional<clp> find() {
    clp c;
    for (const char* name : {"libClp.so.1", "libClp.so"}) {
      if (c.library == nullptr) {
        c.library = ::dlopen(name, RTLD_NOW);
      }
    }
    const auto get = [&c](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          c.library != nullptr ? ::dlsym(c.library, name) : nullptr);
      return function != nullptr;
    };
    if (get(c.make, "Clp_newModel") && get(c.drop, "Clp_deleteModel") &&
        get(c.load, "Clp_loadProblem") && get(c.solve, "Clp_primal") &&
        get(c.value, "Clp_objectiveValue") && get(c.quiet, "Clp_setLogLevel")) {
      return c;
    }
    return std::nullopt;
  }
};

std::uint32_t diameter(const topology& net) {
  default_router router(net);
  std::uint32_t most = 0;
  for (node_id b = 0; b < net.endpoints(); ++b) {
    const auto& hops = router.hops_to(b);
    most = std::max(most, *std::max_element(hops.begin(), hops.end()));
  }
  return most;
}

/// The least busiest link over the k shortest paths of each job, none
/// longer than the network is wide: minimise T, each job's flow is its
/// bytes, each link's at most T times its capacity.
double least_busiest(const clp& solver, const topology& net, const job_list& jobs,
                     std::uint32_t k) {
  const std::uint32_t wide = diameter(net);
  const double none = std::numeric_limits<double>::max();
  std::vector<int> start = {0};
  std::vector<int> row;
  std::vector<double> value, low, high, cost, row_low, row_high;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    row_low.push_back(static_cast<double>(jobs.bytes[j]));
    row_high.push_back(static_cast<double>(jobs.bytes[j]));
  }
  row_low.insert(row_low.end(), net.links(), -none);
  row_high.insert(row_high.end(), net.links(), 0);
  const auto column = [&](double c) {
    start.push_back(static_cast<int>(row.size()));
    low.push_back(0);
    high.push_back(none);
    cost.push_back(c);
  };
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const path_set paths = shortest_paths(net, jobs.source[j], jobs.destination[j], k, wide);
    for (std::size_t p = 0; p < paths.size(); ++p) {
      row.push_back(static_cast<int>(j));
      value.push_back(1);
      for (const link_id l : paths[p]) {
        row.push_back(static_cast<int>(jobs.size() + l));
        value.push_back(1);
      }
      column(0);
    }
  }
  for (link_id l = 0; l < net.links(); ++l) {
    row.push_back(static_cast<int>(jobs.size() + l));
    value.push_back(-net.capacity(l));
  }
  column(1);
  void* model = solver.make();
  solver.quiet(model, 0);
  solver.load(model, static_cast<int>(cost.size()), static_cast<int>(row_low.size()), start.data(),
              row.data(), value.data(), low.data(), high.data(), cost.data(), row_low.data(),
              row_high.data());
  EXPECT_EQ(solver.solve(model), 0);
  const double best = solver.value(model);
  solver.drop(model);
  return best;
}

TEST(opt, is_what_a_solver_of_linear_programs_finds) {
  const auto solver = clp::find();
  if (!solver) {
    GTEST_SKIP() << "libClp is not installed";
  }
  random_generator random(seed_from_environment());
  for (const char* shape : {"4x4x2", "mesh:5x4", "hypercube:4", "torus:3x3x3"}) {
    const topology net = parse_topology(shape);
    job_list jobs;
    for (int i = 0; i < 24; ++i) {
      const auto a = static_cast<node_id>(random.below(net.endpoints()));
      const auto b = static_cast<node_id>(random.below(net.endpoints()));
      if (a != b) {
        jobs.add(a, b, (1 + random.below(8)) << 20);
      }
    }
    plan_options o;
    o.how = method::default_route;
    const route_plan merged = make_plan(net, jobs, o);
    o.how = method::opt;
    o.fed = 8;
    o.fall_back = false;
    const double ours = make_plan(net, jobs, o).busiest;
    const double best = least_busiest(*solver, net, merged.jobs, o.fed);
    EXPECT_GE(ours, best * (1 - 1e-6)) << shape;
    EXPECT_LE(ours, best * 1.002) << shape;
    o.how = method::balanced;
    o.gap = 0.001;
    EXPECT_LE(make_plan(net, jobs, o).busiest, best * 1.01) << shape << ": more paths, yet worse";
  }
}

}  // namespace
}  // namespace sinew::route
