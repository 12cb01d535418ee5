// SPDX-License-Identifier: BSD-3-Clause
// Places of a node's memory that one rank takes after another.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "sinew/fabric/fabric.hpp"

namespace {
bool pages_stay = false;
}

/// In place of the library's, to be a system that says it has removed pages, and has not.
extern "C" int madvise(void* at, std::size_t bytes, int advice) noexcept {
  if (pages_stay && advice == MADV_REMOVE) {
    return 0;
  }
  return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice));
}

namespace sinew::fabric {
namespace {

constexpr int places = 4;
constexpr int started = 2;

/// Counts what arrives from each rank, and looks whether it comes in order.
struct inbox {
  std::array<std::uint64_t, places> next{};
  std::array<std::uint64_t, places> epoch{};
  bool wrong = false;

  static status take(void* self, const arrival& a) noexcept {
    auto& box = *static_cast<inbox*>(self);
    const std::size_t from = a.source.index();
    if (a.head.word[0] != box.epoch[from]) {
      box.epoch[from] = a.head.word[0];
      box.next[from] = 0;
    }
    std::uint64_t number = 0;
    std::memcpy(&number, a.data + (a.size - sizeof number), sizeof number);
    box.wrong = box.wrong || number != box.next[from]++;
    return status::ok();
  }
};

struct rank_here {
  rank_here(std::byte* memory, std::size_t each, int rank, std::uint32_t tenant, bool threads,
            std::vector<std::pair<job_rank, std::uint32_t>> known = {}) {
    node_memory where{memory, each, job_rank{rank}, local_rank{rank}, {0, 1, 2, 3}};
    where.started = started;
    where.tenant = tenant;
    where.tenants = std::move(known);
    net = open_shm(where, threads);
    net->set_handler(1, inbox::take, &box);
  }
  std::unique_ptr<endpoint> net;
  inbox box;
};

class tenants : public ::testing::TestWithParam<bool> {
 protected:
  tenants() {
    memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, places * each_));
    std::memset(memory_, 0, places * each_);
  }
  ~tenants() override { std::free(memory_); }

  std::unique_ptr<rank_here> open(int rank, std::uint32_t tenant,
                                  std::vector<std::pair<job_rank, std::uint32_t>> known = {}) {
    return std::make_unique<rank_here>(memory_, each_, rank, tenant, GetParam(), std::move(known));
  }

  /// `count` messages of `bytes` from one to the other, all of which arrive.
  void expect_sent(rank_here& from, rank_here& to, std::uint64_t epoch, int count,
                   std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    const std::size_t source = from.net->rank().index();
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
      std::memcpy(data.data() + (bytes - sizeof i), &i, sizeof i);
      for (int tries = 0;
           !from.net->send_medium(to.net->rank(), 1, {{epoch, 0}}, data.data(), bytes).done();
           ++tries) {
        ASSERT_LT(tries, 10000) << "message " << i;
        (void)to.net->progress(16);
        (void)from.net->progress(16);
      }
    }
    for (int rounds = 0;
         to.box.next[source] != static_cast<std::uint64_t>(count) || to.box.epoch[source] != epoch;
         ++rounds) {
      ASSERT_LT(rounds, 10000);
      (void)to.net->progress(16);
    }
    EXPECT_FALSE(to.box.wrong);
  }

  static void expect_met(rank_here& here, job_rank peer, std::uint32_t tenant) {
    for (int rounds = 0; !here.net->meet(peer, tenant); ++rounds) {
      ASSERT_LT(rounds, 100);
      (void)here.net->progress(16);
    }
  }

  std::size_t each_ = shm_bytes_per_rank(places, started);
  std::byte* memory_ = nullptr;
};

TEST_P(tenants, follow_each_other) {
  const auto a = open(0, 0);
  const auto b = open(1, 0);
  expect_sent(*a, *b, 1, 5, 8);
  std::uint64_t epoch = 2;
  for (std::uint32_t tenant = 1; tenant <= 150; ++tenant) {
    const auto later = open(2, tenant);
    const int count = static_cast<int>(tenant * 7 % 600) + 1;
    const std::size_t bytes = tenant % 3 == 0 ? 3000 : 8;
    // In turn the one side speaks first, or the other.
    if (tenant % 2 == 0) {
      expect_met(*a, 2, tenant);
      expect_sent(*a, *later, ++epoch, count, bytes);
      expect_sent(*later, *a, ++epoch, count, bytes);
    } else {
      expect_sent(*later, *a, ++epoch, count, bytes);
      expect_sent(*a, *later, ++epoch, count, bytes);
    }
    if (tenant % 5 == 0) {  // b misses some of them
      expect_met(*b, 2, whoever_is_there);
      expect_sent(*b, *later, ++epoch, 300, 8);
      expect_sent(*later, *b, ++epoch, 300, 8);
    }
    ASSERT_FALSE(HasFatalFailure()) << "tenant " << tenant;
  }
  expect_sent(*b, *a, ++epoch, 5, 8);
}

