// SPDX-License-Identifier: BSD-3-Clause
// Short messages to another node, gathered: they go though their sender calls nothing more, and
// stay in order with what is sent by itself. (The contract suite sends them among others.)
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "contract/fabric_messages.hpp"
#include "fabric/worlds.hpp"
#include "sinew/base/clock.hpp"

#if defined(SINEW_WITH_UCX)
namespace sinew::fabric::contract {
namespace {

constexpr std::uint64_t count = 100;
constexpr std::int64_t patience_ns = 20'000'000'000;

std::string run_over_tcp(int ranks, const body& work) {
  ::setenv("UCX_TLS", "tcp", 1);
  const network_world world(ranks);
  std::string problem = run_forked(world, [&](int r) { return world.open(r, true); }, work);
  ::unsetenv("UCX_TLS");
  return problem;
}

/// Ranks 0 and 1 have talked, so rank 0 need not make progress to be connected.
void get_acquainted(member& m, receiver& r) {
  m.fabric.set_handler(1, &receiver::take, &r);
  m.fabric.set_handler(2, [](void*, const arrival&) noexcept { return status::ok(); }, nullptr);
  m.barrier();
  while (m.fabric.send_short(job_rank{1 - m.rank()}, 2, {}, nullptr, 0).retry()) {
    m.idle();
  }
  const std::int64_t begun = now_ns();
  m.until([&] { return now_ns() - begun > 50'000'000; });
  m.barrier();
}

void take_all(member& m, const receiver& r, std::uint64_t messages = count) {
  const std::int64_t begun = now_ns();
  m.until([&] {
    require(now_ns() - begun < patience_ns, std::to_string(r.total) + " messages came");
    return r.total == messages;
  });
  r.check();
}

/// `choice`: how they are sent.
std::string sent_by_who_computes(std::uint64_t messages, unsigned choice) {
  return run_over_tcp(2, [=](member& m) {
    receiver r(1);
    get_acquainted(m, r);
    std::vector<std::byte> room(64);
    if (m.rank() == 0) {
      for (std::uint64_t k = 0; k < messages; ++k) {
        send_somehow(m.fabric, 1, 0, k, k % 64, choice, room,
                     [] { require(false, "there was no room"); });
      }
      const std::int64_t begun = now_ns();
      while (m.all.word[0].load() == 0) {  // and no progress
        require(now_ns() - begun < patience_ns && m.all.failed.load() == 0, "they did not go");
        sched_yield();
      }
    } else {
      take_all(m, r, messages);
      m.all.word[0].store(1);
    }
    m.barrier();
  });
}

TEST(batches, go_though_their_sender_computes) { EXPECT_EQ(sent_by_who_computes(count, 1), ""); }

TEST(batches, what_may_wait_goes_though_its_sender_computes) {
  EXPECT_EQ(sent_by_who_computes(1, 3), "");
  EXPECT_EQ(sent_by_who_computes(count, 3), "");
}

// What may wait and what does not, in every order of the two, with one that no batch holds.
TEST(batches, what_may_wait_keeps_its_place) {
  EXPECT_EQ(run_over_tcp(2,
                         [](member& m) {
                           receiver r(1);
                           get_acquainted(m, r);
                           std::vector<std::byte> room(4096);
                           std::minstd_rand random(static_cast<unsigned>(seed()));
                           for (std::uint64_t k = 0; m.rank() == 0 && k < count; ++k) {
                             const std::size_t size = random() % 8 == 0 ? room.size() : k % 64;
                             send_somehow(m.fabric, 1, 0, k, size, 2 + random() % 2, room,
                                          [&] { m.idle(); });
                             if (random() % 4 == 0) {
                               (void)m.fabric.progress(16);
                             }
                           }
                           if (m.rank() == 1) {
                             take_all(m, r);
                           }
                           m.barrier();
                         }),
            "");
}

// Programs count their open files, and find more only where they have opened some.
TEST(batches, open_no_files) {
  EXPECT_EQ(run_over_tcp(2,
                         [](member& m) {
                           const auto open_files = [] {
                             namespace fs = std::filesystem;
                             return std::distance(fs::directory_iterator("/proc/self/fd"),
                                                  fs::directory_iterator());
                           };
                           receiver r(1);
                           get_acquainted(m, r);
                           const auto before = open_files();
                           std::vector<std::byte> room(64);
                           for (std::uint64_t k = 0; m.rank() == 0 && k < count; ++k) {
                             send_somehow(m.fabric, 1, 0, k, k % 64, 3, room, [&] { m.idle(); });
                           }
                           if (m.rank() == 1) {
                             take_all(m, r);
                           }
                           m.barrier();
                           require(open_files() == before, "there are other open files");
                         }),
            "");
}

TEST(batches, go_before_their_sender_leaves) {
  EXPECT_EQ(run_over_tcp(2,
                         [](member& m) {
                           receiver r(1);
                           get_acquainted(m, r);
                           std::vector<std::byte> room(64);
                           for (std::uint64_t k = 0; m.rank() == 0 && k < count; ++k) {
                             send_somehow(m.fabric, 1, 0, k, k % 64, 1, room, [&] { m.idle(); });
                           }
                           if (m.rank() == 0) {
                             m.fabric.leave();
                           } else {
                             take_all(m, r);
                           }
                         }),
            "");
}

TEST(batches, keep_their_place_among_others) {
  EXPECT_EQ(run_over_tcp(2,
                         [](member& m) {
                           receiver r(1);
                           get_acquainted(m, r);
                           std::vector<std::byte> room(m.fabric.longest_to(job_rank{1 - m.rank()}));
                           for (std::uint64_t k = 0; m.rank() == 0 && k < count; ++k) {
                             const std::size_t size = k % 7 == 6 ? room.size() : k % 7 * 300;
                             send_somehow(m.fabric, 1, 0, k, size, static_cast<unsigned>(k), room,
                                          [&] { m.idle(); });
                           }
                           if (m.rank() == 1) {
                             take_all(m, r);
                           }
                           m.barrier();
                         }),
            "");
}

}  // namespace
}  // namespace sinew::fabric::contract
#endif
