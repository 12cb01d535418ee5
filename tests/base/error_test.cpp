// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/error.hpp"

#include <gtest/gtest.h>

#include "sinew/base/check.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/status.hpp"

namespace sinew {
namespace {

TEST(error, ReadsProblemReasonAdvice) {
  const error full("no memory", "the limit is 64 kB", "raise it");
  EXPECT_STREQ(full.what(), "no memory (the limit is 64 kB); raise it.");
  EXPECT_EQ(full.problem(), "no memory");
  EXPECT_EQ(full.why(), "the limit is 64 kB");
  EXPECT_EQ(full.hint(), "raise it");
  EXPECT_STREQ(error("no memory", "").what(), "no memory.");
  EXPECT_STREQ(error("no start", full.what()).what(),
               "no start (no memory (the limit is 64 kB); raise it).");
}

TEST(sentence, EndsAndGoesOn) {
  EXPECT_EQ(as_sentence("it ends"), "it ends.");
  EXPECT_EQ(as_sentence("it ends."), "it ends.");
  EXPECT_EQ(as_sentence("does it?"), "does it?");
  EXPECT_EQ(as_sentence("these:"), "these:");
  EXPECT_EQ(as_sentence(""), "");
  EXPECT_EQ(as_clause("it ends."), "it ends");
  EXPECT_EQ(as_clause("it ends"), "it ends");
}

TEST(check, ThrowsAndEvaluatesItsTextsOnlyOnFailure) {
  int built = 0;
  const auto text = [&built] {
    ++built;
    return std::string("text");
  };
  SINEW_CHECK(true, text(), "why", "hint");
  EXPECT_EQ(built, 0);
  EXPECT_THROW(SINEW_CHECK(false, text(), "why", "hint"), error);
  EXPECT_EQ(built, 1);
}

#if defined(SINEW_CHECKED)
TEST(assertions_death_test, NameTheirPlaceAndAbort) {
  EXPECT_DEATH(SINEW_EXPECT(1 + 1 == 3), "1 \\+ 1 == 3(.|\n)*error_test.cpp:[0-9]+");
  EXPECT_DEATH(SINEW_ASSERT(false), "asserted");
  EXPECT_DEATH(SINEW_ENSURE(false), "ensured on exit");
}
#else
TEST(assertions, AreNotEvaluatedInRelease) {
  int evaluated = 0;
  SINEW_EXPECT(++evaluated > 0);
  EXPECT_EQ(evaluated, 0);
}
#endif

TEST(status, SaysOneOfThree) {
  EXPECT_TRUE(status::ok().done());
  EXPECT_TRUE(status::pending().posted());
  EXPECT_TRUE(status::again(retry_reason::no_slot).retry());
  EXPECT_EQ(status::again(retry_reason::no_slot).reason, retry_reason::no_slot);
  EXPECT_EQ(sizeof(status), 2U);
}

}  // namespace
}  // namespace sinew
