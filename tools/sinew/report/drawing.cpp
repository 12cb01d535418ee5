// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/report/drawing.hpp"

#include <algorithm>
#include <map>

#include "sinew/base/check.hpp"
#include "sinew/bench/experiment.hpp"
#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

using stats::result_set;
using role = plot_line::role;

bool ours(const std::string& subject) { return subject.rfind("sinew", 0) == 0; }

/// Who of ours is compared with the others: the first that the figure names.
std::string our_subject(const figure& f) {
  const auto found = std::find_if(f.subjects.begin(), f.subjects.end(), ours);
  return found == f.subjects.end() ? "sinew" : *found;
}

bool drawn(const figure& f, const std::string& subject) {
  return subject != "floor" &&
         (f.subjects.empty() || stats::published(subject) ||
          std::find(f.subjects.begin(), f.subjects.end(), subject) != f.subjects.end());
}

std::optional<double> floor_of(const result_set& results, const stats::row_key& key) {
  for (const experiment* e : all_experiments()) {
    if (e->name == key.experiment && e->floor_of != nullptr) {
      return e->floor_of(results, key);
    }
  }
  return results.median(key, "floor");
}

// Of the states that may be compared the one in which ours has the most samples.
std::optional<stats::machine_states::state> chosen_state(const figure& f,
                                                         const result_set& results) {
  const stats::machine_states states = stats::states_of({&results}, f.experiment);
  std::map<std::size_t, std::size_t> counts;
  for (const stats::row& r : results.rows()) {
    for (const auto& [subject, samples] : r.samples) {
      for (const stats::sample& s : samples) {
        const auto at = states.of(s.line_ns);
        if (f.has(r.key) && ours(subject) && at) {
          ++counts[*at];
        }
      }
    }
  }
  std::optional<std::size_t> best;
  for (const std::size_t i : stats::comparable_states(results, f.experiment, states)) {
    if (counts[i] > 0 && (!best || counts[i] > counts[*best])) {
      best = i;
    }
  }
  return best ? std::optional(states.all()[*best]) : std::nullopt;
}

/// Builds the lines of a picture while rows are added.
class lines_of_figure {
 public:
  lines_of_figure(const figure& f, plot& to) : figure_(f), to_(to) {}

  void add(const stats::row& r, const result_set& results) {
    const std::string word = figure_.x_of(r.key).value_or("");
    const std::optional<double> x = place_of(word);
    if (!x) {
      return;
    }
    const std::string line = figure_.line_of(r.key);
    bool measured = false;
    for (const auto& [subject, samples] : r.samples) {
      if (!drawn(figure_, subject) || samples.empty()) {
        continue;
      }
      const stats::estimate e = stats::estimate_of(samples);
      const double s = figure_.y_scale;
      line_of(subject, line).points.push_back({*x, e.median * s, e.low * s, e.high * s});
      measured |= !stats::published(subject);
    }
    const auto floor = floor_of(results, r.key);
    if (measured && floor) {
      const double y = *floor * figure_.y_scale;
      line_of("floor", "").points.push_back({*x, y, y, y});
    }
  }

  void finish() {
    for (plot_line& line : to_.lines) {
      std::sort(line.points.begin(), line.points.end(),
                [](const plot_point& a, const plot_point& b) { return a.x < b.x; });
      const auto same = [](const plot_point& a, const plot_point& b) { return a.x == b.x; };
      line.points.erase(std::unique(line.points.begin(), line.points.end(), same),
                        line.points.end());
    }
    std::vector<plot_line> ordered;
    for (const role of : {role::ours, role::peer, role::paper, role::floor}) {
      for (plot_line& line : to_.lines) {
        if (line.of == of) {
          ordered.push_back(std::move(line));
        }
      }
    }
    to_.lines = std::move(ordered);
  }

 private:
  std::optional<double> place_of(const std::string& word) {
    if (figure_.x.kind != scale_kind::words) {
      return stats::parse_number(word);
    }
    auto found = std::find(to_.words.begin(), to_.words.end(), word);
    if (found == to_.words.end()) {
      found = to_.words.insert(found, word);
    }
    return static_cast<double>(found - to_.words.begin());
  }

