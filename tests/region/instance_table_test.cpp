// SPDX-License-Identifier: BSD-3-Clause
// Handles and records over plain memory.
#include "region/instance_table.hpp"

#include "fixture.hpp"
#include "plain_heaps.hpp"
#include "support/ids.hpp"

namespace sinew::region {
namespace {

TEST(InstanceTable, EveryRankFindsWhatOneHasEntered) {
  plain_heaps heaps(3);
  const layout l = layout_of<double>(shape{4, 5});
  const instance i = heaps.enter(1, l, memory_kind::shared, {2}).value();
  EXPECT_EQ(i.creator(), 1);
  for (int r = 0; r < 3; ++r) {
    const known_ptr k = heaps.of(r).find(i);
    EXPECT_EQ(k->where.elements, l.elements);
    EXPECT_EQ(k->where.part_bytes, l.part_bytes);
    EXPECT_EQ(k->where.fields.at(0).info.name.view(), "f");
    EXPECT_EQ(k->place(0).rank, 2);
    EXPECT_FALSE(k->ready());
    EXPECT_EQ(heaps.of(r).find(i), k) << "it is looked up once";
  }
}

TEST(InstanceTable, ARetiredHandleIsRefusedAndItsSlotRests) {
  plain_heaps heaps(2, 3);
  const layout l = layout_of<int>(shape(7));
  std::vector<instance> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(heaps.enter(0, l, memory_kind::shared, {0}).value());
    (void)heaps.of(1).find(all.back());
  }
  EXPECT_FALSE(heaps.enter(0, l, memory_kind::shared, {0}).has_value()) << "all slots are taken";
  const std::uint64_t record_at = heaps.of(0).offset_of(*heaps.of(0).find(all[1])->there);
  EXPECT_EQ(heaps.of(0).retire(all[1]), record_at);
  EXPECT_FALSE(heaps.of(0).retire(all[1]).has_value()) << "once only";
  EXPECT_EQ(heaps.of(0).retire(all[0]).has_value(), true);
  for (int r = 0; r < 2; ++r) {
    require_in(refusal([&] { (void)heaps.of(r).find(all[1]); }), "it has been destroyed");
  }
  const instance next = heaps.enter(0, l, memory_kind::shared, {0}).value();
  EXPECT_EQ(next.index(), all[1].index()) << "the slot that was retired first";
  EXPECT_EQ(next.generation(), all[1].generation() + 1);
  EXPECT_EQ(heaps.of(1).find(next)->id, next) << "another rank's copy of the old one is not used";
}

TEST(InstanceTable, HandlesThatStandForNone) {
  plain_heaps heaps(2, 4);
  for (const instance i : {instance(), instance(2, 0, 0), instance(0, 4 * 3, 0)}) {
    require_in(refusal([&] { (void)heaps.of(0).find(i); }), "stands for none");
  }
  require_in(refusal([&] { (void)heaps.of(0).find(instance(1, 3, 0)); }), "destroyed");
}

TEST(InstanceTable, ImagesAreNamedAfterTheirCreatorsSlot) {
  plain_heaps heaps(3, 4);
  const layout l = layout_of<int>(shape(7));
  (void)heaps.enter(2, l, memory_kind::symmetric, {0});
  const instance base = heaps.enter(2, l, memory_kind::symmetric, {0}).value();
  heaps.of(2).find(base)->there->places()[0].address = 8192;
  for (int r = 0; r < 3; ++r) {
    const instance image = heaps.of(0).image_of(base, job_rank{r});
    EXPECT_EQ(image.creator(), r);
    EXPECT_EQ(heaps.of(1).base_of(image), base);
    const known_ptr k = heaps.of(1).find(image);
    EXPECT_EQ(k->place(0).rank, r);
    EXPECT_EQ(heaps.of(1).reach(*k, 0), heaps.of(1).heaps().at(job_rank{r}, 8192));
  }
  EXPECT_EQ(heaps.of(0).base_of(base), base);
  EXPECT_TRUE(heaps.of(0).can_name_images());
  std::byte some{};
  const shared_heaps many{std::vector<std::byte*>(1000, &some), 0};
  EXPECT_FALSE(instance_table(many, 64, 1 << 16, false).can_name_images());
}

TEST(InstanceTable, PrivateMemoryIsReachedByItsOwnerAlone) {
  plain_heaps heaps(2);
  const instance i = heaps.enter(0, layout_of<int>(shape(7)), memory_kind::heap, {1}).value();
  int mine = 0;
  heaps.of(0).find(i)->there->places()[0].address = reinterpret_cast<std::uintptr_t>(&mine);
  EXPECT_EQ(heaps.of(0).reach(*heaps.of(0).find(i), 0), nullptr);
  EXPECT_FALSE(heaps.of(0).sees(*heaps.of(0).find(i)));
  EXPECT_EQ(heaps.of(1).reach(*heaps.of(1).find(i), 0), reinterpret_cast<std::byte*>(&mine));
  EXPECT_TRUE(heaps.of(1).sees(*heaps.of(1).find(i)));
  EXPECT_EQ(heaps.of(0).find(i)->private_to(), 1);
}

TEST(InstanceTable, GenerationsOfASlotWrap) {
  plain_heaps heaps(1, 1);
  const layout l = layout_of<int>(shape(1));
  const std::uint64_t at = heaps.take(0, record::bytes(1, 1));
  const std::vector<job_rank> owners{0};
  for (int i = 0; i < (1 << instance::generation_bits) + 3; ++i) {
    const instance one = heaps.of(0).enter(at, l, memory_kind::shared, owners).value();
    ASSERT_EQ(one.generation(), static_cast<std::uint32_t>(i) & ((1u << 20) - 1));
    ASSERT_TRUE(heaps.of(0).retire(one).has_value());
  }
}

}  // namespace
}  // namespace sinew::region
