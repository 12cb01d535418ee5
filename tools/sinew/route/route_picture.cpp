#include "sinew/route/route_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace sinew::tool {
namespace {

constexpr double width = 720;
constexpr double left = 60;
constexpr std::size_t bins = 32;

std::string rectangle(double x, double y, double w, double h, const std::string& colour) {
  char text[160];
  std::snprintf(text, sizeof text,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y,
                w, h, colour.c_str());
  return text;
}

std::string label(double x, double y, const std::string& what, const char* anchor = "start") {
  std::string safe;
  for (const char c : what) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  char place[96];
  std::snprintf(place, sizeof place, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                anchor);
  return place + safe + "</text>\n";
}

// From white over yellow to dark red.
std::string heat(double part) {
  const double t = std::clamp(part, 0.0, 1.0);
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(255 - 115 * t * t),
                static_cast<unsigned>(255 * (1 - t * t)),
                static_cast<unsigned>(235 * (1 - std::sqrt(t))));
  return text;
}

std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g MB", bytes * 1e-6);
  return text;
}

std::string head_of(double height) {
  char head[160];
  std::snprintf(head, sizeof head,
                "<svg xmlns=\"%s\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
                "font-size=\"12\">\n",
                "http:/"
                "/www.w3.org/2000/svg",
                width, height);
  return head + rectangle(0, 0, width, height, "white");
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  char text[160];
  std::snprintf(text, sizeof text,
                "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x1, y1,
                x2, y2, colour);
  return text;
}

// 1, 2 or 5 times a power of ten, such that about five of them fit.
double tidy_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= most / 5) {
      return times * power;
    }
  }
  return 10 * power;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

std::string curve_picture(const std::string& title, const std::string& y_label,
                          const std::vector<curve>& curves, std::string (*mark)(double x)) {
  static constexpr std::array<const char*, 6> colours = {"#3465a4", "#cc0000", "#4e9a06",
                                                         "#f57900", "#75507b", "#555753"};
  constexpr double top = 60, bottom = 360, from = left + 20, to = width - 130;
  double low = 1e300, high = 0, most = 1e-300;
  std::vector<double> marks;
  for (const curve& c : curves) {
    for (const auto& [x, y] : c.points) {
      low = std::min(low, std::log2(x));
      high = std::max(high, std::log2(x));
      most = std::max(most, y);
      marks.push_back(x);
    }
  }
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  const auto across = [&](double x) {
    return high > low ? from + (std::log2(x) - low) / (high - low) * (to - from) : (from + to) / 2;
  };
  const auto up = [&](double y) { return bottom - y / most * (bottom - top); };
  std::string out = head_of(400) + label(left, 20, title) + label(left, 44, y_label);
  for (double y = 0; y <= most; y += tidy_step(most)) {
    out +=
        line(from, up(y), to, up(y), "#dddddd") + label(from - 6, up(y) + 4, short_text(y), "end");
  }
  for (const double x : marks) {
    out += line(across(x), bottom, across(x), bottom + 5, "#333333");
    out += label(across(x), bottom + 20, mark(x), "middle");
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char* colour = colours[c % colours.size()];
    std::string points;
    for (const auto& [x, y] : curves[c].points) {
      points += short_text(across(x)) + ',' + short_text(up(y)) + ' ';
      out += rectangle(across(x) - 2, up(y) - 2, 4, 4, colour);
    }
    out += std::string("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"") + colour +
           "\" points=\"" + points + "\"/>\n";
    const double y = top + 18 * static_cast<double>(c);
    out += rectangle(to + 14, y - 8, 10, 10, colour) + label(to + 30, y + 1, curves[c].name);
  }
  return out + "</svg>\n";
}

std::string load_picture(const route::topology& net, const route::route_plan& plan) {
  std::vector<double> load = route::link_loads(net, plan);
  std::vector<double> worst(net.nodes(), 0);
  const double most = std::max(plan.busiest, 1.0);
  std::array<std::size_t, bins> count{};
  for (route::link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) <= 0) {
      continue;
    }
    load[l] /= net.capacity(l);
    worst[net.from(l)] = std::max(worst[net.from(l)], load[l]);
    ++count[std::min(bins - 1, static_cast<std::size_t>(load[l] / most * bins))];
  }
  const auto columns =
      static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(net.nodes()) * 2)));
  const double cell = (width - left - 20) / static_cast<double>(columns);
  const std::size_t rows = (net.nodes() + columns - 1) / columns;
  const double height = 330 + cell * static_cast<double>(rows);
  std::string out = head_of(height);
  out += label(left, 20,
               std::string(route::method_name(plan.how)) + " on " + net.name() + ": busiest link " +
                   megabytes(plan.busiest) + ", bound " + megabytes(plan.bound));
  const std::size_t tallest = *std::max_element(count.begin(), count.end());
  const double bar = (width - left - 20) / bins;
  for (std::size_t b = 0; b < bins; ++b) {
    const double h = 220 * static_cast<double>(count[b]) /
                     static_cast<double>(std::max<std::size_t>(tallest, 1));
    out += rectangle(left + bar * static_cast<double>(b), 260 - h, bar - 1, h, "#3465a4");
  }
  out += label(left - 6, 44, std::to_string(tallest), "end") + label(left - 6, 260, "0", "end");
  out += label(left, 276, "0") + label(width - 20, 276, megabytes(most), "end");
  out += label(width / 2, 276, "links by what they carry", "middle");
  out += label(left, 308, "nodes, row by row: the busiest of their links");
  for (route::node_id n = 0; n < net.nodes(); ++n) {
    out +=
        rectangle(left + cell * static_cast<double>(n % columns),
                  316 + cell * static_cast<double>(n / columns), cell, cell, heat(worst[n] / most));
  }
  return out + "</svg>\n";
}

}  // namespace sinew::tool
