// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/report/page.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/formats/xml.hpp"

namespace sinew::tool {
namespace {

using verdict = compared_row::verdict;

constexpr const char* page_style = R"(
:root { color-scheme: light; }
body { font: 16px/1.5 sans-serif; color: #111; background: #fff; margin: 0 auto; padding: 0 1rem;
  max-width: 80rem; }
p, figure > svg, figcaption { max-width: 60rem; }
figure { margin: 1.5rem 0; break-inside: avoid; }
svg { width: 100%; height: auto; }
figcaption, .small { font-size: 0.9rem; color: #333; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
caption { text-align: left; font-weight: bold; padding: 0.3rem 0; }
th, td { border-bottom: 1px solid #bbb; padding: 0.2rem 0.6rem; text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 10rem; }
code { background: #eee; padding: 0 0.2rem; overflow-wrap: anywhere; }
)";

std::string element(const std::string& name, const std::string& text) {
  return '<' + name + '>' + formats::xml_escaped(text) + "</" + name + '>';
}

std::string heading_row(const std::vector<std::string>& cells) {
  std::string out = "<thead><tr>";
  for (const std::string& c : cells) {
    out += "<th scope=\"col\">" + formats::xml_escaped(c) + "</th>";
  }
  return out + "</tr></thead>\n";
}

std::string body_row(const std::vector<std::string>& cells) {
  SINEW_EXPECT(!cells.empty());
  std::string out = "<tr><th scope=\"row\">" + formats::xml_escaped(cells.front()) + "</th>";
  for (std::size_t i = 1; i < cells.size(); ++i) {
    out += element("td", cells[i]);
  }
  return out + "</tr>\n";
}

std::string named(const std::string& value, const std::string& name) {
  return name.empty() ? value : value + " (" + name + ')';
}

std::string verdict_text(const compared_row& r) {
  constexpr std::array words = {"better", "worse", "not distinguishable", "too noisy", "no peer"};
  return words[static_cast<std::size_t>(r.what)];
}

// Who is faster than the floor is named beside it.
std::string floor_text(const compared_row& r) {
  if (!r.floor) {
    return "-";
  }
  std::string faster;
  for (const auto& [name, e] : {std::pair("Sinew", &r.ours), {r.peer_name.c_str(), &r.peer}}) {
    if (stats::beats_floor(*e, *r.floor, r.more_is_better)) {
      faster += (faster.empty() ? "" : ", ") + std::string(name);
    }
  }
  return stats::short_number(*r.floor) + (faster.empty() ? "" : " (faster: " + faster + ')');
}

std::vector<std::string> cells_of(const compared_row& r, const std::string& label) {
  return {label,
          r.paper ? named(stats::short_number(*r.paper), r.paper_name) : "-",
          r.peer.samples > 0 ? named(stats::estimate_text(r.peer), r.peer_name) : "-",
          stats::estimate_text(r.ours),
          r.ratio ? stats::ratio_text(*r.ratio) : "-",
          verdict_text(r),
          floor_text(r),
          r.unit + (r.more_is_better ? " (more)" : " (less)")};
}

const std::vector<std::string> table_columns = {
    "", "paper", "best peer today", "Sinew", "Sinew / peer", "Sinew is", "floor", "unit"};

std::string table_of(const std::string& caption, const std::string& body) {
  return "<div class=\"table\" tabindex=\"0\"><table>" + element("caption", caption) +
         heading_row(table_columns) + "<tbody>\n" + body + "</tbody></table></div>\n";
}

/// How often ours was better, and so on.
class tally {
 public:
  void add(const compared_row& r) { ++counts_[static_cast<std::size_t>(r.what)]; }
  [[nodiscard]] int of(verdict v) const { return counts_[static_cast<std::size_t>(v)]; }
  [[nodiscard]] std::string text() const {
    const int compared = of(verdict::better) + of(verdict::worse) + of(verdict::same);
    return std::to_string(compared) + " rows compared with the best peer: Sinew is better in " +
           std::to_string(of(verdict::better)) + ", worse in " +
           std::to_string(of(verdict::worse)) + ", not distinguishable in " +
           std::to_string(of(verdict::same)) + "; " + std::to_string(of(verdict::noisy)) +
           " were too noisy to say, " + std::to_string(of(verdict::alone)) +
           " have no peer on this machine.";
  }

 private:
  std::array<int, 5> counts_{};
};

// Of each figure the first, the middle and the last row that has both ours and something beside it.
std::vector<const compared_row*> chosen_rows(const drawn_figure& d) {
  std::vector<const compared_row*> able;
  for (const compared_row& r : d.rows) {
    if (r.ours.samples > 0 && (r.paper || r.peer.samples > 0)) {
      able.push_back(&r);
    }
  }
  if (able.size() > 3) {
    able = {able.front(), able[able.size() / 2], able.back()};
  }
  return able;
}

std::vector<std::string> systems_of(const std::vector<drawn_figure>& figures) {
  std::set<std::string> names;
  for (const drawn_figure& d : figures) {
    names.insert(d.of.system);
  }
  return {names.begin(), names.end()};
}

std::string summary(const std::vector<drawn_figure>& figures) {
  std::string out = "<section id=\"summary\"><h2>Summary</h2>\n";
  for (const std::string& system : systems_of(figures)) {
    std::string body;
    tally all;
    for (const drawn_figure& d : figures) {
      if (d.of.system != system) {
        continue;
      }
      for (const compared_row& r : d.rows) {
        all.add(r);
      }
      for (const compared_row* r : chosen_rows(d)) {
        body += body_row(cells_of(*r, d.of.title + ", " + r->label));
      }
    }
    out += element("p", system + ": " + all.text()) + '\n';
    if (!body.empty()) {
      out += table_of(system, body);
    }
  }
  return out + "</section>\n";
}

// The worst rows stand here, so that nobody has to look for them.
std::string worse_rows(const std::vector<drawn_figure>& figures) {
  std::string body;
  for (const drawn_figure& d : figures) {
    for (const compared_row& r : d.rows) {
      if (r.what == verdict::worse) {
        body += body_row(cells_of(r, d.of.title + ", " + r.label));
      }
    }
  }
  if (body.empty()) {
    return {};
  }
  return "<section id=\"worse\"><h2>Where a peer is better</h2>\n" +
         table_of("All rows in which a peer is better", body) + "</section>\n";
}

std::string caption_of(const drawn_figure& d) {
  SINEW_EXPECT(d.from != nullptr);
  std::string text = d.of.title + ".";
  if (!d.of.published.empty()) {
    text += " Published: " + d.of.published + ".";
  }
  text += " Points are medians, bands hold them in 95 of 100 resamples";
  text += d.state.empty() ? "." : ", " + d.state + ".";
  text += " The published data is dashed with open markers; a dotted line is the floor.";
  if (!d.of.differs.empty()) {
    text += " What differs: " + d.of.differs;
  }
  if (const std::string hosts = fact(d.from->run, "hosts"); !hosts.empty()) {
    text += " Measured over hosts: " + hosts + ".";
  }
  return "<figcaption>" + formats::xml_escaped(text) + " Repeat it: <code>" +
         formats::xml_escaped(d.of.repeat) + "</code></figcaption>\n";
}

std::string section_of(const drawn_figure& d) {
  std::string body;
  for (const compared_row& r : d.rows) {
    body += body_row(cells_of(r, r.label));
  }
  return "<figure id=\"" + formats::xml_escaped(d.of.name) + "\">\n" + svg_of(d.picture) +
         caption_of(d) + "<details><summary>All numbers</summary>\n" + table_of(d.of.title, body) +
         "</details>\n</figure>\n";
}

std::string file_facts(const results_file& file) {
  std::string out = "<li>" + element("code", file.name) + ": ";
  std::string text = fact(file.host, "cpu") + ", " + fact(file.host, "cores") +
                     " processors, Linux " + fact(file.host, "kernel") + ", governor " +
                     fact(file.host, "governor") + ", hypervisor " + fact(file.host, "hypervisor") +
                     ", " + fact(file.host, "time") + ", " + fact(file.host, "sinew");
  if (file.schema == 2) {
    text += ", commit " + fact(file.run, "commit") + ", " + fact(file.run, "compiler") + ' ' +
            fact(file.run, "flags");
  }
  if (const json_value* peers = file.host.find("peers")) {
    for (std::size_t i = 0; i < peers->names.size(); ++i) {
      text += "; " + peers->names[i] + ' ' + peers->items[i].text;
    }
  }
  if (const json_value* absent = file.run.find("absent")) {
    for (std::size_t i = 0; i < absent->names.size(); ++i) {
      text += "; " + absent->names[i] + " was not there (" + absent->items[i].text + ')';
    }
  }
  out += formats::xml_escaped(text);
  const json_value* commands = file.run.find("commands");
  if (commands != nullptr && !commands->items.empty()) {
    out += "<details><summary>Command lines</summary><ul>\n";
    for (const json_value& c : commands->items) {
      std::string line;
      if (const json_value* environment = c.find("environment")) {
        for (std::size_t i = 0; i < environment->names.size(); ++i) {
          line += environment->names[i] + '=' + environment->items[i].text + ' ';
        }
      }
      if (const json_value* words = c.find("words")) {
        for (const json_value& w : words->items) {
          line += w.text + ' ';
        }
      }
      out += "<li>" + element("code", line) + "</li>\n";
    }
    out += "</ul></details>";
  }
  return out + "</li>\n";
}

std::string method(const std::vector<drawn_figure>& figures) {
  std::string out =
      "<section id=\"method\"><h2>How this was measured</h2>\n<p>Every subject ran in turn, start "
      "by "
      "start, in an order drawn anew for each round. Samples between two ranks carry the one-way "
      "trip "
      "of a cache line, measured by the same two processes immediately before; only samples with "
      "like "
      "trips are compared. Intervals come from resampling starts, then samples within a start. A "
      "number whose interval is wider than 0.6 of it is not shown. Simulated numbers (routing, "
      "chunks) "
      "and measured ones are never in one line. A floor beside which somebody is named as faster "
      "is "
      "of another way, or was measured at a worse moment. The published figures are of other "
      "machines: compare shapes with them, ratios with today's peers.</p>\n<ul>\n";
  std::set<const results_file*> seen;
  for (const drawn_figure& d : figures) {
    SINEW_EXPECT(d.from != nullptr);
    if (seen.insert(d.from).second) {
      out += file_facts(*d.from);
    }
  }
  return out + "</ul></section>\n";
}

}  // namespace

std::string page_of(const std::vector<drawn_figure>& figures, const std::vector<figure>& missing) {
  std::string out = page_begin("Sinew measured") + summary(figures) + worse_rows(figures);
  for (const std::string& system : systems_of(figures)) {
    out += "<section>" + element("h2", system) + '\n';
    for (const drawn_figure& d : figures) {
      if (d.of.system == system) {
        out += section_of(d);
      }
    }
    out += "</section>\n";
  }
  if (!missing.empty()) {
    out += "<section id=\"missing\"><h2>Not measured in these files</h2><ul>\n";
    for (const figure& f : missing) {
      out += "<li>" + formats::xml_escaped(f.system + ": " + f.title + " ") +
             element("code", f.repeat) + "</li>\n";
    }
    out += "</ul></section>\n";
  }
  return out + method(figures) + page_end();
}

std::string page_begin(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         formats::xml_escaped(title) + "</title><style>" + page_style +
         "</style></head><body><main>\n" + element("h1", title) + '\n';
}

std::string page_end() { return "</main></body></html>\n"; }

}  // namespace sinew::tool
