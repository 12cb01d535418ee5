// SPDX-License-Identifier: BSD-3-Clause
// A job of one rank, made and ended in one line, with what it consists of. (Of several ranks:
// tests/programs/event.)
#include "sinew/region/job.hpp"

#include <atomic>

#include "gtest/gtest.h"

namespace sinew {
namespace {

std::atomic<int> calls{0};
void count(int by) { calls += by; }

TEST(job, has_everything_that_a_program_needs) {
  job here({.workers = 1});
  EXPECT_EQ(here.rank(), job_rank{0});
  EXPECT_EQ(here.size(), 1);
  here.tasks().add<&count>("count");
  here.start();
  EXPECT_EQ(here.gather(77), std::vector<std::uint64_t>{77});
  here.meet();
  const event::reservation r = here.locks().create();
  const event::event got = here.locks().acquire(r);
  const event::event done = here.tasks().spawn<&count>(here.tasks().at(0), {.after = got}, 3);
  here.locks().release(r, done);
  EXPECT_EQ(here.events().wait(done), event::state::triggered);
  EXPECT_EQ(calls.load(), 3);
  region::schema what(std::uint64_t{10});
  const auto numbers = what.add<int>("numbers");
  const region::made m = here.regions().create(what, region::memory::heap(0));
  (void)here.events().wait(here.regions().fill(region::at(m.what, numbers), 4, m.ready));
  EXPECT_EQ((here.regions().look<int>(m.what, numbers)[9]), 4);
  (void)here.regions().destroy(m.what);
  EXPECT_EQ(here.gather(78), std::vector<std::uint64_t>{78}) << "again";
  // A task that is still to run when the job ends is waited for.
  (void)here.tasks().spawn<&count>(here.tasks().at(0), {}, 4);
}

TEST(job, waits_for_its_tasks_at_the_end) { EXPECT_EQ(calls.load(), 7); }

}  // namespace
}  // namespace sinew
