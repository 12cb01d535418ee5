// SPDX-License-Identifier: BSD-3-Clause
// The edge of a plane as a set of elements: the plane without its inside. Only the edge is filled,
// and copied to another rank's memory.
#include <cstdio>

#include "sinew/region/job.hpp"
#include "sinew/region/sparse.hpp"

using namespace sinew::region;

int main() {
  sinew::job job({.workers = 1});
  auto& regions = job.regions();
  const shape plane{6, 8};
  const index_space inside(2, {{{1, 1}, {5, 7}}});
  const index_space edge = index_space(plane) - inside;
  schema what(plane);
  const auto f = what.add<int>("value");
  const sinew::job_rank next{(job.rank().value() + 1) % job.size()};
  const made here = regions.create(what, memory::heap(job.rank()));
  const made there = regions.create(what, memory::heap(next));
  const event zero = regions.fill(at(here.what, f), 0, here.ready);
  const event one = fill(regions, at(here.what, f), 1, edge, zero);
  const event two = regions.fill(at(there.what, f), 2, there.ready);
  const event away =
      copy(regions, at(here.what, f), at(there.what, f), edge, job.events().merge(one, two));
  const event back = regions.copy(at(there.what, f), at(here.what, f), away);
  (void)job.events().wait(back);
  const auto seen = regions.look<int, 2>(here.what, f);
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 8; ++j) {
      sum += seen(i, j);
    }
  }
  std::printf("rank %d: %d of %d elements are edge, the sum is %d\n", job.rank().value(),
              static_cast<int>(edge.elements()), 48, sum);
  regions.destroy(there.what, back);
  regions.destroy(here.what);
  return sum == 24 + 2 * 24 ? 0 : 1;
}
