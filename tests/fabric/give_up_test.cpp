// SPDX-License-Identifier: BSD-3-Clause
// A rank of the node that has died: what is under way to it ends, and what begins is as good as
// done. Over memory that only its owner could reach.
#include <vector>

#include "fabric/smallest.hpp"
#include "fabric/worlds.hpp"
#include "gtest/gtest.h"
#include "sinew/base/settings.hpp"

namespace sinew::fabric::contract {
namespace {

struct kept {
  int ended = 0;
  [[nodiscard]] callback when_done() {
    return {[](void* self) noexcept { ++static_cast<kept*>(self)->ended; }, this};
  }
};

void end_all(bool threads) {
  setting_base* cma = settings::find("SINEW_FABRIC_CMA");
  cma->parse("off");
  const node_world world(2);
  const auto mine = world.open(0, threads);
  const auto dead = world.open(1, threads);
  const job_rank peer = 1;
  std::vector<std::byte> here(8 << 20);
  std::vector<std::byte> there(here.size());
  const remote_address at{reinterpret_cast<std::uintptr_t>(there.data()),
                          dead->expose(there.data(), there.size())};
  kept all;
  int posted = 0;
  const auto begin = [&] {
    for (const status s :
         {mine->put(peer, here.data(), at, here.size(), all.when_done()),
          mine->get(peer, here.data(), at, here.size(), all.when_done()),
          mine->atomic(peer, atomic_op::add, at, 8, 1, 0, nullptr, all.when_done())}) {
      EXPECT_FALSE(s.retry());
      posted += s.posted() ? 1 : 0;
    }
  };
  begin();
  EXPECT_EQ(posted, 3);
  const auto full = [&] {
    return !mine->send_short(peer, 1, {}, nullptr, 0).done() ||
           !mine->send_medium(peer, 1, {}, here.data(), 1000).done();
  };
  for (int i = 0; i < 100000 && !full(); ++i) {
    (void)mine->progress(16);
  }
  EXPECT_TRUE(full());
  EXPECT_FALSE(mine->flush(peer).done());
  EXPECT_EQ(all.ended, 0);
  mine->give_up(peer);
  mine->give_up(peer);
  (void)mine->progress(16);
  EXPECT_EQ(all.ended, 3);
  EXPECT_FALSE(full());
  EXPECT_TRUE(mine->flush(peer).done());
  begin();
  EXPECT_EQ(posted, 3) << "what begins now is as good as done";
  cma->parse(cma->default_text());
}

TEST(give_up, what_is_under_way_ends) { end_all(false); }
TEST(give_up, what_is_under_way_ends_with_threads) { end_all(true); }

TEST(give_up, ends_what_is_under_way_by_messages) {
  const auto all = open_smallest(2, false);
  endpoint& mine = *all[0];
  const job_rank peer = 1;
  std::vector<std::byte> here(8 << 20);
  std::vector<std::byte> there(here.size());
  const remote_address at{reinterpret_cast<std::uintptr_t>(there.data()),
                          all[1]->expose(there.data(), there.size())};
  kept ends;
  EXPECT_TRUE(mine.get(peer, here.data(), at, here.size(), ends.when_done()).posted());
  EXPECT_TRUE(mine.atomic(peer, atomic_op::add, at, 8, 1, 0, nullptr, ends.when_done()).posted());
  EXPECT_TRUE(mine.put(peer, here.data(), at, here.size(), ends.when_done()).posted());
  EXPECT_TRUE(mine.flush(peer).retry());
  mine.give_up(peer);
  mine.sleep(60'000'000'000);  // does not: there is something to tell
  (void)mine.progress(1);
  EXPECT_EQ(ends.ended, 3);
  EXPECT_TRUE(mine.flush(peer).done());
  EXPECT_TRUE(mine.get(peer, here.data(), at, 8, ends.when_done()).done());
  EXPECT_TRUE(mine.atomic(peer, atomic_op::add, at, 8, 1, 0, nullptr, ends.when_done()).done());
  EXPECT_TRUE(mine.put(peer, here.data(), at, 8, ends.when_done()).done());
  mine.give_up(peer);
  (void)mine.progress(1);
  EXPECT_EQ(ends.ended, 3);
}

}  // namespace
}  // namespace sinew::fabric::contract
