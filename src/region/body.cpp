#include "region/body.hpp"

#include <cstring>

#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

setting<std::int64_t> most_instances("region", "INSTANCES", 16384, "",
                                     "instances that a rank may have made at a time",
                                     {.least = 1, .most = 1 << instance::index_bits});

shared_heaps heaps_of(rma::engine& memory) {
  shared_heaps all;
  all.rank = memory.rank();
  for (job_rank r = 0; r.below(memory.size()); ++r) {
    all.begins.push_back(memory.at({r, 0}));
  }
  return all;
}

/// A symmetric allocation: the same offset on every rank.
instance_table table_of(rma::engine& memory, bool threaded) {
  const auto slots = static_cast<std::uint32_t>(most_instances());
  const std::size_t bytes = sizeof(std::uint64_t) * slots;
  const std::uint64_t slots_at = memory.memory().allocate(rma::part::symmetric, bytes);
  std::memset(memory.at({memory.rank(), slots_at}), 0, bytes);
  return {heaps_of(memory), slots_at, slots, threaded};
}

}  // namespace

system::body::body(rma::engine& memory, sinew::event::system& all)
    : events(all),
      threaded(memory.runtime().threaded()),
      trouble(threaded),
      table(table_of(memory, threaded)),
      blocks(memory, threaded),
      operators(memory.rank(), threaded),
      messages(all),
      instances({all, memory, table, blocks, messages, trouble}, threaded),
      bytes({table, operators, messages, trouble, merging}, memory.runtime().endpoint(), threaded),
      transfers(all, bytes, messages, trouble),
      reductions({all, table, operators, trouble, merging}, threaded) {
  SINEW_EXPECT(memory.rank() == all.rank() && memory.size() == all.size());
  messages.open(*this);
}

}  // namespace sinew::region
