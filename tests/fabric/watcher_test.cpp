// SPDX-License-Identifier: BSD-3-Clause
// A sleeper whom another descriptor wakes: for something, and for nothing.
#include "fabric/joint/watcher.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/worlds.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::fabric::contract {
namespace {

constexpr std::uint64_t long_ns = 10'000'000'000;
constexpr unsigned rounds = 12;

/// A rank that sleeps, and a descriptor that is readable all the time.
class woken {
 public:
  woken() : sleeper_(world_.open(0, true)), events_(eventfd(1, EFD_CLOEXEC)) {}
  ~woken() { close(events_); }
  woken(const woken&) = delete;
  woken& operator=(const woken&) = delete;

  /// Falls asleep several times, each time after as much has `happened` as that says. The time.
  template <class Happened>
  [[nodiscard]] std::uint64_t sleep_often(Happened happened) {
    joint::watcher watcher(events_, *sleeper_);
    const std::int64_t begun = now_ns();
    for (unsigned i = 0; i < rounds; ++i) {
      watcher.watch(happened(i));
      sleeper_->sleep(long_ns);
    }
    return static_cast<std::uint64_t>(now_ns() - begun);
  }

 private:
  node_world world_{1};
  std::unique_ptr<endpoint> sleeper_;
  int events_;
};

std::uint64_t pauses_in_vain() {
  vain_wakes vain;
  std::uint64_t all = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    all += vain.pause_ns(i != 0, 7);
  }
  return all;
}

TEST(watcher, wakes_for_nothing_ever_more_seldom) {
  const std::uint64_t pauses = pauses_in_vain();
  ASSERT_GT(pauses, 5 * vain_wakes::longest_ns);
  const std::uint64_t took = woken{}.sleep_often([](unsigned) { return 7; });
  EXPECT_GE(took, pauses - vain_wakes::longest_ns);  // the last sleep may end early
  EXPECT_LT(took, long_ns);
}

TEST(watcher, wakes_each_time_for_something) {
  EXPECT_LT(woken{}.sleep_often([](unsigned i) { return i; }), long_ns);
}

TEST(watcher, a_pause_ends_with_it) {
  node_world world(1);
  const auto sleeper = world.open(0, true);
  const int events = eventfd(1, EFD_CLOEXEC);
  {
    joint::watcher watcher(events, *sleeper);
    for (unsigned i = 0; i < rounds; ++i) {
      watcher.watch(0);
      sleeper->sleep(long_ns);
    }
    watcher.watch(0);
  }
  close(events);
}

TEST(vain_wakes, only_several_in_a_row_bring_pauses) {
  vain_wakes vain;
  std::uint64_t happened = 0;
  EXPECT_EQ(vain.pause_ns(false, happened), 0u);
  EXPECT_EQ(vain.pause_ns(true, happened), 0u);
  EXPECT_EQ(vain.pause_ns(true, happened), vain_wakes::shortest_ns);
  EXPECT_EQ(vain.pause_ns(true, happened), 2 * vain_wakes::shortest_ns);
  for (int i = 0; i < 100; ++i) {
    (void)vain.pause_ns(true, happened);
  }
  EXPECT_EQ(vain.pause_ns(true, happened), vain_wakes::longest_ns);
  EXPECT_EQ(vain.pause_ns(true, ++happened), 0u);
  EXPECT_EQ(vain.pause_ns(true, happened), 0u);
  EXPECT_EQ(vain.pause_ns(true, happened), vain_wakes::shortest_ns);
  EXPECT_EQ(vain.pause_ns(false, happened), 0u);  // the sleeper was woken by another
}

}  // namespace
}  // namespace sinew::fabric::contract
