// SPDX-License-Identifier: BSD-3-Clause
// Hot operations allocate nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sinew/fabric/fabric.hpp"
#include "support/allocations.hpp"

namespace sinew::fabric {
namespace {

status ignore(void*, const arrival&) noexcept { return status::ok(); }

void exercise(endpoint& from, endpoint& to, std::vector<std::byte>& source,
              std::vector<std::byte>& target, const remote_address& at) {
  const std::byte room[100] = {};
  (void)from.send_short(1, 1, {{1, 2}}, room, 8);
  (void)from.send_medium(1, 1, {{1, 2}}, room, sizeof room);
  packet p;
  if (from.reserve(1, p).done()) {
    while (from.commit(1, 1, {{1, 2}}, p, 50).retry()) {
      to.progress(8);
    }
  }
  bool done = false;
  const callback fire{[](void* a) noexcept { *static_cast<bool*>(a) = true; }, &done};
  status s = to.get(0, target.data(), at, source.size(), fire);
  while (s.posted() && !done) {
    from.progress(8);
    to.progress(8);
  }
  done = false;
  std::uint64_t old = 0;
  s = to.atomic(0, atomic_op::fetch_add, at, 8, 1, 0, &old, fire);
  while (s.posted() && !done) {
    from.progress(8);
    to.progress(8);
  }
}

void expect_none(endpoint& from, endpoint& to) {
  from.set_handler(1, ignore, nullptr);
  to.set_handler(1, ignore, nullptr);
  std::vector<std::byte> source(50000);
  std::vector<std::byte> target(50000);
  const remote_address at{reinterpret_cast<std::uintptr_t>(source.data()),
                          from.expose(source.data(), source.size())};
  for (int i = 0; i < 300; ++i) {
    exercise(from, to, source, target, at);
  }
  const long before = test::allocations;
  for (int i = 0; i < 1000; ++i) {
    exercise(from, to, source, target, at);
  }
  EXPECT_EQ(test::allocations, before);
}

TEST(allocations, none_in_shm) {
  for (const bool threads : {false, true}) {
    const std::size_t each = shm_bytes_per_rank(2);
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, 2 * each));
    ASSERT_NE(memory, nullptr);
    std::fill_n(memory, 2 * each, std::byte{0});
    const auto a = open_shm({memory, each, 0, 0, {0, 1}}, threads);
    const auto b = open_shm({memory, each, 1, 1, {0, 1}}, threads);
    expect_none(*a, *b);
    std::free(memory);
  }
}

TEST(allocations, none_in_inproc) {
  const auto all = open_inproc(2, true);
  expect_none(*all[0], *all[1]);
}

TEST(shm_set_up, too_small_a_part_is_refused) {
  alignas(4096) static std::byte memory[4096];
  EXPECT_ANY_THROW((void)open_shm({memory, sizeof memory, 0, 0, {0}}, false));
}

TEST(shm_set_up, a_peer_that_is_not_there_yet_means_retry) {
  const std::size_t each = shm_bytes_per_rank(2);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, 2 * each));
  ASSERT_NE(memory, nullptr);
  std::fill_n(memory, 2 * each, std::byte{0});
  const auto a = open_shm({memory, each, 0, 0, {0, 1}}, false);
  EXPECT_TRUE(a->send_short(1, 1, {}, nullptr, 0).retry());
  packet p;
  EXPECT_TRUE(a->reserve(1, p).retry());
  EXPECT_TRUE(a->get(1, memory, {}, 8, {}).retry());
  const auto b = open_shm({memory, each, 1, 1, {0, 1}}, false);
  EXPECT_TRUE(a->send_short(1, 1, {}, nullptr, 0).done());
  std::free(memory);
}

}  // namespace
}  // namespace sinew::fabric
