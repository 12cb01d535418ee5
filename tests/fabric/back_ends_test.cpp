// SPDX-License-Identifier: BSD-3-Clause
// The table of back-ends, and the choice among its rows.
#include "sinew/fabric/back_ends.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::fabric {
namespace {

std::shared_ptr<network> open_nothing(const network_options&) { return nullptr; }

constexpr bool never() { return false; }

constexpr back_end row_alone{.name = "alone", .about = "", .open = open_inproc};
constexpr back_end row_near{
    .name = "near", .about = "", .open = open_on_node{shm_bytes_per_rank, open_shm}};
constexpr back_end row_broken{.name = "broken", .about = "", .open = open_nothing, .usable = never};
constexpr back_end row_far{.name = "far", .about = "", .open = open_nothing};

TEST(back_ends, the_first_that_reaches_and_can_be_used_is_chosen) {
  const back_end all[] = {row_alone, row_near, row_broken, row_far};
  EXPECT_STREQ(choose(all, reach::process).name, "alone");
  EXPECT_STREQ(choose(all, reach::node).name, "near");
  EXPECT_STREQ(choose(all, reach::job).name, "far");
  const back_end far_first[] = {row_far, row_near, row_alone};
  for (const reach each : {reach::process, reach::node, reach::job}) {
    EXPECT_STREQ(choose(far_first, each).name, "far");
  }
}

TEST(back_ends, one_that_cannot_be_used_is_left_to_say_why) {
  const back_end all[] = {row_alone, row_broken};
  EXPECT_STREQ(choose(all, reach::job).name, "broken");
}

TEST(back_ends, what_none_reaches_is_said) {
  const back_end all[] = {row_alone, row_near};
  try {
    (void)choose(all, reach::job);
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("only alone,near may be used"), std::string::npos)
        << e.what();
  }
}

TEST(back_ends, the_setting_takes_the_names_of_the_table_and_keeps_their_order) {
  setting_base* const s = settings::find("SINEW_FABRIC_BACK_ENDS");
  ASSERT_NE(s, nullptr);
  std::string backwards;
  for (const back_end& each : back_ends()) {
    EXPECT_NE(s->accepted_text().find(each.name), std::string::npos) << s->accepted_text();
    backwards = each.name + (backwards.empty() ? "" : "," + backwards);
  }
  EXPECT_EQ(wanted_back_ends().size(), back_ends().size());
  s->parse(backwards);
  std::string wanted;
  for (const back_end& each : wanted_back_ends()) {
    wanted += (wanted.empty() ? "" : ",") + std::string(each.name);
  }
  s->parse("");
  EXPECT_EQ(wanted, backwards);
  EXPECT_THROW(s->parse("none_such"), error);
}

TEST(back_ends, each_has_a_name_of_its_own_and_says_what_it_is) {
  std::set<std::string> names;
  for (const back_end& each : back_ends()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(std::string(each.about).empty());
    EXPECT_EQ(each.state().starts_with("yes"), each.usable()) << each.state();
  }
}

}  // namespace
}  // namespace sinew::fabric
