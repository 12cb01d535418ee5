#include "sinew/base/json.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

using sinew::json_value;
using sinew::parse_json;

TEST(json, reads_all_kinds) {
  const json_value v = parse_json(
      R"({"n":1.5,"t":"a\n\"b\"","l":[1,true,null],"o":{},"u":"\u0041\u00e9\u20ac"})", "x");
  EXPECT_EQ(v.find("n")->number, 1.5);
  EXPECT_EQ(v.find("t")->text, "a\n\"b\"");
  EXPECT_EQ(v.find("l")->items.size(), 3u);
  EXPECT_EQ(v.find("l")->items[2].what, json_value::kind::null);
  EXPECT_EQ(v.find("u")->text, "Aé€");
  EXPECT_EQ(v.find("missing"), nullptr);
}

TEST(json, refuses_what_is_malformed_and_says_where) {
  for (const char* text : {"", "{", "[1,", "{\"a\"}", "{\"a\":1}x", "\"a", "\"\\u00g0\"", "\"\\u00",
                           "\"\\ud800\"", "nul", "1e999", "[1 2]", "{1:2}"}) {
    EXPECT_THROW((void)parse_json(text, "file"), sinew::error) << text;
  }
  EXPECT_THROW((void)parse_json(std::string(100, '['), "deep"), sinew::error);
  try {
    (void)parse_json("{\n\"a\":?}", "file");
    FAIL();
  } catch (const sinew::error& e) {
    EXPECT_EQ(e.problem(), "file:2 is malformed");
  }
}

TEST(json, members_are_checked) {
  const json_value v = parse_json(R"({"a":3,"b":-1,"c":"x"})", "file");
  using kind = json_value::kind;
  EXPECT_EQ(json_whole(json_member(v, "file", "a", kind::number), "file", "a", 9), 3u);
  EXPECT_THROW((void)json_whole(json_member(v, "file", "b", kind::number), "file", "b", 9),
               sinew::error);
  EXPECT_THROW((void)json_member(v, "file", "c", kind::number), sinew::error);
  EXPECT_THROW((void)json_member(v, "file", "d", kind::number), sinew::error);
  EXPECT_EQ(sinew::json_quoted("a\"\\\n\t"), "\"a\\\"\\\\\\n\\t\"");
}
