// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/losses.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/boot/shared_memory.hpp"
#include "support/job.hpp"

namespace sinew::core {
namespace {

constexpr int ranks = 4;

/// Rank 0 of four; the others are names only.
struct survivor {
  explicit survivor(threading threads)
      : made(ranks, test::backend::inproc, threads == threading::many) {
    auto session = std::make_unique<test::fake_session>(0, ranks);
    session->deaths = &deaths;
    own = runtime::over(std::move(session), made.take(0), threads);
  }
  boot::descriptor memory = boot::make_shared_memory("losses_test");
  boot::survival deaths{memory.get(), ranks};
  test::endpoints made;
  std::unique_ptr<runtime> own;
};

struct heard {
  const char* by;
  job_rank dead;
  bool operator==(const heard&) const = default;
};

/// Listens, and notes what it is told in a list that all share.
class ear {
 public:
  ear(runtime& rt, loss_listener as, const char* by, std::vector<heard>& list)
      : rt_(rt), as_(as), by_(by), list_(list) {
    losses::of(rt).listen(
        as,
        [](void* self, job_rank dead) {
          auto& e = *static_cast<ear*>(self);
          e.list_.push_back({e.by_, dead});
        },
        this);
  }
  ~ear() { losses::of(rt_).stop_listening(as_); }
  ear(const ear&) = delete;
  ear& operator=(const ear&) = delete;

 private:
  runtime& rt_;
  loss_listener as_;
  const char* by_;
  std::vector<heard>& list_;
};

TEST(losses, are_told_once_from_below_to_above_and_not_of_oneself) {
  for (const threading threads : {threading::one, threading::many}) {
    survivor s(threads);
    losses& all = losses::of(*s.own);
    EXPECT_TRUE(all.are_survived());
    std::vector<heard> list;
    const ear events(*s.own, loss_listener::events, "events", list);
    const ear messages(*s.own, loss_listener::messages, "messages", list);
    s.deaths.mark_dead(2);
    s.deaths.mark_dead(0);
    s.deaths.mark_dead(1);
    EXPECT_TRUE(all.is_dead(2) && all.is_dead(1));
    EXPECT_FALSE(all.is_dead(3) || all.is_gone(2));
    EXPECT_TRUE(list.empty()) << "told outside of progress";
    for (int i = 0; i < 5; ++i) {
      s.own->poll();
    }
    const std::vector<heard> wanted = {
        {"messages", 2}, {"messages", 1}, {"events", 2}, {"events", 1}};
    EXPECT_EQ(list, wanted);
    EXPECT_TRUE(all.is_gone(2) && all.is_gone(1));
    EXPECT_FALSE(all.is_gone(3));
  }
}

TEST(losses, who_comes_late_hears_of_all_and_who_has_gone_of_none) {
  survivor s(threading::one);
  std::vector<heard> list;
  s.deaths.mark_dead(3);
  {
    const ear early(*s.own, loss_listener::memory, "early", list);
    s.own->poll();
  }
  s.deaths.mark_dead(1);
  s.own->poll();
  EXPECT_EQ(list, (std::vector<heard>{{"early", 3}}));
  const ear late(*s.own, loss_listener::memory, "late", list);
  s.own->poll();
  EXPECT_EQ(list, (std::vector<heard>{{"early", 3}, {"late", 3}, {"late", 1}}));
}

TEST(losses, nobody_is_told_where_the_job_ends_with_the_first) {
  test::endpoints made(ranks, test::backend::inproc, false);
  const auto own =
      runtime::over(std::make_unique<test::fake_session>(0, ranks), made.take(0), threading::one);
  std::vector<heard> list;
  const ear listens(*own, loss_listener::memory, "memory", list);
  own->poll();
  EXPECT_FALSE(losses::of(*own).are_survived() || losses::of(*own).is_dead(1));
  EXPECT_TRUE(list.empty());
}

TEST(losses, listeners_come_and_go_while_others_make_progress) {
  survivor s(threading::many);
  std::atomic<bool> over{false};
  std::thread progress([&] {
    while (!over.load(std::memory_order_relaxed)) {
      s.own->poll();
    }
  });
  for (int r = 1; r < ranks; ++r) {
    for (int i = 0; i < 200; ++i) {
      std::vector<heard> list;
      if (i == 100) {
        s.deaths.mark_dead(job_rank{r});
      }
      {
        const ear listens(*s.own, loss_listener::images, "images", list);
        std::this_thread::yield();
      }
      EXPECT_LE(list.size(), static_cast<std::size_t>(r));  // nobody adds to it any more
    }
  }
  over = true;
  progress.join();
}

}  // namespace
}  // namespace sinew::core
