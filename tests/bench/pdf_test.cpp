// Pictures as PDF: that everything of the SVG is there, at its place.
#include "sinew/report/pdf.hpp"

#include <gtest/gtest.h>

#include "sinew/base/error.hpp"

using sinew::tool::pdf_of;

namespace {

std::string picture(const std::string& inside) {
  return R"(<svg viewBox="0 0 640 380" role="img"><title id="t">A &lt;b&gt; (c)</title>)"
         R"(<desc id="d">it says</desc>)" +
         inside + "</svg>\n";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(pdf, has_the_size_and_the_words_of_the_picture) {
  const std::string pdf = pdf_of(picture(""));
  EXPECT_TRUE(has(pdf, "/MediaBox [0 0 640 380 ]")) << pdf;
  EXPECT_TRUE(has(pdf, "/Title (A <b> \\(c\\)) /Subject (it says)")) << pdf;
  EXPECT_TRUE(has(pdf, "1 0 0 -1 0 380 cm")) << pdf;  // y goes down, as in the picture
}

TEST(pdf, draws_each_element) {
  const std::string pdf = pdf_of(picture(
      R"(<rect x="1" y="2" width="30" height="4.5" fill="#ff0000"/>)"
      R"(<line x1="0" y1="1" x2="2" y2="3" stroke="#0000ff" stroke-width="2.6"/>)"
      R"(<polyline fill="none" stroke="#000000" stroke-dasharray="7 3" points="1,2 3,4 5,6 "/>)"
      R"(<polygon fill="#000000" fill-opacity="0.15" points="1,2 3,4 5,6 "/>)"
      R"(<path d="M10 20l4 4l-4 4l-4-4z" fill="white" stroke="#000000"/>)"
      R"(<path d="M10 20l4 7h-8z" fill="#000000"/>)"
      R"(<circle cx="5" cy="6" r="2" fill="#000000"/>)"));
  for (const char* part :
       {"1 0 0 rg 1 2 30 4.5 re f", "0 0 1 RG 2.6 w 0 1 m 2 3 l S",
        "0 0 0 RG 1 w [7 3] 0 d 1 2 m 3 4 l 5 6 l S", "/G0 gs 0 0 0 rg 1 2 m 3 4 l 5 6 l h f",
        "/G0 << /ca 0.15 /CA 1 >>", "1 1 1 rg 10 20 m 14 24 l 10 28 l 6 24 l h B",
        "10 20 m 14 27 l 6 27 l h f", "7 6 m 7 7.1 6.1 8 5 8 c"}) {
    EXPECT_TRUE(has(pdf, part)) << part << "\n" << pdf;
  }
}

TEST(pdf, places_words_by_their_width) {
  const std::string pdf = pdf_of(
      picture(R"(<text x="100" y="50" text-anchor="start">11</text>)"
              R"(<text x="100" y="60" text-anchor="end">11</text>)"
              R"(<text x="100" y="70" text-anchor="middle">11</text>)"
              "<text x=\"1\" y=\"80\" text-anchor=\"start\">a (b) \xc2\xb5 \xe2\x82\xac</text>"));
  EXPECT_TRUE(has(pdf, "100 50 Tm (11) Tj")) << pdf;
  EXPECT_TRUE(has(pdf, "86.66 60 Tm")) << pdf;  // two digits of 0.556 times 12
  EXPECT_TRUE(has(pdf, "93.33 70 Tm")) << pdf;
  EXPECT_TRUE(has(pdf, "(a \\(b\\) \xb5 ?) Tj")) << pdf;
}

TEST(pdf, turns_and_clips_groups) {
  const std::string pdf = pdf_of(
      picture(R"x(<clipPath id="c"><rect x="65" y="9" width="559" height="284"/></clipPath>)x"
              R"x(<g clip-path="url(#c)"></g><g transform="rotate(-90 16 151)"></g>)x"));
  EXPECT_TRUE(has(pdf, "q 65 9 559 284 re W n\nQ")) << pdf;
  EXPECT_TRUE(has(pdf, "q 0 -1 1 0 -135 167 cm\nQ")) << pdf;
}

TEST(pdf, refuses_what_it_does_not_know) {
  for (const char* inside : {"<ellipse rx=\"1\"/>", "<path d=\"M1 2C1 2 3 4 5 6\" fill=\"white\"/>",
                             "<g transform=\"scale(2)\"></g>"}) {
    EXPECT_THROW((void)pdf_of(picture(inside)), sinew::error) << inside;
  }
}
