// SPDX-License-Identifier: BSD-3-Clause
// Places for what other modules keep: each key reaches its own, what the table owns goes with it.
#include "sinew/core/slot.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/core/communicator.hpp"

namespace sinew::core {
namespace {

struct holder;

/// Notes its end.
struct owned {
  owned(std::vector<std::string>& ends, std::string name) : ends_(ends), name_(std::move(name)) {}
  ~owned() { ends_.push_back(name_); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;

 private:
  std::vector<std::string>& ends_;
  std::string name_;
};

constexpr slot<holder, owned> first(0);
constexpr slot<holder, int> second(1);
constexpr slot<holder, owned> third(2);

TEST(slot, begins_empty_and_refers_to_what_is_set) {
  slot_table<holder, 3> table;
  EXPECT_EQ(table.get(first), nullptr);
  int number = 7;
  table.set(second, &number);
  EXPECT_EQ(table.get(second), &number);
  EXPECT_EQ(table.get(first), nullptr);
  int other = 8;
  table.set(second, &other);
  EXPECT_EQ(table.get(second), &other);
  table.clear(second);
  EXPECT_EQ(table.get(second), nullptr);
}

TEST(slot, what_the_table_made_goes_with_it_or_with_its_successor) {
  std::vector<std::string> ends;
  {
    slot_table<holder, 3> table;
    owned& made = table.emplace(first, ends, "first");
    EXPECT_EQ(table.get(first), &made);
    table.emplace(third, ends, "third");
    table.emplace(third, ends, "third again");
    EXPECT_EQ(ends, (std::vector<std::string>{"third"}));
    table.clear(first);
    EXPECT_EQ(ends, (std::vector<std::string>{"third", "first"}));
  }
  EXPECT_EQ(ends, (std::vector<std::string>{"third", "first", "third again"}));
}

TEST(slot, a_constructor_that_throws_leaves_what_was_there) {
  struct refuses {
    explicit refuses(bool now) {
      if (now) {
        throw std::string("no");
      }
    }
  };
  constexpr slot<holder, refuses> place(0);
  slot_table<holder, 1> table;
  refuses& before = table.emplace(place, false);
  EXPECT_THROW((void)table.emplace(place, true), std::string);
  EXPECT_EQ(table.get(place), &before);
}

TEST(slot, types_are_told_apart_by_name) {
  EXPECT_STREQ((slot<holder, int>::type()), (slot<holder, int>::type()));
  EXPECT_STRNE((slot<holder, int>::type()), (slot<holder, owned>::type()));
#if defined(SINEW_CHECKED) && !defined(SINEW_TSAN)
  slot_table<holder, 3> table;
  int number = 7;
  table.set(second, &number);
  EXPECT_DEATH((void)table.get(slot<holder, double>(1)), "fits");
  EXPECT_DEATH((void)table.get(slot<holder, int>(3)), "fits");
#endif
}

TEST(slot, a_communicator_begins_without_matching_spaces) {
  const communicator comm(4, group::range(3), 1);
  constexpr communicator_slot<int> place(slots::p2p_messages);
  EXPECT_EQ(comm.attached.get(place), nullptr);
}

}  // namespace
}  // namespace sinew::core
