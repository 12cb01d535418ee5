// SPDX-License-Identifier: BSD-3-Clause
// `sinew report FILES -o DIR`.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/bench/installed.hpp"
#include "sinew/bench/process.hpp"
#include "sinew/bench/subjects.hpp"
#include "sinew/commands.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/report/page.hpp"

namespace sinew::tool {
namespace {

struct report_options {
  std::vector<std::string> files;
  std::string folder;
  std::string only;
  bool help = false;
};

std::vector<option> option_table(report_options& o) {
  return {{{"-o", "--output"},
           "DIR",
           "where index.html and a picture of each figure (SVG, and PDF by rsvg-convert) are put",
           [&o](std::string_view text) { o.folder = text; }},
          {{"--figure"},
           "NAME",
           "this figure alone, its picture on standard output",
           [&o](std::string_view text) { o.only = text; }},
          {{"-h", "--help"}, "", "explains", [&o](std::string_view) { o.help = true; }}};
}

/// Whether the file has measured a point of the figure.
bool has_measured(const results_file& file, const figure& f) {
  const auto& rows = file.results.rows();
  return std::any_of(rows.begin(), rows.end(), [&f](const stats::row& r) {
    return f.has(r.key) && std::any_of(r.samples.begin(), r.samples.end(),
                                       [](const auto& s) { return !stats::published(s.first); });
  });
}

// A figure is taken from the last file that has it: rows of two runs are never mixed.
const results_file* source_of(const figure& f, const std::list<results_file>& files) {
  const results_file* found = nullptr;
  for (const results_file& file : files) {
    if (!has_measured(file, f)) {
      continue;
    }
    if (found != nullptr) {
      std::fprintf(stderr, "sinew report: %s is taken from %s\n", f.name.c_str(),
                   file.name.c_str());
    }
    found = &file;
  }
  return found;
}

// Papers want PDF, which librsvg's program draws of the SVG. What it lacks is said in a clause.
std::string write_pdfs(const std::filesystem::path& folder,
                       const std::vector<drawn_figure>& drawn) {
  const auto program = program_in_path("rsvg-convert");
  if (!program) {
    return "; no PDF: rsvg-convert is not in PATH (install librsvg2-bin)";
  }
  adopt_orphans();
  for (const drawn_figure& d : drawn) {
    const std::string picture = folder / d.of.name;
    const command_result done = run_command(
        {{*program, "--format=pdf", "--output=" + picture + ".pdf", picture + ".svg"}, {}, 60});
    SINEW_CHECK(done.ok(), "cannot draw " + picture + ".pdf",
                *program + " failed: " + stats::last_line(done.errors), "");
  }
  return "";
}

int write_report(const report_options& o) {
  const auto bench = bench_sources();
  SINEW_CHECK(bench.has_value(), "cannot draw", "the descriptions of figures are not installed",
              "install share/sinew/bench beside this program");
  std::list<results_file> files;
  for (const std::string& path : o.files) {
    files.push_back(read_results(path));
  }
  std::vector<drawn_figure> drawn;
  std::vector<figure> missing;
  for (const figure& f : all_figures(*bench)) {
    if (!o.only.empty() && f.name != o.only) {
      continue;
    }
    const results_file* const file = source_of(f, files);
    auto one = file == nullptr ? std::nullopt : draw(f, *file);
    if (one) {
      drawn.push_back(std::move(*one));
    } else {
      missing.push_back(f);
    }
  }
  SINEW_CHECK(!drawn.empty(), "nothing to draw",
              o.only.empty() ? "the files have no row of any figure"
                             : "no figure " + o.only + ", or nothing of it was measured",
              "");
  if (!o.only.empty()) {
    std::fputs(svg_of(drawn.front().picture).c_str(), stdout);
    return 0;
  }
  std::error_code failed;
  std::filesystem::create_directories(o.folder, failed);
  for (const drawn_figure& d : drawn) {
    formats::write_file(std::filesystem::path(o.folder) / (d.of.name + ".svg"), svg_of(d.picture));
  }
  formats::write_file(std::filesystem::path(o.folder) / "index.html", page_of(drawn, missing));
  std::printf("%zu figures, %zu not measured in these files%s\n", drawn.size(), missing.size(),
              write_pdfs(o.folder, drawn).c_str());
  return 0;
}

}  // namespace

command_page report_page() {
  static report_options unused;
  return {
      "report", "draws what sinew bench --json wrote: one page, and a picture for each figure",
      "FILE.json... -o DIR",
      "Each figure of the publications that Sinew repeats, as published, with our data and that\n"
      "of today's peers over it. The page is one file and needs no network. A figure that several\n"
      "files have is taken from the last one.",
      option_table(unused)};
}

int report_main(int argc, char** argv) {
  report_options o;
  const std::vector<option> table = option_table(o);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (std::size_t at = 0; at < words.size();) {
    at += parse_options(std::span(words).subspan(at), table);
    if (at < words.size()) {
      o.files.emplace_back(words[at++]);
    }
  }
  if (o.help) {
    std::fputs(help_text(report_page()).c_str(), stdout);
    return 0;
  }
  if (o.files.empty() || (o.folder.empty() && o.only.empty())) {
    throw usage_failure("report takes files that sinew bench --json wrote, and -o DIR");
  }
  return write_report(o);
}

}  // namespace sinew::tool
