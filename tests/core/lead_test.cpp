// SPDX-License-Identifier: BSD-3-Clause
// Whatever is thrown out of a round of progress: the lead is given back, so that others make
// progress, and so does whoever comes again.
#include <stdexcept>

#include "core/pair_of_ranks.hpp"
#include "gtest/gtest.h"

namespace sinew::core {
namespace {

/// Work that fails as long as `fails` says so.
struct failing_chore {
  explicit failing_chore(runtime& in)
      : rt(in),
        which(in.add_chore([](void* s) { return static_cast<failing_chore*>(s)->run(); }, this)) {
    rt.want_chore(which, true);
  }
  ~failing_chore() { rt.drop_chore(which); }
  failing_chore(const failing_chore&) = delete;
  failing_chore& operator=(const failing_chore&) = delete;
  int run() {
    if (fails) {
      throw std::runtime_error("as the test wants it");
    }
    return 0;
  }
  runtime& rt;
  std::atomic<bool> fails{true};
  int which;
};

/// Whether anybody makes progress for rank 0: a message arrives within many polls.
bool receives(pair_of_ranks& job, std::size_t box) {
  job.send(1, box);
  for (int i = 0; i < 100000 && !job[0].box[box].done(); ++i) {
    (void)job[0].own->poll();
  }
  return job[0].box[box].done();
}

class lead_test : public ::testing::TestWithParam<threading> {};

TEST_P(lead_test, survives_a_failure_in_poll) {
  pair_of_ranks job(8, GetParam());
  failing_chore bad(*job[0].own);
  EXPECT_THROW((void)job[0].own->poll(), std::runtime_error);
  bad.fails = false;
  EXPECT_TRUE(receives(job, 3));
}

TEST_P(lead_test, survives_a_failure_in_wait) {
  pair_of_ranks job(8, GetParam());
  failing_chore bad(*job[0].own);
  EXPECT_THROW(job[0].own->wait(job[0].box[1]), std::runtime_error);
  bad.fails = false;
  ASSERT_TRUE(receives(job, 3));
  job.send(1, 1);
  job.await(0, 1);  // the one whose wait had failed
}

TEST_P(lead_test, survives_a_failure_while_it_watches) {
  pair_of_ranks job(8, GetParam());
  failing_chore bad(*job[0].own);
  struct once {
    bool gone = false;
    int asked = 0;
  } seen;
  const auto ask = [](void* s) {
    auto& mine = *static_cast<once*>(s);
    EXPECT_FALSE(mine.gone) << "asked after its wait has ended";
    ++mine.asked;
    return false;
  };
  EXPECT_THROW(job[0].own->wait_until(ask, &seen), std::runtime_error);
  seen.gone = true;
  bad.fails = false;
  EXPECT_TRUE(receives(job, 3));
  EXPECT_GT(seen.asked, 0);
}

INSTANTIATE_TEST_SUITE_P(all, lead_test, ::testing::Values(threading::one, threading::many),
                         [](const auto& param) {
                           return param.param == threading::one ? "one" : "many";
                         });

}  // namespace
}  // namespace sinew::core
