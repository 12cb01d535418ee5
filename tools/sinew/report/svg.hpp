// SPDX-License-Identifier: BSD-3-Clause
// Pictures as SVG text: a plot of lines with bands, and pieces for others. Pure: no files, no
// fonts, no scripts. Lines differ by colour, dashes and markers, so that they can be told apart in
// black and white.
#pragma once

#include <string>
#include <vector>

#include "sinew/report/figure.hpp"

namespace sinew::tool {

struct plot_point {
  double x = 0;  ///< on an axis of words: the place of the word, from 0
  double y = 0;
  double low = 0, high = 0;  ///< the interval; both y when there is none
};

struct plot_line {
  enum class role : unsigned char { ours, peer, paper, floor };
  std::string label;
  role of = role::peer;
  std::size_t colour = 0;          ///< lines of one number have one colour and marker
  std::vector<plot_point> points;  ///< by ascending x
};

struct plot {
  std::string name;   ///< a word: begins the ids in the document
  std::string title;  ///< for screen readers, with `description`
  std::string description;
  axis x, y;
  std::vector<std::string> words;  ///< of an x axis of words
  std::vector<plot_line> lines;
};

/// "<svg ...>...</svg>", as wide as its surroundings. Measured points are never cut off; the
/// paper's are, where the published axis ends. What a log axis cannot show (0 and below) is left
/// out.
[[nodiscard]] std::string svg_of(const plot& what);

/// Pieces for pictures that are no plots. `svg_begin` has the text alternatives and a white ground;
/// "</svg>" ends it.
[[nodiscard]] std::string svg_begin(const std::string& name, const std::string& title,
                                    const std::string& description, double width, double height);
[[nodiscard]] std::string svg_text(double x, double y, const char* anchor, const std::string& what);
[[nodiscard]] std::string svg_line(double x1, double y1, double x2, double y2, const char* style);
[[nodiscard]] std::string svg_box(double x, double y, double width, double height,
                                  const std::string& style);

/// Positions and texts of an axis' ticks between its ends. For tests.
struct tick {
  double at;
  std::string text;
};
[[nodiscard]] std::vector<tick> ticks_of(scale_kind kind, double low, double high);

}  // namespace sinew::tool
