// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/pmi_wire.hpp"

#include <gtest/gtest.h>

#include <random>

#include "fuzz/pmi_wire_input.hpp"

namespace sinew::boot {
namespace {

TEST(pmi_wire, reads_what_launchers_send) {
  const auto message = pmi_message::parse("cmd=get_result rc=0 msg=success value=(vector,(0,1,2))");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->command(), "get_result");
  EXPECT_FALSE(message->multi_line());
  EXPECT_EQ(message->number("rc"), 0);
  EXPECT_EQ(message->find("value"), "(vector,(0,1,2))");
  EXPECT_EQ(message->find("nothing"), std::nullopt);
  EXPECT_EQ(message->number("msg"), std::nullopt);
}

TEST(pmi_wire, continues_a_value_that_is_a_sentence) {
  const auto message = pmi_message::parse("cmd=abort exitcode=3 error_msg=it went  wrong");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->find("error_msg"), "it went wrong");
}

TEST(pmi_wire, accepts_values_with_an_equals_sign_and_empty_ones) {
  const auto message = pmi_message::parse("cmd=put key=a value=b=c last=");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->find("value"), "b=c");
  EXPECT_EQ(message->find("last"), "");
}

TEST(pmi_wire, refuses_malformed_lines) {
  const std::string long_name(65, 'n');
  const std::string many = [] {
    std::string text = "cmd=x";
    for (std::size_t i = 0; i < pmi_field_limit; ++i) {
      text += " a=b";
    }
    return text;
  }();
  for (const std::string& line :
       {std::string(""), std::string("   "), std::string("cmd"), std::string("cmd="),
        std::string("cmd= word"), std::string("key=value"), std::string("key=value cmd=x"),
        std::string("cmd=x =value"), std::string("cmd=x\ty=z"), std::string("cmd=x\0y=z", 9),
        std::string("cmd=x word"), std::string("cmd=x ") + long_name + "=1", many,
        "cmd=" + std::string(pmi_line_limit, 'x')}) {
    EXPECT_FALSE(pmi_message::parse(line)) << line.substr(0, 80);
  }
}

TEST(pmi_wire, numbers_are_whole_ints) {
  EXPECT_EQ(parse_number("-12"), -12);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.0", "2147483648", "99999999999999"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(pmi_wire, cuts_a_stream_into_lines) {
  pmi_line_buffer buffer;
  ASSERT_TRUE(buffer.append("cmd=a\ncmd="));
  EXPECT_EQ(buffer.next(), "cmd=a");
  EXPECT_EQ(buffer.next(), std::nullopt);
  ASSERT_TRUE(buffer.append("b\n\n"));
  EXPECT_EQ(buffer.next(), "cmd=b");
  EXPECT_EQ(buffer.next(), "");
  EXPECT_EQ(buffer.next(), std::nullopt);
}

TEST(pmi_wire, a_line_without_end_is_given_up) {
  pmi_line_buffer buffer;
  EXPECT_TRUE(buffer.append(std::string(pmi_line_limit, 'x')));
  EXPECT_FALSE(buffer.append("x"));
}

TEST(pmi_wire, escaping_is_reversible_and_makes_one_word) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  for (const std::string& text : {std::string(), std::string("plain"), all}) {
    const std::string word = pmi_escape(text);
    EXPECT_FALSE(word.empty());
    EXPECT_EQ(word.find_first_of(" =\n"), std::string::npos);
    EXPECT_EQ(pmi_unescape(word), text);
    const auto message = pmi_message::parse("cmd=put value=" + word);
    ASSERT_TRUE(message);
    EXPECT_EQ(pmi_unescape(*message->find("value")), text);
  }
  for (const char* word : {"", "x", "v%", "v%1", "v%zz", "v%F0"}) {
    EXPECT_EQ(pmi_unescape(word), std::nullopt) << word;
  }
}

TEST(pmi_wire, process_mapping) {
  using nodes = std::vector<int>;
  EXPECT_EQ(parse_process_mapping("(vector,(0,1,4))", 4), (nodes{0, 0, 0, 0}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,2))", 4), (nodes{0, 0, 1, 1}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,1))", 5), (nodes{0, 1, 0, 1, 0}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,1),(4,1,2))", 4), (nodes{0, 1, 4, 4}));
  for (const char* text :
       {"", "(vector)", "vector,(0,1,1)", "(vector,(0,1))", "(vector,(0,0,1))", "(vector,(-1,1,1))",
        "(vector,(0,1,1)", "(vector,(0,1,99999999999))", "(vector,(2147483647,9,1))"}) {
    EXPECT_TRUE(parse_process_mapping(text, 8).empty()) << text;
  }
  EXPECT_TRUE(parse_process_mapping("(vector,(0,1,4))", 0).empty());
}

TEST(pmi_wire, process_mapping_there_and_back) {
  using nodes = std::vector<int>;
  EXPECT_EQ(format_process_mapping(nodes{0, 0, 0, 0}), "(vector,(0,1,4))");
  EXPECT_EQ(format_process_mapping(nodes{0, 0, 1, 1}), "(vector,(0,2,2))");
  EXPECT_EQ(format_process_mapping(nodes{0, 1, 0, 1, 0, 1}), "(vector,(0,2,1))");
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    nodes all;
    for (std::size_t count = 1 + random() % 40; all.size() < count;) {
      all.insert(all.end(), 1 + random() % 4, static_cast<int>(random() % 3));
    }
    const std::string text = format_process_mapping(all);
    EXPECT_EQ(parse_process_mapping(text, static_cast<int>(all.size())), all) << text;
  }
}

// The same function as the fuzzer's, on seeded random bytes that look like lines more often than
// not.
TEST(pmi_wire, survives_random_input) {
  const unsigned seed = 20'240'917;
  std::mt19937 random(seed);
  constexpr std::string_view pieces[] = {
      "cmd=", "mcmd=",    "put",     " ",     "key=", "value=", "\n", "=", "endcmd",      "%",
      "v%",   "(vector,", "(0,1,2)", "rc=-1", "\x01", "\xff",   ",",  ")", "999999999999"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto count = random() % 24; count > 0; --count) {
      if (random() % 4 == 0) {
        text += static_cast<char>(random() % 256);
      } else {
        text += pieces[random() % std::size(pieces)];
      }
    }
    ASSERT_TRUE(fuzz::pmi_wire_input(text)) << "seed " << seed << ", round " << round;
  }
}

}  // namespace
}  // namespace sinew::boot
