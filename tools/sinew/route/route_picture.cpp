// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/route_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "sinew/base/check.hpp"
#include "sinew/report/svg.hpp"

namespace sinew::tool {
namespace {

using route::link_id;
using route::node_id;
using route::nothing;

constexpr double width = 760, left = 20;
constexpr std::size_t columns = 5;  // of panels
constexpr double panel_width = (width - 2 * left) / columns - 12, panel_height = 130;
constexpr double plot_height = 440;
constexpr std::size_t shades = 32;

std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g MB", bytes * 1e-6);
  return text;
}

// From white over orange and red to near black: darker is more, with and without colours.
std::string shade(double part) {
  static constexpr double stops[][3] = {
      {255, 255, 255}, {253, 204, 138}, {227, 74, 51}, {127, 0, 20}, {30, 0, 10}};
  const double at = std::clamp(part, 0.0, 1.0) * 4;
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), 3);
  const double rest = at - static_cast<double>(low);
  std::array<int, 3> colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    colour[c] = static_cast<int>(stops[low][c] + rest * (stops[low + 1][c] - stops[low][c]));
  }
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(colour[0]),
                static_cast<unsigned>(colour[1]), static_cast<unsigned>(colour[2]));
  return text;
}

/// One map: its links, cell by cell; `nothing` where a border has none.
struct panel {
  std::string name;
  std::vector<link_id> cells;
  std::size_t across = 1;
};

char letter(std::size_t dimension) { return static_cast<char>('A' + dimension % 26); }

// Where the dimensions are split into those that run down and those that run across.
std::size_t split_of(const route::topology& net) {
  std::size_t best = net.dimensions() - 1;
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    const double wide = net.stride(d);  // cells across, if d is the last that runs down
    if (wide * wide <= net.nodes()) {
      best = d;
      break;
    }
  }
  return best;
}

std::vector<panel> grid_panels(const route::topology& net) {
  const std::size_t across = net.stride(split_of(net));
  std::vector<panel> out;
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    const std::uint32_t size = net.grid().sizes[d];
    for (const bool up : {true, false}) {
      if (size < 2 || (size == 2 && !up && net.grid().wraps[d])) {
        continue;
      }
      panel p{std::string(1, letter(d)), {}, across};
      p.name += size == 2 && net.grid().wraps[d] ? "" : up ? "+" : "-";
      for (node_id n = 0; n < net.nodes(); ++n) {
        p.cells.push_back(net.step(n, d, up));
      }
      out.push_back(std::move(p));
    }
  }
  return out;
}

/// Hops from the nearest endpoint.
std::vector<std::uint32_t> levels_of(const route::topology& net) {
  std::vector<std::uint32_t> level(net.nodes(), nothing);
  std::vector<node_id> queue;
  for (node_id n = 0; n < net.endpoints(); ++n) {
    level[n] = 0;
    queue.push_back(n);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const node_id n = queue[i];
    for (link_id l = net.first_link(n); l < net.first_link(n + 1); ++l) {
      if (level[net.to(l)] == nothing) {
        level[net.to(l)] = level[n] + 1;
        queue.push_back(net.to(l));
      }
    }
  }
  return level;
}

std::vector<panel> level_panels(const route::topology& net) {
  const std::vector<std::uint32_t> level = levels_of(net);
  std::map<std::pair<std::uint32_t, std::uint32_t>, panel> between;
  for (link_id l = 0; l < net.links(); ++l) {
    const std::pair<std::uint32_t, std::uint32_t> ends{level[net.from(l)], level[net.to(l)]};
    panel& p = between[ends];
    p.name = "level " + std::to_string(ends.first) + " to " + std::to_string(ends.second);
    p.cells.push_back(l);
  }
  std::vector<panel> out;
  for (auto& [ends, p] : between) {
    p.across = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(p.cells.size()))));
    out.push_back(std::move(p));
  }
  return out;
}

std::string explanation(const route::topology& net) {
  if (net.grid().empty()) {
    return "Each cell is a link, in the order of its nodes; level 0 are the endpoints.";
  }
  std::string down, along;
  for (std::size_t d = 0; d < net.dimensions(); ++d) {
    std::string& where = d <= split_of(net) ? down : along;
    where += (where.empty() ? "" : ", ") + std::string(1, letter(d));
  }
  return "Each cell is the link that leaves a node in the panel's direction; nodes: " + down +
         " down" + (along.empty() ? "" : ", " + along + " across") + ".";
}

/// Draws panels; all that it draws has one scale.
class load_map {
 public:
  load_map(const route::topology& net, double most) : net_(net), most_(most) {
    SINEW_EXPECT(most > 0);
    panels_ = net.grid().empty() ? level_panels(net) : grid_panels(net);
  }