TEST_P(tenants, know_their_fellows) {
  const auto a = open(0, 0);
  std::uint64_t epoch = 1;
  for (std::uint32_t tenant = 1; tenant <= 4; ++tenant) {
    const std::vector<std::pair<job_rank, std::uint32_t>> known = {{2, tenant}, {3, tenant}};
    const auto first = open(2, tenant, known);
    // The other one's predecessor has left its part as it was: nothing goes there.
    const std::uint64_t word = 0;
    EXPECT_TRUE(first->net->send_short(3, 1, {{0, 0}}, &word, sizeof word).retry());
    const auto second = open(3, tenant, known);
    expect_sent(*first, *second, ++epoch, 300, 8);
    expect_sent(*second, *first, ++epoch, 300, 5000);
    expect_sent(*second, *a, ++epoch, 3, 8);
    ASSERT_FALSE(HasFatalFailure()) << "tenant " << tenant;
  }
}

TEST_P(tenants, are_waited_for) {
  const auto a = open(0, 0);
  EXPECT_TRUE(a->net->meet(1, whoever_is_there));  // of the start: nobody else comes there
  EXPECT_FALSE(a->net->meet(2, 1));
  const std::uint64_t word = 0;
  EXPECT_TRUE(a->net->send_short(2, 1, {{0, 0}}, &word, sizeof word).retry());
  const auto later = open(2, 1);
  expect_met(*a, 2, 1);
  expect_sent(*a, *later, 9, 1, 8);
  EXPECT_FALSE(a->net->meet(2, 2));
  (void)a->net->progress(1);
  EXPECT_TRUE(a->net->meet(2, 1));  // still the one who is there
}

TEST_P(tenants, empty_what_the_system_does_not) {
  const auto a = open(0, 0);
  pages_stay = true;
  for (std::uint32_t tenant = 1; tenant <= 3; ++tenant) {
    const auto later = open(2, tenant);
    expect_met(*a, 2, tenant);
    expect_sent(*a, *later, tenant, 300, 8);
    expect_sent(*later, *a, tenant, 300, 8);
  }
  pages_stay = false;
}

/// A long message between a rank of the start and tenants, each another process to the first.
TEST_P(tenants, have_memory_of_their_own) {
  const auto a = open(0, 0);
  for (std::uint32_t tenant = 1; tenant <= 3; ++tenant) {
    const auto later = open(2, tenant);
    expect_met(*a, 2, tenant);
    std::vector<std::byte> source(200'000, std::byte{static_cast<unsigned char>(tenant)});
    std::vector<std::byte> target(source.size());
    const remote_address at{reinterpret_cast<std::uintptr_t>(source.data()),
                            later->net->expose(source.data(), source.size())};
    bool done = false;
    const callback fire{[](void* d) noexcept { *static_cast<bool*>(d) = true; }, &done};
    status s = a->net->get(2, target.data(), at, source.size(), fire);
    for (int rounds = 0; s.posted() && !done; ++rounds) {
      ASSERT_LT(rounds, 1'000'000);
      (void)a->net->progress(8);
      (void)later->net->progress(8);
    }
    EXPECT_FALSE(s.retry());
    EXPECT_EQ(source, target);
  }
}

INSTANTIATE_TEST_SUITE_P(, tenants, ::testing::Bool());

TEST(shm_layout, free_places_do_not_change_the_others) {
  // One ring more for each place, and nothing less of anything.
  EXPECT_GE(shm_bytes_per_rank(18, 2), shm_bytes_per_rank(2) + 16 * 256 * 64);
  EXPECT_LE(shm_bytes_per_rank(18, 2), shm_bytes_per_rank(2) + 16 * 256 * 64 + 2 * 4096);
}

}  // namespace
}  // namespace sinew::fabric
