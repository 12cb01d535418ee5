// SPDX-License-Identifier: BSD-3-Clause
// Instances that are made, filled, copied and reduced into, and destroyed.
#include "../../examples/region_job.hpp"

#include <cstdint>

#include "job_of_regions.hpp"

namespace {

namespace event = sinew::event;
namespace region = sinew::region;
using add = region::sum<std::uint32_t>;

constexpr std::uint64_t elements = 1000;

bool job() {
  region_job here;
  here.regions.add<add>();
  region::schema what(elements);
  const auto count = what.add<std::uint32_t>("count");
  std::uint64_t handle = 0;
  if (here.rank() == 0) {
    const region::made m = here.regions.create(what, region::memory::global());
    (void)here.events.wait(m.ready);
    handle = m.what.bits();
    (void)here.events.wait(here.regions.fill(region::at(m.what, count), std::uint32_t{3}));
  }
  const auto shared = region::instance::from_bits(here.gather(handle)[0]);
  region::list<add> some(here.regions, shared, count);
  for (std::uint64_t i = 0; i < elements; ++i) {
    some.reduce(i, 1);
  }
  bool good = here.events.wait(some.merge()) == event::state::triggered;
  here.memory->sync_all();
  region::schema copied(elements);
  const auto own = copied.add<std::uint32_t>("own");
  const region::made mine = here.regions.create(copied, region::memory::shared(here.rank()));
  (void)here.events.wait(
      here.regions.copy(region::at(shared, count), region::at(mine.what, own), mine.ready));
  const auto values = here.regions.look(mine.what, own);
  for (std::uint64_t i = 0; i < elements; ++i) {
    good = good && values[i] == 3 + static_cast<std::uint32_t>(here.size());
  }
  (void)here.regions.destroy(mine.what, {});
  bool all = true;
  for (const std::uint64_t one : here.gather(good ? 1 : 0)) {
    all = all && one != 0;
  }
  if (here.rank() == 0 && all) {
    std::puts("good");
  }
  return all;
}

}  // namespace

int main() { return exhaustion::run(job); }
