// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"

namespace sinew {
namespace {

setting<bool> flag("testmodule", "FLAG", false, "", "a switch");
setting<std::int64_t> limit("testmodule", "LIMIT", 8192, "bytes", "a size",
                            {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> count("testmodule", "COUNT", 7, "", "a number", {.least = -5, .most = 100});
setting<std::int64_t> fan("testmodule", "FAN", 0, "", "children",
                          {.least = 2, .most = 64, .or_zero = true});
setting<double> share("testmodule", "SHARE", 0.5, "", "a part", {.least = 0, .most = 2});
setting<std::string> kind("testmodule", "KIND", "list", "", "a choice", "list|hash");

class settings_test : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"SINEW_TESTMODULE_FLAG", "SINEW_TESTMODULE_LIMIT",
                             "SINEW_TESTMODULE_LIMTI", "SINEW_BOOT_RANK", "SINEW_QQQQQQQQQQ"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(settings_test, NamesAreMadeOfModuleAndKey) {
  EXPECT_EQ(flag.name(), "SINEW_TESTMODULE_FLAG");
  EXPECT_EQ(settings::find("SINEW_TESTMODULE_FLAG"), &flag);
  EXPECT_EQ(settings::find("SINEW_TESTMODULE"), nullptr);
}

TEST_F(settings_test, TableIsOrderedByName) {
  std::string last;
  bool seen = false;
  for (const setting_base* one : settings::all()) {
    EXPECT_LT(last, one->name());
    last = one->name();
    seen = seen || one == &limit;
  }
  EXPECT_TRUE(seen);
}

TEST_F(settings_test, ASettingLeavesTheTableWithItsObject) {
  const std::size_t before = settings::all().size();
  {
    setting<bool> passing("testmodule", "PASSING", true, "", "gone soon");
    EXPECT_EQ(settings::all().size(), before + 1);
  }
  EXPECT_EQ(settings::all().size(), before);
  EXPECT_EQ(settings::find("SINEW_TESTMODULE_PASSING"), nullptr);
}

TEST_F(settings_test, Booleans) {
  for (const char* yes : {"on", "TRUE", "Yes", "1"}) {
    flag.assign(false);
    flag.parse(yes);
    EXPECT_TRUE(flag()) << yes;
  }
  for (const char* no : {"off", "False", "no", "0"}) {
    flag.assign(true);
    flag.parse(no);
    EXPECT_FALSE(flag()) << no;
  }
  EXPECT_THROW(flag.parse("perhaps"), error);
  EXPECT_THROW(flag.parse(""), error);
}

TEST_F(settings_test, Bytes) {
  struct row {
    const char* text;
    std::int64_t value;
  };
  for (const row& r : {row{"0", 0}, row{"17", 17}, row{"4k", 4096}, row{"2M", 2 << 20},
                       row{"1G", 1 << 30}, row{"3KiB", 3072}, row{"5b", 5}}) {
    limit.parse(r.text);
    EXPECT_EQ(limit(), r.value) << r.text;
  }
  for (const char* bad : {"", "k", "-1", "4kk", "4 k", "9999999999G", "0x10", "1.5M"}) {
    limit.assign(42);
    EXPECT_THROW(limit.parse(bad), error) << bad;
    EXPECT_EQ(limit(), 42) << "a refused text must leave the value alone: " << bad;
  }
  limit.parse("64k");
  EXPECT_EQ(limit.text(), "64k");
  EXPECT_EQ(limit.default_text(), "8k");
}

TEST_F(settings_test, WholeNumbersTakeNoSuffix) {
  count.parse("-3");
  EXPECT_EQ(count(), -3);
  EXPECT_THROW(count.parse("4k"), error);
  EXPECT_EQ(count.text(), "-3");
}

TEST_F(settings_test, Doubles) {
  share.parse("0.25");
  EXPECT_EQ(share(), 0.25);
  EXPECT_EQ(share.text(), "0.25");
  EXPECT_THROW(share.parse("half"), error);
}

template <class Setting>
void refuses(Setting& one, std::initializer_list<const char*> texts) {
  const auto before = one();
  for (const char* text : texts) {
    try {
      one.parse(text);
      ADD_FAILURE() << one.name() << " took " << text;
    } catch (const error& e) {
      const std::string sentence = e.what();
      for (const std::string& part :
           {one.name(), "\"" + std::string(text) + "\"", one.accepted_text(), one.default_text()}) {
        EXPECT_NE(sentence.find(part), std::string::npos) << sentence << " lacks " << part;
      }
    }
    EXPECT_EQ(one(), before) << "a refused text must leave the value alone: " << text;
  }
}

TEST_F(settings_test, ValuesOutsideTheRangeAreRefused) {
  refuses(fan, {"1", "-1", "65", "9223372036854775807", "9223372036854775808", "", "nan"});
  refuses(count, {"-6", "101"});
  refuses(limit, {"-1", "17592186044417", "17T", "16385G"});
  refuses(share, {"-5", "-0.1", "2.1", "nan", "-nan", "inf", "-inf", "1e300"});
  fan.parse("0");
  EXPECT_EQ(fan(), 0);
  fan.parse("64");
  EXPECT_EQ(fan(), 64);
  limit.parse("16T");
  EXPECT_EQ(limit(), most_setting_bytes);
  share.parse("2");
  EXPECT_EQ(share(), 2.0);
}

TEST_F(settings_test, RangesAreWritten) {
  EXPECT_EQ(fan.accepted_text(), "0, or 2 to 64");
  EXPECT_EQ(count.accepted_text(), "-5 to 100");
  EXPECT_EQ(limit.accepted_text(), "0 to 16T");
  EXPECT_EQ(share.accepted_text(), "0 to 2");
  EXPECT_EQ(flag.accepted_text(), "on or off");
  EXPECT_EQ(kind.accepted_text(), "one of list hash");
}

TEST_F(settings_test, ChoicesAreClosedAndNamedInTheError) {
  kind.parse("hash");
  EXPECT_EQ(kind(), "hash");
  try {
    kind.parse("hsah");
    FAIL() << "accepted a choice that is none";
  } catch (const error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("SINEW_TESTMODULE_KIND"), std::string::npos) << text;
    EXPECT_NE(text.find("hsah"), std::string::npos) << text;
    EXPECT_NE(text.find("list hash"), std::string::npos) << text;
  }
}

TEST_F(settings_test, EnvironmentIsReadAndOriginKept) {
  ::setenv("SINEW_TESTMODULE_LIMIT", "1M", 1);
  EXPECT_TRUE(settings::load_environment().empty());
  EXPECT_EQ(limit(), 1 << 20);
  EXPECT_EQ(limit.origin(), setting_origin::environment);
  EXPECT_TRUE(settings::load_environment().empty());
}

TEST_F(settings_test, BadEnvironmentThrows) {
  ::setenv("SINEW_TESTMODULE_LIMIT", "lots", 1);
  EXPECT_THROW(settings::load_environment(), error);
}

TEST_F(settings_test, UnknownNameIsReportedWithTheNearest) {
  ::setenv("SINEW_TESTMODULE_LIMTI", "1", 1);
  ::setenv("SINEW_QQQQQQQQQQ", "1", 1);
  const auto complaints = settings::load_environment();
  ASSERT_EQ(complaints.size(), 2U);
  bool near = false;
  for (const std::string& one : complaints) {
    near = near || one.find("did you mean SINEW_TESTMODULE_LIMIT?") != std::string::npos;
  }
  EXPECT_TRUE(near) << complaints[0];
}

TEST_F(settings_test, SettingsOfToolsAreReportedOnlyByTools) {
  ::setenv("SINEW_BENCH_PERS", "x", 1);
  EXPECT_TRUE(settings::load_environment().empty());
  {
    const setting<bool> linked("bench", "PEERS", true, "", "as in the tool");
    EXPECT_EQ(settings::load_environment().size(), 1U);
  }
  ::unsetenv("SINEW_BENCH_PERS");
}

TEST_F(settings_test, SettingsOfModulesThatAreNotLinkedAreNotReported) {
  for (const char* name : {"SINEW_EVENT_MOST_PENDING", "SINEW_COARRAY_THREADS", "SINEW_CC"}) {
    ::setenv(name, "x", 1);
    EXPECT_TRUE(settings::load_environment().empty()) << name;
    ::unsetenv(name);
  }
}

TEST_F(settings_test, ProtocolVariablesAreNotReported) {
  ::setenv("SINEW_BOOT_RANK", "3", 1);
  EXPECT_TRUE(settings::load_environment().empty());
}

TEST_F(settings_test, CommandLineBeatsEnvironment) {
  settings::set_from_command_line("SINEW_TESTMODULE_FLAG", "on");
  ::setenv("SINEW_TESTMODULE_FLAG", "off", 1);
  EXPECT_TRUE(settings::load_environment().empty());
  EXPECT_TRUE(flag());
  EXPECT_EQ(flag.origin(), setting_origin::command_line);
  EXPECT_THROW(settings::set_from_command_line("SINEW_TESTMODULE_FLAGS", "on"), error);
}

TEST(edit_distance, CountsEditsAndSwaps) {
  EXPECT_EQ(base::edit_distance("", ""), 0U);
  EXPECT_EQ(base::edit_distance("abc", ""), 3U);
  EXPECT_EQ(base::edit_distance("abc", "abd"), 1U);
  EXPECT_EQ(base::edit_distance("abcd", "abdc"), 1U);
  EXPECT_EQ(base::edit_distance("kitten", "sitting"), 3U);
}

TEST(bytes_text, IsExactAndReadsBack) {
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1023}, std::int64_t{1024},
        std::int64_t{5000}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(base::parse_bytes(base::bytes_text(bytes)), bytes);
  }
}

}  // namespace
}  // namespace sinew
