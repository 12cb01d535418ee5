// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/last_words.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <thread>

namespace sinew::base {
namespace {

TEST(last_words, are_put_together_from_texts_and_numbers) {
  last_words w;
  w.add("a ").add_number(0).add(" ").add_number(UINT64_MAX).add(" 0x").add_number(0xbeef, 16);
  w.add(" ").add_number(UINT64_MAX, 2);
  EXPECT_EQ(w.text(), "a 0 18446744073709551615 0xbeef " + std::string(64, '1'));
}

TEST(last_words, that_do_not_fit_are_left_out) {
  last_words w;
  w.add(std::string(500, 'x')).add(std::string(500, 'y')).add_number(7);
  EXPECT_EQ(w.text(), std::string(500, 'x') + std::string(12, 'y'));
}

TEST(last_words, are_written_in_one_piece) {
  ::testing::internal::CaptureStderr();
  last_words().add("the end\n").write();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "the end\n");
}

TEST(last_words, a_thread_gets_a_signal_stack_once) {
  std::thread([] {
    prepare_last_words();
    stack_t first{};
    ASSERT_EQ(::sigaltstack(nullptr, &first), 0);
    ASSERT_EQ(first.ss_flags & SS_DISABLE, 0);
    prepare_last_words();
    stack_t second{};
    ASSERT_EQ(::sigaltstack(nullptr, &second), 0);
    EXPECT_EQ(first.ss_sp, second.ss_sp);
  }).join();
}

}  // namespace
}  // namespace sinew::base
