// SPDX-License-Identifier: BSD-3-Clause
// Instances of a region with two fields: one is filled here, copied to another rank's memory with
// its rows turned round, and copied back.
#include <cstdio>

#include "sinew/region/job.hpp"

using namespace sinew::region;

int main() {
  sinew::job job({.workers = 1});
  auto& regions = job.regions();
  const sinew::job_rank next{(job.rank().value() + 1) % job.size()};
  schema what(shape{4, 3});
  const auto number = what.add<int>("number");
  const auto weight = what.add<double>("weight");

  // Handles are valid at once, elements once `ready` has triggered.
  const made here = regions.create(what, memory::heap(job.rank()));
  const made there = regions.create(what, memory::heap(next), {.how = order::by_element});
  const event filled = regions.fill(at(here.what, weight), 0.5, here.ready);
  (void)job.events().wait(filled);
  const auto mine = regions.look<int, 2>(here.what, number);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 3; ++column) {
      mine(row, column) = 10 * row + column;
    }
  }
  const section turned{{3, 4, -1}, {}};  // rows from the last one on
  const event away =
      regions.copy(at(here.what, number, turned), at(there.what, number), there.ready);
  const event back = regions.copy(at(there.what, number), at(here.what, number), away);
  (void)job.events().wait(back);
  std::printf("rank %d: first row %d %d %d\n", job.rank().value(), mine(0, 0), mine(0, 1),
              mine(0, 2));
  const bool good = mine(0, 2) == 32 && mine(3, 0) == 0;
  regions.destroy(there.what, back);
  regions.destroy(here.what);
  return good ? 0 : 1;
}
