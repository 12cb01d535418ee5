// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the module share.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/event_job.hpp"

namespace sinew::event {

using test::backend;
using test::event_member;
using test::slow_build;

/// What this thread has allocated so far with operator new (event_test.cpp).
[[nodiscard]] long allocations_here();
/// The n-th allocation of this thread from now on fails; 0: none does.
void fail_allocation(long n);
/// It has.
[[nodiscard]] bool allocation_has_failed();

struct way_to_run {
  const char* name;
  backend over;
  core::threading threads;
  core::progress progress = core::progress::waiters;
};

inline std::ostream& operator<<(std::ostream& out, const way_to_run& w) { return out << w.name; }

class event_test : public ::testing::TestWithParam<way_to_run> {
 protected:
  static void run(int ranks, const test::event_body& body,
                  const options& how = {1u << 20, event::last_generation}) {
    test::run_events(ranks, GetParam().over, GetParam().threads, body, how, GetParam().progress);
  }
};

inline const auto every_way = ::testing::Values(
    way_to_run{"inproc", backend::inproc, core::threading::one},
    way_to_run{"inproc_threads", backend::inproc, core::threading::many},
    way_to_run{"shm", backend::shm, core::threading::one},
    way_to_run{"shm_threads", backend::shm, core::threading::many},
    way_to_run{"shm_helper", backend::shm, core::threading::many, core::progress::helper});

inline std::string name_of_way(const ::testing::TestParamInfo<way_to_run>& i) {
  return i.param.name;
}

}  // namespace sinew::event
