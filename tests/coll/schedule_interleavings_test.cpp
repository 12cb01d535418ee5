// SPDX-License-Identifier: BSD-3-Clause
// The engine of schedules under interleavings of its ranks: before each beginning of an operation
// and each look for progress it is decided at random who goes on. Each rank begins operations on
// two communicators, odd ranks in the opposite order of these, as the standard allows.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/random.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/coll/nonblocking.hpp"
#include "support/explorer.hpp"
#include "support/job.hpp"

namespace sinew::test {
namespace {

using coll::communicator_ref;
using coll::new_communicator;
using coll::ongoing;

p2p::buffer int_at(int* at) { return {at, 1, &layout::of(layout::element::i32)}; }

/// What one rank does in one run, and what came of it.
class script {
 public:
  script(member& m, const std::vector<communicator_ref>& comms) : m_(m) {
    for (const communicator_ref& c : comms) {
      parts_.emplace_back(c);
    }
    if (m.comm.rank().value() % 2 == 1) {
      std::reverse(parts_.begin(), parts_.end());
    }
  }

  void run() {
    for (const auto begin : {&script::begin_sum, &script::begin_copy, &script::begin_bcast}) {
      for (part& p : parts_) {
        explorer::step();
        (this->*begin)(p);
      }
    }
    while (!over()) {
      explorer::wait(0);
      (void)m_.engine.runtime().poll();
    }
  }

  void check() const {
    const int n = m_.comm.size();
    for (const part& p : parts_) {
      EXPECT_EQ(p.sum->outcome, p2p::fault::none);
      EXPECT_EQ(p.total, n * (n + 1) / 2);
      EXPECT_EQ(p.word, 42);
      ASSERT_NE(p.copy->made, nullptr);
      EXPECT_EQ(p.copy->made->size(), n);
    }
    EXPECT_NE(parts_.front().copy->made->context(), parts_.back().copy->made->context());
  }
  /// Of the communicators that it has made, in an order that all ranks have.
  [[nodiscard]] std::vector<std::uint32_t> contexts() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (const part& p : parts_) {
      found.emplace_back(p.comm->context().value(), p.copy->made->context().value());
    }
    std::sort(found.begin(), found.end());
    std::vector<std::uint32_t> result;
    for (const auto& each : found) {
      result.push_back(each.second);
    }
    return result;
  }

 private:
  struct part {
    explicit part(communicator_ref c) : comm(std::move(c)), own(comm->rank().value() + 1) {
      word = comm->rank() == last() ? 42 : -1;
    }
    [[nodiscard]] comm_rank last() const { return comm_rank{comm->size() - 1}; }
    communicator_ref comm;
    int own, total = -1, word;
    std::shared_ptr<ongoing> sum, bcast;
    std::shared_ptr<new_communicator> copy;
  };

  void begin_sum(part& p) {
    p.sum = begin(p, coll::plan_of(coll::position(*p.comm),
                                   {coll::collective::allreduce, coll::operand(&p.own),
                                    int_at(&p.total), -1, std::make_shared<const coll::op>()}));
  }
  void begin_copy(part& p) { p.copy = coll::start_duplicate(m_.engine, p.comm); }
  void begin_bcast(part& p) {
    p.bcast = begin(p, coll::plan_of(coll::position(*p.comm),
                                     {coll::collective::bcast, {}, int_at(&p.word), p.last()}));
  }
  std::shared_ptr<ongoing> begin(part& p, coll::plan_ref plan) {
    return coll::start(m_.engine, p.comm, std::move(plan), coll::nonblocking_tag(*p.comm));
  }
  [[nodiscard]] bool over() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const part& p) {
      return p.sum->over.done() && p.bcast->over.done() && p.copy->over.done();
    });
  }

  member& m_;
  std::vector<part> parts_;  // never grows once plans point into it
};

/// Calls `runs` by one thread, with all ranks of a job; it gives a run to each chooser it likes.
void with_job(int ranks, const std::function<void(const std::function<void(chooser&)>&)>& runs) {
  struct seat {
    member* who = nullptr;
    std::vector<communicator_ref> comms;
  };
  std::vector<seat> seats(static_cast<std::size_t>(ranks));
  std::latch all_here(ranks), over(1);
  run_job(ranks, backend::inproc, core::threading::one, [&](member& m) {
    seat& mine = seats[m.comm.rank().index()];
    mine.who = &m;
    for (int i = 0; i < 2; ++i) {
      mine.comms.push_back(coll::duplicate({m.engine, m.comm}));
    }
    coll::barrier({m.engine, m.comm});
    all_here.arrive_and_wait();
    if (m.comm.rank() == 0) {
      runs([&](chooser& who) {
        std::vector<std::unique_ptr<script>> scripts;
        std::vector<std::function<void()>> bodies;
        for (const seat& s : seats) {
          script* const one = scripts.emplace_back(std::make_unique<script>(*s.who, s.comms)).get();
          bodies.emplace_back([one] { one->run(); });
        }
        explorer::run(bodies, who);
        for (const auto& s : scripts) {
          s->check();
          EXPECT_EQ(s->contexts(), scripts.front()->contexts());
        }
      });
      over.count_down();
    }
    over.wait();
    mine.comms.clear();
    coll::barrier({m.engine, m.comm});
  });
}

TEST(schedule_interleavings, at_random) {
  const char* given = std::getenv("SINEW_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 71;
  SCOPED_TRACE("SINEW_TEST_SEED=" + std::to_string(seed));
  for (const int ranks : {2, 3, 5}) {
    with_job(ranks, [&](const std::function<void(chooser&)>& run) {
      for (std::uint64_t i = 0; i < 90 && !testing::Test::HasFailure(); ++i) {
        const double preemption[] = {0.05, 0.5, 0.95};
        random_chooser who(seed + i, preemption[i % 3]);
        run(who);
      }
    });
  }
}

}  // namespace
}  // namespace sinew::test
