// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "sinew/base/check.hpp"
#include "sinew/formats/xml.hpp"

namespace sinew::tool {
namespace {

constexpr double width = 640, height = 340;  // of the picture without its legend
constexpr double left = 70, right = 16, top = 14, bottom = 52;
constexpr double edge = 5;  // by which markers may stand out of the axes
constexpr double legend_row = 20;
constexpr std::size_t short_label = 40;  // characters that fit beside another

// Okabe and Ito's colours, which also colour-blind readers can tell apart.
constexpr std::array colours = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                "#cc79a7", "#e69f00", "#56b4e9", "#8c6d00"};
constexpr std::array dashes = {"7 3", "2 3", "9 3 2 3", "5 2", "1 2", "12 4"};

template <class... Values>
std::string text_of(const char* format, Values... values) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, format, values...);
  SINEW_ASSERT(length >= 0 && length < static_cast<int>(sizeof text));
  return {text, static_cast<std::size_t>(length)};
}

double logarithm(scale_kind kind, double value) {
  return kind == scale_kind::log2 ? std::log2(value) : std::log10(value);
}

bool is_log(scale_kind kind) { return kind == scale_kind::log2 || kind == scale_kind::log10; }

/// From values to places on the picture.
struct mapping {
  scale_kind kind;
  double low, high;   // of the values
  double begin, end;  // of the places
  [[nodiscard]] bool shows(double value) const { return !is_log(kind) || value > 0; }
  [[nodiscard]] double operator()(double value) const {
    SINEW_EXPECT(shows(value) && high > low);
    const double part = is_log(kind) ? (logarithm(kind, value) - logarithm(kind, low)) /
                                           (logarithm(kind, high) - logarithm(kind, low))
                                     : (value - low) / (high - low);
    return begin + part * (end - begin);
  }
};

/// Ends of an axis: those published, but never within what was measured; else the data's.
class extent {
 public:
  explicit extent(const axis& of) : kind_(of.kind), fixed_(of.low.has_value()) {
    if (fixed_) {
      low_ = *of.low;
      high_ = *of.high;
    }
  }
  void include(double value, bool measured) {
    if ((fixed_ && !measured) || (is_log(kind_) && value <= 0)) {
      return;
    }
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  [[nodiscard]] mapping over(double begin, double end) {
    if (low_ > high_) {
      low_ = is_log(kind_) ? 1 : 0;
      high_ = 10;
    }
    if (is_log(kind_)) {
      low_ = low_ > 0 ? low_ : 1;
      if (!fixed_ || low_ == high_) {
        low_ /= 1.2;
        high_ *= 1.2;
      }
    } else if (kind_ == scale_kind::words) {
      low_ = -0.5;
      high_ += 0.5;
    } else if (!fixed_ || low_ == high_) {
      low_ = std::min(low_, 0.0);
      high_ += (high_ - low_) * 0.05 + 1e-12;
    }
    SINEW_ENSURE(low_ < high_);
    return {kind_, low_, high_, begin, end};
  }

 private:
  scale_kind kind_;
  bool fixed_;
  double low_ = 1e300, high_ = -1e300;
};

// `value` is what a browser shows while somebody points at the marker.
std::string marker(std::size_t shape, double x, double y, const char* colour, bool open,
                   const std::string& value = "") {
  constexpr std::array paths = {"M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", "M-3-3h6v6h-6z",
                                "M0-4l4 7h-8z", "M0-4l4 4l-4 4l-4-4z", "M0 4l4-7h-8z"};
  return text_of("<path transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\" stroke=\"%s\">", x,
                 y, paths[shape % paths.size()], open ? "white" : colour, colour) +
         (value.empty() ? "" : "<title>" + formats::xml_escaped(value) + "</title>") + "</path>\n";
}

// Two, unless a label would run into its neighbour.
std::size_t legend_columns(const plot& of) {
  const bool fit = std::all_of(of.lines.begin(), of.lines.end(), [](const plot_line& line) {
    return line.label.size() <= short_label;
  });
  return fit ? 2 : 1;
}

struct look {
  const char* colour;
  std::string stroke;
  bool open;
  bool marked;
};

look look_of(const plot_line& line) {
  const char* colour =
      line.of == plot_line::role::floor ? "#666666" : colours[line.colour % colours.size()];
  const char* dash = "none";
  double thick = 1.5;
  if (line.of == plot_line::role::ours) {
    thick = 2.6;
  } else if (line.of == plot_line::role::floor) {
    dash = "1 4";
  } else {
    dash = dashes[line.colour % dashes.size()];
    thick = line.of == plot_line::role::paper ? 1.1 : 1.6;
  }
  return {colour,
          text_of("fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-dasharray=\"%s\"",
                  colour, thick, dash),
          line.of == plot_line::role::paper, line.of != plot_line::role::floor};
}

/// One picture while it is drawn.
class canvas {
 public:
  explicit canvas(const plot& what) : plot_(what), x_(x_extent()), y_(y_extent()) {}