  [[nodiscard]] double block_height() const {
    return 24 + static_cast<double>((panels_.size() + columns - 1) / columns) * (panel_height + 22);
  }

  [[nodiscard]] std::string block(double top, const std::string& words,
                                  const std::vector<double>& per_cable) const {
    std::string out = svg_text(left, top + 12, "start", words);
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const double x = left + static_cast<double>(i % columns) * (panel_width + 12);
      const double y = top + 36 + static_cast<double>(i / columns) * (panel_height + 22);
      out += svg_text(x, y - 3, "start", panels_[i].name) + cells(x, y, panels_[i], per_cable);
    }
    return out;
  }

  // Shades from nothing to the most, with the bound's place.
  [[nodiscard]] std::string legend(double top, double bound) const {
    const double wide = 360;
    std::string out = svg_text(left, top + 12, "start", "bytes on each cable:");
    const double from = left + 140;
    for (std::size_t s = 0; s < shades; ++s) {
      const double part = static_cast<double>(s) / shades;
      out += svg_box(from + part * wide, top, wide / shades + 0.5, 16,
                     "fill=\"" + shade(static_cast<double>(s + 1) / shades) + "\"");
    }
    out += svg_box(from, top, wide, 16, "fill=\"none\" stroke=\"#333333\"");
    for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      out += svg_text(from + part * wide, top + 30, "middle", megabytes(part * most_));
    }
    if (bound > 0 && bound <= most_) {
      const double x = from + bound / most_ * wide;
      out += svg_line(x, top - 6, x, top + 20, "stroke=\"black\" stroke-width=\"2\"");
      out += svg_text(x, top - 9, "middle", "bound " + megabytes(bound));
    }
    out += svg_box(from + wide + 30, top, 16, 16, "fill=\"url(#none)\" stroke=\"#333333\"");
    return out + svg_text(from + wide + 52, top + 12, "start", "no link, or failed");
  }

  static std::string pattern() {
    return "<defs><pattern id=\"none\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
           "<path d=\"M0 4L4 0\" stroke=\"#888888\" stroke-width=\"0.7\"/></pattern></defs>\n";
  }

 private:
  // Equal neighbours of a row are one box, boxes of one shade one path: thousands of nodes stay a
  // small file.
  [[nodiscard]] std::string cells(double x, double y, const panel& p,
                                  const std::vector<double>& per_cable) const {
    const std::size_t rows = (p.cells.size() + p.across - 1) / p.across;
    const double w = panel_width / static_cast<double>(p.across);
    const double h = std::min(panel_height / static_cast<double>(rows), 2 * w);
    std::array<std::string, shades + 2> paths;
    for (std::size_t i = 0; i < p.cells.size();) {
      const std::size_t kind = kind_of(p.cells[i], per_cable);
      std::size_t end = i + 1;
      while (end < p.cells.size() && end % p.across != 0 &&
             kind_of(p.cells[end], per_cable) == kind) {
        ++end;
      }
      char box[96];
      std::snprintf(box, sizeof box, "M%.1f %.1fh%.2fv%.2fh-%.2fz",
                    x + w * static_cast<double>(i % p.across),
                    y + h * static_cast<double>(i / p.across), w * static_cast<double>(end - i), h,
                    w * static_cast<double>(end - i));
      paths[kind] += box;
      i = end;
    }
    std::string out;
    for (std::size_t k = 1; k < paths.size(); ++k) {
      if (!paths[k].empty()) {
        out += "<path fill=\"" +
               (k > shades ? std::string("url(#none)")
                           : shade(static_cast<double>(k) / static_cast<double>(shades))) +
               "\" d=\"" + paths[k] + "\"/>\n";
      }
    }
    return out + svg_box(x, y, panel_width, h * static_cast<double>(rows),
                         "fill=\"none\" stroke=\"#333333\" stroke-width=\"0.7\"");
  }

  /// 0: carries nothing; up to `shades`: how much; beyond: there is no link.
  [[nodiscard]] std::size_t kind_of(link_id l, const std::vector<double>& per_cable) const {
    if (l == nothing || net_.capacity(l) <= 0) {
      return shades + 1;
    }
    const double part = per_cable[l] / most_;
    return part <= 0 ? 0 : std::min(shades, 1 + static_cast<std::size_t>(part * shades * 0.9999));
  }

  const route::topology& net_;
  double most_;
  std::vector<panel> panels_;
};