  plot_line& line_of(const std::string& subject, const std::string& line) {
    const bool paper = stats::published(subject);
    std::string label = subject == "sinew" ? figure_.ours : subject;
    if (paper) {
      label = "paper: " + subject.substr(6);
    }
    if (!line.empty()) {
      label += ", " + line;
    }
    const auto found = std::find_if(to_.lines.begin(), to_.lines.end(),
                                    [&label](const plot_line& l) { return l.label == label; });
    if (found != to_.lines.end()) {
      return *found;
    }
    plot_line made;
    made.label = label;
    made.of = subject == "floor" ? role::floor
              : paper            ? role::paper
              : ours(subject)    ? role::ours
                                 : role::peer;
    // Lines of one parameter have one colour whoever measured them, but for several of ours, which
    // nothing else would tell apart; else each subject has its own.
    const bool one_of_ours = ours(subject) && subject != our_subject(figure_);
    const std::string what = line.empty() ? subject : one_of_ours ? subject + ' ' + line : line;
    made.colour = colours_.try_emplace(what, colours_.size()).first->second;
    return to_.lines.emplace_back(std::move(made));
  }

  const figure& figure_;
  plot& to_;
  std::map<std::string, std::size_t> colours_ = {{"sinew", 0}};
};

compared_row::verdict verdict_of(const compared_row& r) {
  using verdict = compared_row::verdict;
  if (r.peer.samples == 0 || r.ours.samples == 0) {
    return r.ours.doubtful() ? verdict::noisy : verdict::alone;
  }
  if (!r.ratio) {
    return verdict::noisy;
  }
  if (!r.ratio->distinguishable()) {
    return verdict::same;
  }
  return (r.ratio->high < 1) != r.more_is_better ? verdict::better : verdict::worse;
}

compared_row compared(const figure& f, const stats::row& r, const result_set& results) {
  compared_row found;
  const std::string line = f.line_of(r.key);
  found.label = f.x_of(r.key).value_or("") + (line.empty() ? "" : " " + line);
  found.unit = r.key.unit;
  found.more_is_better = stats::higher_is_better(r.key.metric);
  found.floor = floor_of(results, r.key);
  stats::row peers{r.key, {}};
  const stats::series* mine = nullptr;
  for (const auto& [subject, samples] : r.samples) {
    if (stats::published(subject)) {
      const double value = stats::median_of(samples);
      const bool best =
          !found.paper || (found.more_is_better ? value > *found.paper : value < *found.paper);
      if (best) {
        found.paper = value;
        found.paper_name = subject.substr(6);
      }
    } else if (drawn(f, subject)) {
      if (!ours(subject)) {
        peers.samples[subject] = samples;
      } else if (subject == our_subject(f)) {
        mine = &samples;
      }
    }
  }
  if (mine != nullptr) {
    found.ours = stats::estimate_of(*mine);
  }
  if (const auto best = stats::best_peer(peers, "sinew")) {
    found.peer_name = best->first;
    found.peer = stats::estimate_of(peers.samples[best->first]);
    if (mine != nullptr && !found.ours.doubtful() && !found.peer.doubtful()) {
      found.ratio = stats::ratio_of(*mine, peers.samples[best->first]);
    }
  }
  found.what = verdict_of(found);
  return found;
}

std::string description_of(const drawn_figure& d) {
  std::string text = d.of.y.label + " by " + d.of.x.label + ". ";
  for (const plot_line& line : d.picture.lines) {
    if (!line.points.empty()) {
      const plot_point &first = line.points.front(), &last = line.points.back();
      text += line.label + ": from " + stats::short_number(first.y) + " to " +
              stats::short_number(last.y) + ". ";
    }
  }
  return text + "The table below has all numbers.";
}

}  // namespace

std::optional<drawn_figure> draw(const figure& of, const results_file& file) {
  drawn_figure d;
  d.of = of;
  d.from = &file;
  const auto state = chosen_state(of, file.results);
  const result_set results =
      state ? stats::in_state(file.results, of.experiment, *state) : file.results;
  if (state) {
    d.state = "while a cache line took " + stats::short_number(state->trip_ns) +
              " ns from one rank to the other (" + stats::short_number(100 * state->share) +
              " % of the samples)";
  }
  d.picture.name = of.name;
  d.picture.title = of.title;
  d.picture.x = of.x;
  d.picture.y = of.y;
  lines_of_figure lines(of, d.picture);
  for (const stats::row& r : results.rows()) {
    if (!of.has(r.key)) {
      continue;
    }
    lines.add(r, results);
    compared_row row = compared(of, r, results);
    if (row.ours.samples > 0 || row.peer.samples > 0) {
      d.rows.push_back(std::move(row));
    }
  }
  lines.finish();
  if (d.rows.empty()) {
    return std::nullopt;
  }
  d.picture.description = description_of(d);
  SINEW_ENSURE(!d.picture.lines.empty());
  return d;
}

}  // namespace sinew::tool