  std::string draw() {
    out_ += grid();
    out_ += text_of(
        "<clipPath id=\"%s-clip\"><rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
        "height=\"%.0f\"/></clipPath>\n<g clip-path=\"url(#%s-clip)\">\n",
        plot_.name.c_str(), left - edge, top - edge, width - left - right + 2 * edge,
        height - top - bottom + 2 * edge, plot_.name.c_str());
    for (const plot_line& line : plot_.lines) {
      out_ += band(line);
    }
    for (const plot_line& line : plot_.lines) {
      out_ += course(line);
    }
    return out_ + "</g>\n" + legend();
  }

 private:
  mapping x_extent() const {
    extent all(plot_.x);
    for (const plot_line& line : plot_.lines) {
      for (const plot_point& p : line.points) {
        all.include(p.x, line.of != plot_line::role::paper);
      }
    }
    return all.over(left, width - right);
  }
  mapping y_extent() const {
    extent all(plot_.y);
    for (const plot_line& line : plot_.lines) {
      for (const plot_point& p : line.points) {
        const bool measured = line.of != plot_line::role::paper;
        all.include(p.y, measured);
        all.include(p.low, measured);
        all.include(p.high, measured);
      }
    }
    return all.over(height - bottom, top);
  }

  [[nodiscard]] bool shows(const plot_point& p) const { return x_.shows(p.x) && y_.shows(p.y); }

  std::string grid() const {
    std::string out;
    std::vector<tick> along = ticks_of(plot_.x.kind, x_.low, x_.high);
    if (plot_.x.kind == scale_kind::words) {
      along.clear();
      for (std::size_t w = 0; w < plot_.words.size(); ++w) {
        along.push_back({static_cast<double>(w), plot_.words[w]});
      }
    }
    for (const tick& t : along) {
      out += svg_line(x_(t.at), top, x_(t.at), height - bottom, "stroke=\"#dddddd\"");
      out += svg_text(x_(t.at), height - bottom + 16, "middle", t.text);
    }
    for (const tick& t : ticks_of(plot_.y.kind, y_.low, y_.high)) {
      out += svg_line(left, y_(t.at), width - right, y_(t.at), "stroke=\"#dddddd\"");
      out += svg_text(left - 6, y_(t.at) + 4, "end", t.text);
    }
    out += svg_line(left, height - bottom, width - right, height - bottom, "stroke=\"#333333\"");
    out += svg_line(left, top, left, height - bottom, "stroke=\"#333333\"");
    out += svg_text((left + width - right) / 2, height - 14, "middle", plot_.x.label);
    const double middle = (top + height - bottom) / 2;
    return out + text_of("<g transform=\"rotate(-90 16 %.1f)\">", middle) +
           svg_text(16, middle, "middle", plot_.y.label) + "</g>\n";
  }

  // "Sinew at 512: 151 (149-153)"
  std::string value_text(const plot_line& line, const plot_point& p) const {
    const bool named = plot_.x.kind == scale_kind::words;
    const std::string interval =
        p.low < p.high ? " (" + stats::short_number(p.low) + '-' + stats::short_number(p.high) + ')'
                       : "";
    return line.label + " at " +
           (named ? plot_.words[static_cast<std::size_t>(p.x)] : text_of("%.9g", p.x)) + ": " +
           stats::short_number(p.y) + interval;
  }

  std::string band(const plot_line& line) const {
    std::string there, back;
    const char* colour = look_of(line).colour;
    std::string bars;
    for (const plot_point& p : line.points) {
      if (!shows(p) || !y_.shows(p.low) || p.low >= p.high) {
        continue;
      }
      there += text_of("%.1f,%.1f ", x_(p.x), y_(p.low));
      back = text_of("%.1f,%.1f ", x_(p.x), y_(p.high)) + back;
      bars += svg_line(x_(p.x), y_(p.low), x_(p.x), y_(p.high),
                       text_of("stroke=\"%s\" stroke-opacity=\"0.6\"", colour).c_str());
    }
    if (there.empty()) {
      return {};
    }
    return text_of("<polygon fill=\"%s\" fill-opacity=\"0.15\" points=\"", colour) + there + back +
           "\"/>\n" + bars;
  }

