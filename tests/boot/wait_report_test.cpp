// SPDX-License-Identifier: BSD-3-Clause
// What a rank waits for, as a line, and back.
#include "sinew/boot/wait_report.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {
namespace {

std::optional<wait_report> parsed(const std::string& line) {
  const auto message = pmi_message::parse(line);
  return message ? parse_wait_report(*message) : std::nullopt;
}

TEST(wait_report, travels_as_a_line) {
  const wait_report sent{
      7,  "12.3.", 40,
      38, 1500,    {awaited::kind::collective, {0, 5}, 9, "a name\n", 4, "MPI_Bcast", 0, 3, 8}};
  const std::string line = to_line(sent);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto got = parsed(line);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->turn, 7);
  EXPECT_EQ(got->state, sent.state);
  EXPECT_EQ(got->sent, 40u);
  EXPECT_EQ(got->received, 38u);
  EXPECT_EQ(got->waited_ms, 1500);
  EXPECT_EQ(got->what, sent.what);
  const auto empty = parsed(to_line({}));
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->state, "");
  EXPECT_EQ(empty->what, awaited{});
}

TEST(wait_report, what_makes_no_sense_is_refused) {
  EXPECT_FALSE(parsed("cmd=sinew_waits"));
  EXPECT_FALSE(parsed("cmd=sinew_waits kind=sleep"));
  EXPECT_TRUE(parsed("cmd=sinew_waits kind=send"));
  for (const char* wrong : {"turn=x", "ranks=1,,2", "ranks=-1", "ranks=1;2", "tag=7x", "comm=%%",
                            "bytes=99999999999999999999"}) {
    EXPECT_FALSE(parsed(std::string("cmd=sinew_waits kind=send ") + wrong)) << wrong;
  }
  std::string many = "cmd=sinew_waits kind=send ranks=0";
  for (std::size_t i = 0; i < most_awaited_ranks; ++i) {
    many += ",1";
  }
  EXPECT_FALSE(parsed(many));
}

}  // namespace
}  // namespace sinew::boot
