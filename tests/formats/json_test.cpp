// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/formats/json.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

using namespace sinew::formats;

namespace {

std::string complaint_of(std::string_view text) {
  try {
    (void)parse_json(text, "file");
  } catch (const sinew::error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST(json, reads_all_kinds) {
  const json_value v = parse_json(
      R"({"n":1.5,"t":"a\n\"b\"","l":[1,true,null],"o":{},"u":"\u0041\u00e9\u20ac"})", "x");
  EXPECT_EQ(v.find("n")->number, 1.5);
  EXPECT_EQ(v.find("t")->text, "a\n\"b\"");
  EXPECT_EQ(v.find("l")->items.size(), 3u);
  EXPECT_EQ(v.find("l")->items[2].what, json_value::kind::null);
  EXPECT_EQ(v.find("u")->text, "Aé€");
  EXPECT_EQ(v.find("missing"), nullptr);
  EXPECT_EQ(parse_json(R"("\ud83d\ude00\b")", "x").text, "\xf0\x9f\x98\x80\b");
}

TEST(json, refuses_what_is_malformed_and_says_where) {
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "{\"a\":1}x", "\"a", "\"\\u00g0\"", "\"\\u00",
                           "\"\\ud800\"", "nul", "1e999", "[1 2]", "{1:2}"}) {
    EXPECT_THROW((void)parse_json(text, "file"), sinew::error) << text;
  }
  EXPECT_EQ(complaint_of("{\n\"a\":?}"), "file:2 is malformed (Invalid value).");
  EXPECT_EQ(complaint_of("[\n\n1,\n2\n"),
            "file:5 is malformed (Missing a comma or ']' after an array element).");
  EXPECT_EQ(complaint_of("\n1.8e308"), "file:2 is malformed (no double holds this number).");
  EXPECT_EQ(complaint_of("1\n2"),
            "file:2 is malformed (The document root must not be followed by other values).");
  EXPECT_EQ(complaint_of(std::string_view("1\n\0", 3)),
            "file:2 is malformed (a zero byte follows the value).");
  EXPECT_EQ(complaint_of(""), "file:1 is malformed (The document is empty).");
  EXPECT_EQ(complaint_of(std::string(32, '[') + std::string(32, ']')), "none");
  EXPECT_EQ(complaint_of(std::string(33, '[')), "file:1 is malformed (nested too deeply).");
}

TEST(json, values_know_their_lines) {
  const json_value v = parse_json("\n{\"a\":\n[1,\n 2\n],\"b\"\n:\n\"c\"\n}\n", "file");
  EXPECT_EQ(v.line, 2u);
  EXPECT_EQ(v.find("a")->line, 3u);
  EXPECT_EQ(v.find("a")->items[0].line, 3u);
  EXPECT_EQ(v.find("a")->items[1].line, 4u);
  EXPECT_EQ(v.find("b")->line, 7u);
}

TEST(json, members_are_checked) {
  const json_value v = parse_json(R"({"a":3,"b":-1,"c":"x"})", "file");
  using kind = json_value::kind;
  EXPECT_EQ(json_whole(json_member(v, "file", "a", kind::number), "file", "a", 9), 3u);
  EXPECT_THROW((void)json_whole(json_member(v, "file", "b", kind::number), "file", "b", 9),
               sinew::error);
  EXPECT_THROW((void)json_member(v, "file", "c", kind::number), sinew::error);
  EXPECT_THROW((void)json_member(v, "file", "d", kind::number), sinew::error);
  EXPECT_EQ(json_quoted("a\"\\\n\t\x01"), "\"a\\\"\\\\\\n\\t\\u0001\"");
}
