// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/trace_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sinew/base/check.hpp"
#include "sinew/formats/xml.hpp"
#include "sinew/report/page.hpp"
#include "sinew/report/svg.hpp"
#include "sinew/units.hpp"

namespace sinew::tool {
namespace {

constexpr double width = 960, left = 130, right = 16, top = 34;
constexpr double lane_height = 11, lane_step = 14, rank_gap = 8;
constexpr std::size_t most_names = 30;  // rows of the table
constexpr int levels = 6;               // of how busy a lane is

constexpr std::array<const char*, 9> colours = {"#000000", "#0072b2", "#d55e00",
                                                "#cc79a7", "#009e73", "#8c6d00",
                                                "#555555", "#56b4e9", "#e69f00"};

}  // namespace

trace_page::trace_page(std::string title, int ranks, std::int64_t end_ns)
    : title_(std::move(title)), ranks_(ranks), end_ns_(std::max<std::int64_t>(end_ns, 1)) {
  SINEW_EXPECT(ranks > 0);
}

double trace_page::bin_ns() const { return static_cast<double>(end_ns_) / bins; }

void trace_page::add(const record& r) {
  SINEW_EXPECT(r.rank >= 0 && r.rank < ranks_ && r.kind < trace_kinds.size());
  SINEW_EXPECT(r.begin_ns >= 0 && r.end_ns >= r.begin_ns && r.end_ns <= end_ns_);
  ++records_;
  const auto begin = static_cast<double>(r.begin_ns);
  const auto end = static_cast<double>(r.end_ns);
  sum& all = sums_[{r.kind, std::string(r.name)}];
  ++all.count;
  all.total_ns += end - begin;
  all.most_ns = std::max(all.most_ns, end - begin);
  if (r.rank >= most_ranks) {
    return;
  }
  lane& mine = lanes_[{r.rank, r.kind}];
  const auto last = std::min<std::size_t>(static_cast<std::size_t>(end / bin_ns()), bins - 1);
  for (auto b = std::min(static_cast<std::size_t>(begin / bin_ns()), bins - 1); b <= last; ++b) {
    const double from = std::max(begin, static_cast<double>(b) * bin_ns());
    const double to = std::min(end, static_cast<double>(b + 1) * bin_ns());
    mine.busy_ns[b] += std::max(0.0, to - from);
    ++mine.marks[b];
  }
}

// Cells of equal shade are one box. What happened but took no time to speak of is a thin mark.
std::string trace_page::lane_of(const lane& what, std::size_t kind, double y) const {
  const double cell = (width - left - right) / bins;
  const auto level = [&](std::size_t b) {
    const double part = std::min(1.0, what.busy_ns[b] / bin_ns());
    return what.marks[b] == 0 ? -1 : static_cast<int>(std::ceil(part * levels - 0.1));
  };
  std::string out;
  for (std::size_t b = 0; b < bins;) {
    const int shade = level(b);
    std::size_t end = b + 1;
    while (end < bins && level(end) == shade) {
      ++end;
    }
    char style[96];
    if (shade >= 0) {
      std::snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\"%.2f\"", colours[kind],
                    shade == 0 ? 0.9 : 0.25 + 0.75 * shade / levels);
      const double high = shade == 0 ? 2 : lane_height;
      out += svg_box(left + cell * static_cast<double>(b), y + lane_height - high,
                     std::max(0.6, cell * static_cast<double>(end - b)), high, style);
    }
    b = end;
  }
  return out;
}

std::string trace_page::time_axis(double height) const {
  const auto end = static_cast<double>(end_ns_);
  const double factor = end < 1e3 ? 1 : end < 1e6 ? 1e3 : end < 1e9 ? 1e6 : 1e9;
  const char* unit = end < 1e3 ? "ns" : end < 1e6 ? "us" : end < 1e9 ? "ms" : "s";
  std::string out;
  for (const tick& t : ticks_of(scale_kind::linear, 0, end / factor)) {
    const double x = left + t.at * factor / end * (width - left - right);
    out += svg_line(x, top - 6, x, height, "stroke=\"#cccccc\"");
    out += svg_text(x, top - 10, "middle", t.text + ' ' + unit);
  }
  return out;
}

std::string trace_page::picture() const {
  const int drawn = std::min(ranks_, most_ranks);
  double height = top;
  std::string lanes;
  for (int rank = 0; rank < drawn; ++rank) {
    const double begin = height;
    for (std::size_t kind = 0; kind < trace_kinds.size(); ++kind) {
      const auto found = lanes_.find({rank, kind});
      if (found == lanes_.end()) {
        continue;
      }
      lanes += svg_text(left - 6, height + lane_height - 1, "end", trace_kinds[kind]);
      lanes += svg_line(left, height + lane_height, width - right, height + lane_height,
                        "stroke=\"#eeeeee\"");
      lanes += lane_of(found->second, kind, height);
      height += lane_step;
    }
    if (height == begin) {
      lanes += svg_text(left, height + lane_height, "start", "recorded nothing");
      height += lane_step;
    }
    lanes += svg_text(8, begin + lane_height - 1, "start", "rank " + std::to_string(rank));
    lanes += svg_line(8, height + 2, width - right, height + 2, "stroke=\"#666666\"");
    height += rank_gap;
  }
  const std::string words =
      std::to_string(records_) + " records of " + std::to_string(ranks_) + " ranks in " +
      time_text(static_cast<double>(end_ns_)) +
      ". Each rank has a lane for each kind of thing it did; the table below has the sums.";
  return svg_begin("trace", title_, words, width, height + 6) + time_axis(height) + lanes +
         "</svg>\n";
}

std::string trace_page::table() const {
  std::vector<std::pair<std::pair<std::size_t, std::string>, sum>> rows(sums_.begin(), sums_.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  std::string out =
      "<div class=\"table\" tabindex=\"0\"><table><caption>Where the time went, of all ranks "
      "together</caption><thead><tr>";
  for (const char* head : {"what", "kind", "times", "in all", "mean", "longest"}) {
    out += std::string("<th scope=\"col\">") + head + "</th>";
  }
  out += "</tr></thead><tbody>\n";
  const std::size_t shown = std::min(rows.size(), most_names);
  for (std::size_t i = 0; i < shown; ++i) {
    const sum& s = rows[i].second;
    out += "<tr><th scope=\"row\">" + formats::xml_escaped(rows[i].first.second) + "</th><td>" +
           trace_kinds[rows[i].first.first] + "</td><td>" + std::to_string(s.count) + "</td><td>" +
           time_text(s.total_ns) + "</td><td>" +
           time_text(s.total_ns / static_cast<double>(s.count)) + "</td><td>" +
           time_text(s.most_ns) + "</td></tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (shown < rows.size()) {
    out += "<p class=\"small\">" + std::to_string(rows.size() - shown) +
           " more names took less; the trace has them.</p>\n";
  }
  return out;
}

std::string trace_page::text() const {
  std::string notes =
      "Time runs to the right, from the first record on. The darker a lane, the more of that time "
      "it was busy; a low mark is something that happened and took next to no time. Spans that "
      "overlap, of several threads or operations in flight, are counted each for itself in the "
      "table.";
  if (ranks_ > most_ranks) {
    notes += " Of " + std::to_string(ranks_) + " ranks the first " + std::to_string(most_ranks) +
             " are drawn; the table is of all.";
  }
  return page_begin(title_) + "<figure>" + picture() + "<figcaption>" + notes +
         "</figcaption></figure>\n" + table() + page_end();
}

}  // namespace sinew::tool
