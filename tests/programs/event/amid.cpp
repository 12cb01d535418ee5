// SPDX-License-Identifier: BSD-3-Clause
// Copies from and to the last rank, whose host is killed meanwhile by whoever has started this
// (tests/hosts/amid_test.py). With `sinew run --survive` what is under way ends, poisoned, and
// the others go on.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "expect.hpp"
#include "sinew/base/error.hpp"
#include "sinew/region/job.hpp"

namespace {

using namespace sinew;
using event::state;
using occurrence = event::event;

void run(job& here) {
  region::schema what(region::shape{1 << 16});
  const auto word = what.add<std::uint64_t>("word");
  const region::made mine = here.regions().create(what, region::memory::heap(here.rank()));
  expect(here.events().wait(mine.ready) == state::triggered, "an instance");
  const auto all = here.gather(mine.what.bits());
  here.start();
  here.meet();
  const auto side = [&](std::size_t rank, const region::section& which) {
    return region::at(region::instance::from_bits(all[rank]), word, which);
  };
  const std::size_t victim = all.size() - 1;
  const std::size_t me = here.rank().index();
  if (me == 0) {
    std::printf("begun\n");
    std::fflush(stdout);
  }
  // Long ones, which their owners fetch, and columns, which go in messages.
  const region::section whole{};
  const region::section apart{{0, 1 << 12, 16}};
  bool lives = true;
  while (lives) {
    try {
      std::vector<occurrence> ends;
      for (const region::section& which : {whole, apart}) {
        ends.push_back(here.regions().copy(side(me, which), side(victim, which)));
        ends.push_back(here.regions().copy(side(victim, which), side(me, which)));
      }
      for (const occurrence e : ends) {
        lives = here.events().wait(e) == state::triggered && lives;
      }
    } catch (const error&) {
      lives = false;  // it is known to be lost
    }
  }
  expect(here.events().is_lost(job_rank{static_cast<int>(victim)}), "it is lost");
  std::printf("rank %d went on without it\n", here.rank().value());
}

}  // namespace

int main() {
  try {
    job here;
    run(here);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