/// Loads by cable of the links that work, the busiest first.
std::vector<double> sorted(const route::topology& net, const std::vector<double>& per_cable) {
  std::vector<double> out;
  for (link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) > 0) {
      out.push_back(per_cable[l]);
    }
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

plot_line falling(const std::string& label, std::size_t colour, plot_line::role role,
                  const std::vector<double>& loads) {
  constexpr std::size_t points = 50;
  plot_line line{label, role, colour, {}};
  for (std::size_t i = 0; i <= points && !loads.empty(); ++i) {
    const std::size_t at = i * (loads.size() - 1) / points;
    const double y = loads[at] * 1e-6;
    line.points.push_back({static_cast<double>(i) * 100 / static_cast<double>(points), y, y, y});
  }
  return line;
}

// All but the last are others that stand beside the plan.
plot falling_plot(const route::topology& net, double bound, const std::vector<named_loads>& all) {
  plot p;
  p.name = "links";
  p.title = "Links from the busiest on";
  p.description = "What each link carries, by its place among all.";
  p.x.label = "links, the busiest first (% of all)";
  p.y.label = "MB on each cable";
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool ours = i + 1 == all.size();
    p.lines.push_back(falling(all[i].name, ours ? 0 : i + 1,
                              ours ? plot_line::role::ours : plot_line::role::peer,
                              sorted(net, all[i].bytes)));
  }
  if (bound > 0) {
    const double y = bound * 1e-6;
    p.lines.push_back({"bound: the busiest link of any plan has this or more",
                       plot_line::role::floor,
                       0,
                       {{0, y, y, y}, {100, y, y, y}}});
  }
  return p;
}

}  // namespace

std::string load_picture(const route::topology& net, const route::route_plan& plan,
                         const std::vector<named_loads>& beside) {
  std::vector<named_loads> all = beside;
  all.push_back({route::method_name(plan.how), route::link_loads(net, plan)});
  return load_picture(net, all, plan.bound, std::to_string(plan.jobs.size()) + " jobs");
}

std::string load_picture(const route::topology& net, const std::vector<named_loads>& loads,
                         double bound, const std::string& whose) {
  std::vector<named_loads> all = loads;
  double most = 1;
  std::string numbers;
  std::vector<std::string> heads;
  for (named_loads& one : all) {
    SINEW_EXPECT(one.bytes.size() == net.links());
    double busiest = 0;
    for (link_id l = 0; l < net.links(); ++l) {
      one.bytes[l] = net.capacity(l) > 0 ? one.bytes[l] / net.capacity(l) : 0;
      busiest = std::max(busiest, one.bytes[l]);
    }
    most = std::max(most, busiest);
    heads.push_back(one.name + ": busiest link " + megabytes(busiest));
    numbers += heads.back() + "; ";
  }
  if (bound > 0) {
    numbers += "no plan has less than " + megabytes(bound);
    heads.back() += ", bound " + megabytes(bound);
  }
  const load_map map(net, most);
  const double block = map.block_height();
  const double maps = 92 + block * static_cast<double>(all.size());
  const std::string title = "Loads of links on " + net.name() + ", " + whose;
  std::string out =
      svg_begin("loads", title, numbers + ". MB are 10^6 bytes.", width, maps + plot_height) +
      load_map::pattern() + svg_text(left, 18, "start", title) +
      svg_text(left, 36, "start", explanation(net)) + map.legend(58, bound);
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += map.block(96 + block * static_cast<double>(i), heads[i], all[i].bytes);
  }
  std::string curves = svg_of(falling_plot(net, bound, all));
  char place[96];
  std::snprintf(place, sizeof place, " x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"", left,
                maps + 10, width - 2 * left, plot_height - 20);
  curves.insert(4, place);  // behind "<svg"
  return out + curves + "</svg>\n";
}

std::string curve_picture(const curve_words& words, const std::vector<curve>& curves) {
  plot p;
  p.name = "curves";
  p.title = words.title;
  p.x = {scale_kind::log2, words.x, {}, {}};
  p.y.label = words.y;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const bool ours = curves[c].name == route::method_name(route::method::balanced);
    plot_line line{
        curves[c].name, ours ? plot_line::role::ours : plot_line::role::peer, ours ? 0 : c + 1, {}};
    double best = 0;
    for (const auto& [x, y] : curves[c].points) {
      line.points.push_back({x, y, y, y});
      best = std::max(best, y);
    }
    char most[48];
    std::snprintf(most, sizeof most, ": at most %.4g. ", best);
    p.description += curves[c].name + most;
    p.lines.push_back(std::move(line));
  }
  return svg_of(p);
}

}  // namespace sinew::tool
