// SPDX-License-Identifier: BSD-3-Clause
// A table whose entries are made by pages, by several threads at once.
#include "p2p/lazy_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace sinew::p2p {
namespace {

TEST(lazy_pages, nothing_is_there_until_it_is_asked_for) {
  lazy_pages<int, 8> table(20);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(table.find(i), nullptr);
  }
  table.each([](std::size_t, int) { FAIL() << "there is no entry"; });
}

TEST(lazy_pages, entries_begin_empty_and_stay_where_they_are) {
  lazy_pages<int, 8> table(20);
  int* const made = table.make(9);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(*made, 0);
  *made = 5;
  EXPECT_EQ(table.make(9), made);
  EXPECT_EQ(table.find(9), made);
  EXPECT_EQ(table.find(8), made - 1) << "the page is there";
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(table.find(16), nullptr);
}

TEST(lazy_pages, each_visits_whole_pages_but_nothing_beyond_the_end) {
  lazy_pages<int, 8> table(20);
  *table.make(1) = 1;
  *table.make(19) = 2;
  std::vector<std::size_t> seen;
  int sum = 0;
  table.each([&](std::size_t i, int value) {
    seen.push_back(i);
    sum += value;
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(sum, 3);
}

TEST(lazy_pages, a_table_of_none) {
  lazy_pages<int> table(0);
  table.each([](std::size_t, int) { FAIL(); });
}

TEST(lazy_pages, threads_that_make_one_page_at_once_get_one) {
  struct entry {
    std::atomic<int> asked{0};
    int begun = 7;  // read without synchronisation: a page is complete before it is seen
  };
  constexpr std::size_t entries = 1024;
  constexpr int threads = 4;
  for (int round = 0; round < 20; ++round) {
    lazy_pages<entry, 16> table(entries);
    std::latch start(threads);
    std::array<std::vector<entry*>, threads> seen;
    std::vector<std::thread> all;
    for (std::vector<entry*>& mine : seen) {
      all.emplace_back([&] {
        start.arrive_and_wait();
        for (std::size_t i = 0; i < entries; ++i) {
          entry* const e = table.make(i);
          ASSERT_NE(e, nullptr);
          EXPECT_EQ(e->begun, 7);
          e->asked.fetch_add(1, std::memory_order_relaxed);
          mine.push_back(e);
        }
      });
    }
    std::ranges::for_each(all, &std::thread::join);
    for (const std::vector<entry*>& other : seen) {
      EXPECT_EQ(other, seen.front());
    }
    table.each([&](std::size_t, const entry& e) { EXPECT_EQ(e.asked.load(), threads); });
  }
}

}  // namespace
}  // namespace sinew::p2p
