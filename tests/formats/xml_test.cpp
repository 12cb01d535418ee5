// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/formats/xml.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "sinew/base/error.hpp"

namespace sinew::formats {
namespace {

// "+a@1 -a@1": which tags open and close, and their lines.
std::string tags_of(std::string_view text) {
  std::string all;
  for_each_tag(text, "file", [&all](const xml_tag& tag) {
    all += (all.empty() ? "" : " ") + std::string(tag.opens ? "+" : "-") + std::string(tag.name) +
           '@' + std::to_string(tag.line) + (tag.text.empty() ? "" : "=" + std::string(tag.text));
  });
  return all;
}

std::string complaint_of(std::string_view text) {
  try {
    (void)tags_of(text);
  } catch (const error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST(xml, tags_come_with_their_lines_and_texts) {
  EXPECT_EQ(tags_of("<a>\n<b x='1'/>\n<c\n> 5 <!-- five --> &lt; 6 </c>\n</a>"),
            "+a@1 +b@2 -b@2 +c@3 -c@4=5  < 6 -a@5");
  EXPECT_EQ(tags_of("<?xml version='1.0'?><!DOCTYPE a [ <!ENTITY x 'y'> ]><a>&x;<![CDATA[<]]></a>"),
            "+a@1 -a@1=y<");
}

TEST(xml, attributes_are_found) {
  for_each_tag("<a one='1' two=\"&amp;&#65;\"/>", "file", [](const xml_tag& tag) {
    EXPECT_EQ(tag.find("two"), tag.opens ? std::optional<std::string>("&A") : std::nullopt);
    EXPECT_EQ(tag.find("three"), std::nullopt);
  });
}

TEST(xml, what_is_malformed_names_its_line) {
  for (const auto& [text, says] :
       {std::pair("<a>\n<b></a>", "file:2 is malformed (a tag closes no <b> of line 2)"),
        {"<a>\n", "file:2 is malformed (<a> of line 1 is not closed)"},
        {"", "file:1 is malformed (it has no tag)"},
        {"<a>\n<!-- ", "file:2 is malformed (what begins here does not end)"},
        {"<a>\n\n&what;</a>", "file:3 is malformed (an & begins &amp;"},
        {"<a b=1/>", "an attribute is name=\"value\""},
        {"<a>&</a>", "not well-formed"},
        {"<a/><b/>", "junk after document element"}}) {
    EXPECT_NE(complaint_of(text).find(says), std::string::npos) << text << complaint_of(text);
  }
}

TEST(xml, what_a_caller_throws_comes_through) {
  int seen = 0;
  EXPECT_THROW(for_each_tag("<a><b/><c/></a>", "file",
                            [&seen](const xml_tag& tag) {
                              ++seen;
                              if (tag.name == "b") {
                                throw std::out_of_range("b");
                              }
                            }),
               std::out_of_range);
  EXPECT_EQ(seen, 2);
}

TEST(xml, what_is_escaped_comes_back) {
  const std::string text = "a<b>&\"'\t\n\r\xc3\xa9";
  for_each_tag("<a b=\"" + xml_escaped(text) + "\">" + xml_escaped(text) + "|</a>", "file",
               [&text](const xml_tag& tag) {
                 EXPECT_EQ(tag.find("b").value_or(text), text);
                 EXPECT_EQ(tag.text, tag.opens ? "" : text + "|");
               });
  EXPECT_EQ(xml_escaped(std::string("\x01\0", 2)), "??");
}

}  // namespace sinew::formats
