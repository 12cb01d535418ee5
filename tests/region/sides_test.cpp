// SPDX-License-Identifier: BSD-3-Clause
// Sides of transfers, checked and bound to plain memory.
#include "region/sides.hpp"

#include "fixture.hpp"
#include "plain_heaps.hpp"
#include "region/checks.hpp"

namespace sinew::region {
namespace {

/// What is thrown while binding.
template <class Call>
std::string fault_of(Call call) {
  try {
    call();
  } catch (const fault& f) {
    return f.text;
  }
  throw std::runtime_error("nothing was thrown");
}

TEST(Sides, IndicesAreReadWhereverTheyLie) {
  plain_heaps heaps(3);
  const layout values = layout_of<double>(shape(50));
  const layout numbers = layout_of<std::int64_t>(shape(40), 3, {order::by_field, {}, 8});
  const instance what = heaps.make(0, values, {2});
  const instance index = heaps.make(1, numbers, {0, 1, 2});
  instance_table& table = heaps.of(1);
  const known_ptr list = table.find(index);
  for (std::uint64_t e = 0; e < 40; ++e) {
    const std::int64_t number = static_cast<std::int64_t>(e * 7 % 50);
    std::memcpy(table.reach(*list, numbers.part_of(e)) + numbers.fields[0].at.offset +
                    numbers.within(e) * 8,
                &number, 8);
  }
  const side s = at(what, field<double>{0}).by(index, field<std::int64_t>{0}, {{2, 30}});
  const checked_side checked = check_side(table, s, "a copy cannot be made", "source");
  EXPECT_EQ(checked.elements, 30u);
  const bound_side all = bind(table, checked.wire);
  ASSERT_EQ(all.list.size(), 30u);
  EXPECT_EQ(all.list[5], 7 * 7 % 50);
  const bound_side some = bind(table, checked.wire, {10, 4});
  EXPECT_EQ(some.list, (std::vector<std::int64_t>(all.list.begin() + 10, all.list.begin() + 14)));
  address_list addresses(table, some);
  EXPECT_EQ(addresses.far(), every_rank);
  std::vector<std::uint64_t> where(4);
  addresses.next(where);
  const auto base = reinterpret_cast<std::uintptr_t>(table.reach(*table.find(what), 0));
  EXPECT_EQ(where[3], base + static_cast<std::uint64_t>(some.list[3]) * 8);

  const std::int64_t outside = 50;
  std::memcpy(table.reach(*list, 0) + numbers.fields[0].at.offset + 3 * 8, &outside, 8);
  EXPECT_EQ(fault_of([&] { (void)bind(table, checked.wire); }),
            "index 50 (the 1th) lies outside of the instance's 50 elements");
}

TEST(Sides, WhatIsNotReadyIsRefused) {
  plain_heaps heaps(2);
  const instance i = heaps.enter(0, layout_of<int>(shape(5)), memory_kind::shared, {0}).value();
  const checked_side c = check_side(heaps.of(1), at(i, field<int>{0}), "a test", "target");
  require_in(fault_of([&] { (void)bind(heaps.of(1), c.wire); }), "not ready");
}

TEST(Sides, PackedElementsFollowEachOther) {
  std::byte memory[64];
  address_list packed(memory, 8);
  std::vector<std::uint64_t> where(3);
  packed.next(where);
  packed.next(std::span(where).first(2));
  EXPECT_EQ(where[0], reinterpret_cast<std::uintptr_t>(memory) + 24);
  EXPECT_EQ(where[1], reinterpret_cast<std::uintptr_t>(memory) + 32);
}

TEST(Checks, SidesOfUnequalNumbersAndOtherTypes) {
  plain_heaps heaps(2);
  const instance i = heaps.make(0, layout_of<int>(shape{4, 5}), {0});
  const instance j = heaps.make(1, layout_of<int>(shape(20)), {1});
  const instance k = heaps.make(1, layout_of<double>(shape(20)), {1});
  const instance_table& table = heaps.of(0);
  const field<int> f{0};
  const checked_sides good = check_sides(table, at(i, f), at(j, f), "a copy cannot be made");
  const transfer t = transfer_of(action::copy, good);
  EXPECT_EQ(t.elements, 20u);
  EXPECT_EQ(t.bytes, 4u);
  EXPECT_EQ(t.to.of(), j);
  require_in(refusal([&] { (void)check_sides(table, at(i, f, {{0, 2}, {}}), at(j, f), "no"); }),
             "10 elements and its target 20");
  require_in(refusal([&] { check_types(good.from.field(), table.find(k)->where.fields[0].info); }),
             "has type int and field 'f' double");
  require_in(refusal([&] { (void)check_side(table, at(k, f), "no", "target"); }),
             "field 'f' of the target has type double");
  require_in(refusal([&] { check_contributions(entry_of<sum<double>>(), good.from.field()); }),
             "takes contributions of type double");
  require_in(refusal([&] { (void)checked_target(entry_of<sum<int>>(), *table.find(k), 0); }),
             "reduces values of type int");
  EXPECT_TRUE(checked_target(entry_of<sum<int>>(), *table.find(i), 0).in_steps);
}

TEST(Checks, OwnersOfNewInstances) {
  plain_heaps heaps(3);
  schema what(100);
  (void)what.add<int>("f");
  const instance_table& table = heaps.of(0);
  EXPECT_EQ(check_new(what, memory::heap(2), {}, table).owners, std::vector<job_rank>{2});
  EXPECT_EQ(check_new(what, memory::symmetric(), {}, table).owners, std::vector<job_rank>{0});
  EXPECT_EQ(check_new(what, memory::global(), {}, table).owners, (std::vector<job_rank>{0, 1, 2}));
  require_in(refusal([&] { (void)check_new(what, memory::shared(3), {}, table); }), "no rank 3");
}

}  // namespace
}  // namespace sinew::region
