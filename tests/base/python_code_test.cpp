// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/python_code.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "sinew/base/python_sites.hpp"

namespace sinew::base {
namespace {

/// What CPython 3.11 has made of
///   def f(n):
///       a = 1
///
///       for i in range(n):
///           a += (i *
///                 (n + a))
///       (40 empty lines)
///       return (a
///               + 1)
TEST(stacks, lines_of_python) {
  constexpr char bytes[] =
      "\x80\x00\xd8\x08\x09\x80\x41\xe5\x0d\x12\x90\x31\x89\x58\x8c\x58\xf0\x00\x02\x05"
      "\x17\xf0\x00\x02\x05\x17\x88\x01\xd8\x08\x09\x88\x61\xd8\x0f\x10\x90\x31\x89\x75"
      "\xf1\x03\x01\x0f\x16\xf1\x00\x01\x09\x17\x88\x01\x88\x01\xf0\x54\x01\x00\x0d\x0e"
      "\xd8\x0e\x0f\xf1\x03\x01\x0d\x10\xf0\x00\x01\x05\x11";
  const std::string table(bytes, sizeof bytes - 1);
  // By the function's own co_lines().
  const std::pair<std::uint64_t, int> ends[] = {{2, 1},  {6, 2},   {40, 4},  {44, 5}, {52, 6},
                                                {64, 5}, {66, 47}, {68, 48}, {74, 47}};
  std::uint64_t instruction = 0;
  for (const auto& [end, line] : ends) {
    for (; instruction < end; instruction += 2) {
      EXPECT_EQ(python_line(table, 1, instruction), line) << instruction;
    }
  }
  EXPECT_EQ(python_line(table, 1, 74), 0);
  EXPECT_EQ(python_line("", 1, 0), 0);
  for (std::size_t n = 0; n < table.size(); ++n) {  // cut off, and torn
    (void)python_line(table.substr(0, n), 1, 1000);
    (void)python_line(table.substr(n), 1, 1000);
  }
}

TEST(PythonCode, LayoutsAreThoseOfVersions) {
  EXPECT_EQ(python_layout_of(0x030a07f0), nullptr);
  ASSERT_NE(python_layout_of(0x030b07f0), nullptr);
  EXPECT_EQ(python_layout_of(0x030d00f0)->minor, 13U);
  EXPECT_EQ(python_layout_of(0x020b07f0), nullptr);
  EXPECT_EQ(python_layout_of(0), nullptr);
}

TEST(PythonCode, MemoryThatIsNotThereIsNothing) {
  const process_memory own(::getpid());
  const std::uint64_t number = 42;
  EXPECT_EQ(own.at(reinterpret_cast<std::uint64_t>(&number)), 42U);
  EXPECT_EQ(own.at(8), 0U);
  EXPECT_EQ(own.at(0), 0U);
  EXPECT_EQ(own.bytes(8, 100), "");
  EXPECT_FALSE(python_place_of(own, 0, 0, *python_layout_of(0x030b07f0)).has_value());
}

TEST(PythonSites, WithoutAnInterpreterACallerIsItsOwnPlace) {
  const int here = 0;
  EXPECT_EQ(python_site(&here), &here);
  EXPECT_EQ(python_site(nullptr), nullptr);
  EXPECT_FALSE(python_source_of(&here).has_value());
}

}  // namespace
}  // namespace sinew::base
