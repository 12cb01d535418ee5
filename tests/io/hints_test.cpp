// SPDX-License-Identifier: BSD-3-Clause
// Which hints are taken, and what is said to be in force.
#include "sinew/io/hints.hpp"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace sinew::io {
namespace {

std::string value(const hint_list& all, const std::string& key) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == key; });
  return found == all.end() ? "" : found->second;
}

TEST(hints, what_is_set_is_in_force) {
  hints h;
  h.take({{"romio_cb_read", "enable"},
          {"romio_cb_write", "disable"},
          {"cb_nodes", "3"},
          {"cb_buffer_size", "65536"},
          {"striping_unit", "512"},
          {"romio_ds_write", "enable"},
          {"ind_rd_buffer_size", "8192"},
          {"file_perm", "640"}});
  const hint_list now = h.in_force(8);
  EXPECT_EQ(value(now, "romio_cb_read"), "enable");
  EXPECT_EQ(value(now, "romio_cb_write"), "disable");
  EXPECT_EQ(value(now, "cb_nodes"), "3");
  EXPECT_EQ(value(now, "cb_buffer_size"), "65536");
  EXPECT_EQ(value(now, "striping_unit"), "512");
  EXPECT_EQ(value(now, "romio_ds_read"), "automatic");
  EXPECT_EQ(value(now, "romio_ds_write"), "enable");
  EXPECT_EQ(value(now, "ind_rd_buffer_size"), "8192");
  EXPECT_EQ(h.permissions, 0640U);
}

TEST(hints, what_means_nothing_is_ignored) {
  hints h;
  const hint_list before = h.in_force(4);
  h.take({{"cb_buffer_size", "1"},
          {"cb_buffer_size", "many"},
          {"cb_nodes", "-1"},
          {"romio_cb_read", "perhaps"},
          {"file_perm", "99999"},
          {"colour", "red"}});
  EXPECT_EQ(h.in_force(4), before);
  EXPECT_EQ(h.permissions, 0666U);
}

TEST(hints, no_more_ranks_aggregate_than_there_are) {
  hints h;
  EXPECT_EQ(h.aggregators(1), 1);
  EXPECT_EQ(h.aggregators(100), 4);
  h.take({{"cb_nodes", "16"}});
  EXPECT_EQ(h.aggregators(100), 16);
  EXPECT_EQ(h.aggregators(3), 3);
}

}  // namespace
}  // namespace sinew::io
