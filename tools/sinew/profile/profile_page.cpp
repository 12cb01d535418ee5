// SPDX-License-Identifier: BSD-3-Clause
// A profile as a page: where each rank's time went, wait states, who has sent to whom, sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "sinew/base/check.hpp"
#include "sinew/formats/xml.hpp"
#include "sinew/profile/profile_data.hpp"
#include "sinew/report/page.hpp"
#include "sinew/report/svg.hpp"
#include "sinew/units.hpp"

namespace sinew::tool {
namespace {

constexpr double width = 960, left = 90, right = 16, top = 30;
constexpr std::size_t most_bars = 128;
constexpr std::size_t most_cells = 64;  // of the matrix, on a side
constexpr std::size_t most_rows = 200;

/// Okabe and Ito's colours, which also colour-blind readers can tell apart; by kind of call.
constexpr std::array<const char*, call_kinds.size()> colours = {"#0072b2", "#56b4e9", "#e69f00",
                                                                "#009e73", "#cc79a7", "#8c6d00"};
constexpr const char* waiting_colour = "#d55e00";
constexpr const char* computing_colour = "#dddddd";

std::string filled(const char* colour) { return std::string("fill=\"") + colour + '"'; }

/// A box that tells what it is where somebody points at it.
std::string box(double x, double y, double wide, double high, const std::string& style,
                const std::string& what) {
  return "<g><title>" + formats::xml_escaped(what) + "</title>" + svg_box(x, y, wide, high, style) +
         "</g>\n";
}

std::string html_table(const std::string& caption, const std::vector<std::string>& heads,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"table\" tabindex=\"0\"><table><caption>" +
                    formats::xml_escaped(caption) + "</caption><thead><tr>";
  for (const std::string& head : heads) {
    out += "<th scope=\"col\">" + formats::xml_escaped(head) + "</th>";
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    SINEW_EXPECT(rows[i].size() == heads.size());
    out += "<tr><th scope=\"row\">" + formats::xml_escaped(rows[i].front()) + "</th>";
    for (std::size_t c = 1; c < rows[i].size(); ++c) {
      out += "<td>" + formats::xml_escaped(rows[i][c]) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (rows.size() > most_rows) {
    out += "<p class=\"small\">" + std::to_string(rows.size() - most_rows) +
           " more rows are in the file.</p>\n";
  }
  return out;
}

struct part {
  std::string name;
  const char* colour;
  double ns;
};

/// What the threads of a rank have done.
std::vector<part> parts_of(const profile_rank& r) {
  std::vector<part> parts{
      {"computing", computing_colour, std::max(0.0, r.threads_ns() - r.mpi_ns())}};
  for (std::size_t k = 0; k < call_kinds.size(); ++k) {
    parts.push_back({std::string(call_kinds[k]), colours[k],
                     std::max(0.0, r.kind_ns[k] - r.waiting_of_kind_ns[k])});
  }
  parts.push_back({"waiting for others", waiting_colour, r.waiting_ns});
  return parts;
}

std::string legend(double y) {
  std::string out;
  double x = left;
  for (const part& p : parts_of({})) {
    out += svg_box(x, y - 9, 10, 10, filled(p.colour)) + svg_text(x + 14, y, "start", p.name);
    x += 34 + 7 * static_cast<double>(p.name.size());
  }
  return out;
}

std::string bars(const profile_data& data) {
  const std::size_t drawn = std::min(most_bars, data.ranks.size());
  const double step = drawn <= 32 ? 18 : 8;
  double longest = 1;
  for (const profile_rank& r : data.ranks) {
    longest = std::max({longest, r.threads_ns(), r.mpi_ns()});
  }
  const double scale = (width - left - right) / longest;
  std::string out;
  double y = top;
  for (std::size_t i = 0; i < drawn; ++i, y += step) {
    const profile_rank& r = data.ranks[i];
    double x = left;
    for (const part& p : parts_of(r)) {
      if (p.ns > 0) {
        out += box(x, y, p.ns * scale, step - 2, filled(p.colour),
                   "rank " + std::to_string(r.rank) + ", " + p.name + ": " + time_text(p.ns));
      }
      x += p.ns * scale;
    }
    if (step > 10 || i % 8 == 0) {
      out += svg_text(left - 6, y + step - 5, "end", "rank " + std::to_string(r.rank));
    }
  }
  const std::string words = "Time of " + std::to_string(data.ranks.size()) +
                            " ranks from MPI_Init to MPI_Finalize; the longest is " +
                            time_text(longest) + ".";
  return svg_begin("bars", "Time by rank", words, width, y + 8) + legend(16) + out + "</svg>\n";
}

/// Who has sent how much to whom; several ranks share a cell where there are many.
std::string matrix(const profile_data& data) {
  int last = 0;
  for (const profile_rank& r : data.ranks) {
    last = std::max(last, r.rank);
  }
  for (const profile_pair& p : data.pairs) {
    last = std::max(last, p.to);
  }
  const int ranks = last + 1;
  const int each = (ranks + static_cast<int>(most_cells) - 1) / static_cast<int>(most_cells);
  const int cells = (ranks + each - 1) / each;
  const double side = std::min(30.0, 480.0 / cells);
  std::map<std::pair<int, int>, std::pair<double, double>> sums;  // messages, bytes
  double most = 0;
  for (const profile_pair& p : data.pairs) {
    auto& sum = sums[{p.from / each, p.to / each}];
    sum.first += p.messages + p.accesses;
    sum.second += p.bytes + p.access_bytes;
    most = std::max(most, sum.second);
  }
  const auto name = [&](int cell) {
    const int end = std::min(ranks, (cell + 1) * each) - 1;
    return (each == 1 ? "rank " : "ranks ") + std::to_string(cell * each) +
           (each == 1 ? "" : "-" + std::to_string(end));
  };
  std::string out = svg_text(left, 14, "start", "to") + svg_text(left - 6, top + 10, "end", "from");
  for (const auto& [at, sum] : sums) {
    char style[64];
    const double shade = most > 0 ? std::log1p(sum.second) / std::log1p(most) : 0;
    std::snprintf(style, sizeof style, "fill=\"#0072b2\" fill-opacity=\"%.2f\"", 0.1 + 0.9 * shade);
    out += box(left + side * at.second, top + side * at.first, side - 1, side - 1, style,
               name(at.first) + " to " + name(at.second) + ": " + count_text(sum.first) +
                   " messages, " + amount_text(sum.second));
  }
  for (int c = 0; c < cells; c += std::max(1, cells / 8)) {
    out += svg_text(left + side * (c + 0.5), top - 4, "middle", std::to_string(c * each));
    out += svg_text(left - 6, top + side * (c + 0.7), "end", std::to_string(c * each));
  }
  const std::string words = "Bytes from each rank to each other one; " +
                            std::to_string(data.pairs.size()) +
                            " pairs have sent; the darkest cell has " + amount_text(most) + ".";
  return svg_begin("matrix", "Who has sent to whom", words, width, top + side * cells + 8) + out +
         "</svg>\n";
}

std::string size_name(std::size_t bits) {
  return bits == 0 ? "0 B" : "from " + amount_text(std::ldexp(1.0, static_cast<int>(bits) - 1));
}

std::string sizes(const profile_data& data, std::size_t kind) {
  const std::vector<double>& counts = data.sizes[kind];
  const double most = *std::max_element(counts.begin(), counts.end());
  constexpr double step = 16, number_room = 150;
  std::string out;
  double y = top;
  for (std::size_t bits = 0; bits < counts.size(); ++bits) {
    if (counts[bits] == 0) {
      continue;
    }
    const double wide = std::max(1.0, (width - left - right - number_room) * counts[bits] / most);
    out += svg_text(left - 6, y + 10, "end", size_name(bits)) +
           svg_box(left, y, wide, step - 4, filled(colours[kind])) +
           svg_text(left + wide + 6, y + 10, "start", count_text(counts[bits]));
    y += step;
  }
  const std::string title = "Sizes: " + std::string(call_kinds[kind]);
  return svg_begin("sizes" + std::to_string(kind), title, "How many have had so many bytes.", width,
                   y + 4) +
         svg_text(left, 16, "start", title) + out + "</svg>\n";
}

std::string most_of(const std::map<int, double>& by_rank) {
  const auto most =
      std::max_element(by_rank.begin(), by_rank.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_rank.end()
             ? ""
             : time_text(most->second) + " (rank " + std::to_string(most->first) + ")";
}

std::string calls_table(const profile_data& data) {
  std::vector<std::vector<std::string>> rows;
  for (const profile_call& c : data.calls) {
    rows.push_back({c.text(), std::string(call_kinds[c.kind]), count_text(c.count),
                    time_text(c.total_ns), percent_text(c.total_ns, data.mpi_ns()),
                    percent_text(c.total_ns, data.threads_ns()), time_text(c.total_ns / c.count),
                    time_text(c.least_ns), time_text(c.most_ns), most_of(c.ns_of_rank),
                    ranks_text(c.ns_of_rank), amount_text(c.sent), amount_text(c.received)});
  }
  return html_table("Calls by the lines that make them, of all ranks together",
                    {"call", "kind", "count", "time", "of MPI", "of run", "mean", "shortest",
                     "longest", "most of a rank", "ranks", "sent", "received"},
                    rows);
}

std::string waits_table(const profile_data& data) {
  if (data.waits.empty()) {
    return "";
  }
  std::vector<std::vector<std::string>> rows;
  for (const profile_wait& w : data.waits) {
    rows.push_back({w.state + ": " + w.call, ranks_text(w.waiting_ns), w.cause,
                    ranks_text(w.causing_ns), count_text(w.count), time_text(w.total_ns),
                    time_text(w.most_ns), most_of(w.causing_ns)});
  }
  return html_table(
      "Who has waited for whom",
      {"waits in", "ranks", "for", "ranks", "count", "time", "longest", "most for a rank"}, rows);
}

std::string pairs_table(const profile_data& data) {
  std::vector<std::vector<std::string>> rows;
  for (const profile_pair& p : data.pairs) {
    rows.push_back({std::to_string(p.from) + " to " + std::to_string(p.to), count_text(p.messages),
                    amount_text(p.bytes), count_text(p.accesses), amount_text(p.access_bytes)});
  }
  return html_table("Who has sent to whom",
                    {"ranks", "messages", "bytes", "one-sided accesses", "their bytes"}, rows);
}

std::string with_caption(const std::string& picture, const std::string& caption) {
  return "<figure>" + picture + "<figcaption>" + caption + "</figcaption></figure>\n";
}

}  // namespace

std::string page_of_profile(const profile_data& data) {
  const std::string title = "Profile of " + std::to_string(data.ranks.size()) + " ranks";
  std::string out = page_begin(title) + "<p><code>" + formats::xml_escaped(data.command) +
                    "</code>: " + time_text(data.longest_run_ns()) +
                    " from MPI_Init to MPI_Finalize, " +
                    percent_text(data.mpi_ns(), data.threads_ns()) + " of it in MPI.</p>\n";
  std::string notes =
      "The time of each rank between MPI_Init and MPI_Finalize: of all its threads that call MPI, "
      "where there are several.";
  if (data.ranks.size() > most_bars) {
    notes += " The first " + std::to_string(most_bars) + " of " +
             std::to_string(data.ranks.size()) + " ranks are drawn; the tables are of all.";
  }
  out += with_caption(bars(data), notes) + waits_table(data) + calls_table(data);
  if (!data.pairs.empty()) {
    out += with_caption(
               matrix(data),
               "Bytes of messages and one-sided accesses; collectives are not in it. The darker "
               "a cell, the more, on a logarithmic scale.") +
           pairs_table(data);
  }
  for (std::size_t kind = 0; kind < call_kinds.size(); ++kind) {
    if (!data.sizes[kind].empty()) {
      out += with_caption(sizes(data, kind), "How many have had so many bytes, by powers of two.");
    }
  }
  return out + page_end();
}

}  // namespace sinew::tool
