// SPDX-License-Identifier: BSD-3-Clause
// The fabric's contract over a simulated network. Its ranks also meet in shared memory, where they
// spin: time goes on without those that do not hand over.
#include <memory>
#include <vector>

#include "contract/fabric_contract.hpp"
#include "sim/world.hpp"

namespace sinew::fabric::contract {
namespace {

constexpr sim::choices impatient{.patience_ns = 20'000, .preempt = true};
constexpr const char* network = "torus:4x4,speeds=edr";

std::string threads(int ranks, bool /*threads*/, const body& work) {
  sim::test::world world(ranks, network, impatient);
  world.serve();
  std::vector<std::unique_ptr<endpoint>> owned;
  std::vector<endpoint*> all;
  for (int r = 0; r < ranks; ++r) {
    owned.push_back(world.rank(r));
    all.push_back(owned.back().get());
  }
  return run_threads(world.all(), all, &sim::test::world::heap, work);
}

std::string processes(int ranks, bool /*threads*/, const body& work) {
  sim::test::world world(ranks, network, impatient);
  return run_forked(world, [&](int r) { return world.rank(r); }, work, [&] { world.serve(); });
}

std::vector<way_to_run> ways() {
  return {{"sim_threads", true, threads}, {"sim_processes", true, processes}};
}

INSTANTIATE_TEST_SUITE_P(sim, fabric_contract, ::testing::ValuesIn(ways()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace sinew::fabric::contract
