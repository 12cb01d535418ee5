// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/info/machine_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/report/svg.hpp"

namespace sinew::tool {
namespace {

constexpr double width = 760, left = 16, pad = 10, line_height = 16;
constexpr double core_width = 84, core_height = 40;

/// Memory nodes of a package, cores of a node.
using machine_tree = std::map<int, std::map<int, std::vector<const topology::core*>>>;

std::string size_text(std::uint64_t bytes) {
  char text[32];
  const double value = static_cast<double>(bytes);
  const bool large = value >= 1073741824.0;
  std::snprintf(text, sizeof text, "%.4g %s", large ? value / 1073741824.0 : value / 1048576.0,
                large ? "GiB" : "MiB");
  return text;
}

std::string cpus_text(const std::vector<int>& cpus) {
  std::string text = cpus.size() == 1 ? "cpu " : "cpus ";
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(cpus[i]);
  }
  return text;
}

/// Draws from the top down; remembers how far it came.
class machine_canvas {
 public:
  machine_canvas(const std::vector<topology::core>& cores, const topology::memory_map& memory)
      : first_(cores.data()), memory_(memory) {}

  void package(int number, const std::map<int, std::vector<const topology::core*>>& nodes) {
    const double begin = y_;
    std::string inside;
    y_ += line_height + pad;
    for (const auto& [node, cores] : nodes) {
      inside += node_box(node, cores);
      y_ += pad;
    }
    out_ += svg_box(left, begin, width - 2 * left, y_ - begin,
                    "fill=\"#f2f2f2\" stroke=\"#333333\" stroke-width=\"1.5\"");
    out_ += svg_text(left + pad, begin + line_height, "start", "package " + std::to_string(number));
    out_ += inside;
    y_ += pad;
  }

  void nearness() {
    const auto& nodes = memory_.nodes();
    const double column =
        std::min(150.0, (width - 2 * left - 190) / static_cast<double>(nodes.size()));
    y_ += line_height;
    out_ += svg_text(left, y_, "start",
                     "bandwidth (share of the best pair) / latency (multiple of it):");
    y_ += line_height;
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      out_ += svg_text(left + 190 + column * (static_cast<double>(c) + 0.5), y_, "middle",
                       "memory " + std::to_string(nodes[c].number));
    }
    for (const topology::memory_node& from : nodes) {
      y_ += line_height + 4;
      out_ += svg_text(left, y_, "start", "processors of node " + std::to_string(from.number));
      for (std::size_t c = 0; c < nodes.size(); ++c) {
        const topology::nearness& near = memory_.between(from.number, nodes[c].number);
        char text[48];
        std::snprintf(text, sizeof text, "%.2f / %.2f", near.bandwidth, near.latency);
        // Darker is nearer; the numbers stay readable on it.
        char style[64];
        std::snprintf(style, sizeof style, "fill=\"#0072b2\" fill-opacity=\"%.2f\"",
                      0.35 * std::clamp(near.bandwidth, 0.0, 1.0));
        const double x = left + 190 + column * static_cast<double>(c);
        out_ += svg_box(x, y_ - line_height + 3, column - 4, line_height + 2, style);
        out_ += svg_text(x + column / 2 - 2, y_, "middle", text);
      }
    }
    y_ += pad;
  }

  [[nodiscard]] double height() const noexcept { return y_ + pad; }
  [[nodiscard]] const std::string& text() const noexcept { return out_; }

 private:
  std::string node_box(int number, const std::vector<const topology::core*>& cores) {
    const double x = left + pad, wide = width - 2 * left - 2 * pad;
    const auto columns = static_cast<std::size_t>((wide - pad) / (core_width + 6));
    const std::size_t rows = (cores.size() + columns - 1) / columns;
    const double high = line_height + pad + static_cast<double>(rows) * (core_height + 6);
    std::string words = "memory node " + std::to_string(number);
    for (const topology::memory_node& node : memory_.nodes()) {
      if (node.number == number && node.bytes > 0) {
        words += ", " + size_text(node.bytes);
      }
    }
    std::string out = svg_box(x, y_, wide, high, "fill=\"white\" stroke=\"#333333\"") +
                      svg_text(x + pad, y_ + line_height, "start", words);
    for (std::size_t i = 0; i < cores.size(); ++i) {
      const double cx = x + pad + static_cast<double>(i % columns) * (core_width + 6);
      const double cy =
          y_ + line_height + pad + static_cast<double>(i / columns) * (core_height + 6) - 2;
      out += svg_box(cx, cy, core_width, core_height, "fill=\"#dbe9f6\" stroke=\"#333333\"");
      out += svg_text(cx + core_width / 2, cy + 16, "middle",
                      "core " + std::to_string(cores[i] - first_));
      out += svg_text(cx + core_width / 2, cy + 32, "middle", cpus_text(cores[i]->cpus));
    }
    y_ += high;
    return out;
  }

  const topology::core* first_;  // they are numbered as `sinew info topology` does
  const topology::memory_map& memory_;
  std::string out_;
  double y_ = 40;
};

}  // namespace

std::string machine_picture(const std::vector<topology::core>& cores,
                            const topology::memory_map& memory) {
  SINEW_EXPECT(!cores.empty() && !memory.nodes().empty());
  machine_tree tree;
  std::size_t cpus = 0;
  std::set<int> nodes;
  for (const topology::core& each : cores) {
    tree[each.package][each.numa_node].push_back(&each);
    cpus += each.cpus.size();
    nodes.insert(each.numa_node);
  }
  machine_canvas canvas(cores, memory);
  for (const auto& [package, inside] : tree) {
    canvas.package(package, inside);
  }
  canvas.nearness();
  const std::string title =
      std::to_string(cores.size()) + " cores, " + std::to_string(cpus) + " processors usable here";
  return svg_begin("machine", title,
                   title + ", in " + std::to_string(tree.size()) + " packages with " +
                       std::to_string(nodes.size()) +
                       " memory nodes. Numbers are the operating system's; cores are counted.",
                   width, canvas.height()) +
         svg_text(left, 22, "start", title) + canvas.text() + "</svg>\n";
}

}  // namespace sinew::tool