  std::string course(const plot_line& line) const {
    const look l = look_of(line);
    std::string points, marks;
    for (const plot_point& p : line.points) {
      if (shows(p)) {
        points += text_of("%.1f,%.1f ", x_(p.x), y_(p.y));
        if (l.marked) {
          marks += marker(line.colour, x_(p.x), y_(p.y), l.colour, l.open, value_text(line, p));
        }
      }
    }
    const bool joined = plot_.x.kind != scale_kind::words;
    return (joined ? "<polyline " + l.stroke + " points=\"" + points + "\"/>\n" : "") + marks;
  }

  std::string legend() const {
    std::string out;
    const std::size_t columns = legend_columns(plot_);
    const double column = (width - left) / static_cast<double>(columns);
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) {
      const double x = left + column * static_cast<double>(i % columns);
      const double y = height + 6 + legend_row * static_cast<double>(i / columns);
      const look l = look_of(plot_.lines[i]);
      out += svg_line(x, y, x + 34, y, l.stroke.c_str());
      if (l.marked) {
        out += marker(plot_.lines[i].colour, x + 17, y, l.colour, l.open);
      }
      out += svg_text(x + 40, y + 4, "start", plot_.lines[i].label);
    }
    return out;
  }

  const plot& plot_;
  mapping x_, y_;
  std::string out_;
};

std::vector<tick> linear_ticks(double low, double high) {
  const double rough = (high - low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double times : {2.0, 5.0, 10.0}) {
    if (step < rough) {
      step = power * times;
    }
  }
  std::vector<tick> all;
  for (double at = std::ceil(low / step) * step; at <= high + step * 1e-9; at += step) {
    const double value = std::fabs(at) < step * 1e-9 ? 0 : at;
    all.push_back({value, text_of("%.6g", value)});
  }
  return all;
}

std::string power_text(scale_kind kind, double value) {
  if (kind == scale_kind::log2 && value >= 1048576) {
    return text_of("%gMi", value / 1048576);
  }
  if (kind == scale_kind::log2 && value >= 16384) {
    return text_of("%gKi", value / 1024);
  }
  return text_of("%.9g", value);
}

}  // namespace

std::vector<tick> ticks_of(scale_kind kind, double low, double high) {
  if (kind == scale_kind::words) {
    return {};
  }
  SINEW_EXPECT(low < high);
  if (!is_log(kind)) {
    return linear_ticks(low, high);
  }
  SINEW_EXPECT(low > 0);
  const double base = kind == scale_kind::log2 ? 2 : 10;
  const int first = static_cast<int>(std::ceil(logarithm(kind, low) - 1e-9));
  const int last = static_cast<int>(std::floor(logarithm(kind, high) + 1e-9));
  if (last - first < 1) {
    return linear_ticks(low, high);
  }
  const int step = (last - first) / 8 + 1;
  std::vector<tick> all;
  for (int power = first; power <= last; power += step) {
    const double at = std::pow(base, power);
    all.push_back({at, power_text(kind, at)});
  }
  SINEW_ENSURE(!all.empty());
  return all;
}

std::string svg_of(const plot& what) {
  SINEW_EXPECT(!what.name.empty());
  const std::size_t columns = legend_columns(what);
  const std::size_t rows = (what.lines.size() + columns - 1) / columns;
  const double all = height + legend_row * static_cast<double>(rows);
  return svg_begin(what.name, what.title, what.description, width, all) + canvas(what).draw() +
         "</svg>\n";
}

std::string svg_begin(const std::string& name, const std::string& title,
                      const std::string& description, double wide, double high) {
  SINEW_EXPECT(!name.empty() && wide > 0 && high > 0);
  const char* id = name.c_str();
  return text_of(
             "<svg xmlns=\"%s%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
             "aria-labelledby=\"%s-title %s-text\" font-family=\"sans-serif\" "
             "font-size=\"12\">\n",
             "http:/", "/www.w3.org/2000/svg", wide, high, id, id) +
         text_of("<title id=\"%s-title\">", id) + formats::xml_escaped(title) + "</title>\n" +
         text_of("<desc id=\"%s-text\">", id) + formats::xml_escaped(description) + "</desc>\n" +
         svg_box(0, 0, wide, high, "fill=\"white\"");
}

std::string svg_text(double x, double y, const char* anchor, const std::string& what) {
  return text_of("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) +
         formats::xml_escaped(what) + "</text>\n";
}

std::string svg_line(double x1, double y1, double x2, double y2, const char* style) {
  return text_of("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
                 style);
}

std::string svg_box(double x, double y, double wide, double high, const std::string& style) {
  return text_of("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x, y, wide, high) +
         style + "/>\n";
}

}  // namespace sinew::tool
