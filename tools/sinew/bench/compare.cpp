// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/compare.hpp"

#include <cstdio>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/options.hpp"

namespace sinew::tool {
namespace {

using stats::machine_states;
using stats::series;

series within(const series& samples, const machine_states::state* state) {
  series found;
  for (const stats::sample& s : samples) {
    if (state == nullptr || (s.line_ns >= state->low && s.line_ns < state->high)) {
      found.push_back(s);
    }
  }
  return found;
}

change::verdict verdict_of(const change& c) {
  if (c.before.doubtful() || c.after.doubtful()) {
    return change::verdict::noisy;
  }
  if (!c.ratio.distinguishable()) {
    return change::verdict::same;
  }
  const bool less = c.ratio.high < 1;
  return less != stats::higher_is_better(c.key.metric) ? change::verdict::better
                                                       : change::verdict::worse;
}

const char* word_of(change::verdict v) {
  constexpr const char* words[] = {"same", "better", "worse", "noisy"};
  return words[static_cast<std::size_t>(v)];
}

void add_changes(std::vector<change>& to, const stats::row& r, const std::string& subject,
                 const series& before, const series& after, const machine_states& states) {
  const bool paired = !states.all().empty() && before.front().line_ns > 0;
  const std::size_t ways = paired ? states.all().size() : 1;
  for (std::size_t i = 0; i < ways; ++i) {
    const machine_states::state* state = paired ? &states.all()[i] : nullptr;
    const series was = within(before, state), is = within(after, state);
    const auto ratio = stats::ratio_of(is, was);
    if (!ratio) {
      continue;
    }
    change c{r.key,
             subject,
             {},
             stats::estimate_of(was),
             stats::estimate_of(is),
             *ratio,
             change::verdict::same};
    if (ways > 1) {
      c.state = "line " + stats::short_number(state->trip_ns) + " ns";
    }
    c.what = verdict_of(c);
    to.push_back(std::move(c));
  }
}

}  // namespace

std::vector<change> compare(const results_file& before, const results_file& after) {
  std::map<std::string, machine_states> states;
  std::vector<change> changes;
  for (const stats::row& r : before.results.rows()) {
    const stats::row* other = after.results.find(r.key);
    if (other == nullptr) {
      continue;
    }
    const std::string& name = r.key.experiment;
    if (states.count(name) == 0) {
      states.emplace(name, stats::states_of({&before.results, &after.results}, name));
    }
    for (const auto& [subject, samples] : r.samples) {
      const auto now = other->samples.find(subject);
      if (now != other->samples.end() && !stats::published(subject) && !samples.empty()) {
        add_changes(changes, r, subject, samples, now->second, states.at(name));
      }
    }
  }
  return changes;
}

std::string comparison_text(const std::vector<change>& changes, bool all) {
  std::vector<std::vector<std::string>> lines = {
      {"row", "subject", "before", "after", "after / before", "verdict", "unit"}};
  std::map<change::verdict, int> counts;
  for (const change& c : changes) {
    ++counts[c.what];
    if (!all && c.what != change::verdict::better && c.what != change::verdict::worse) {
      continue;
    }
    std::string label = c.key.experiment + ' ' + c.key.case_name;
    for (const auto& [name, value] : c.key.params) {
      label += ' ' + name + '=' + value;
    }
    label += ' ' + c.key.metric + (c.state.empty() ? "" : ", " + c.state);
    lines.push_back({label, c.subject, stats::estimate_text(c.before),
                     stats::estimate_text(c.after), stats::ratio_text(c.ratio), word_of(c.what),
                     c.key.unit});
  }
  using verdict = change::verdict;
  return (lines.size() > 1 ? stats::render_table(lines, 2) : "") + std::to_string(changes.size()) +
         " rows in both files: " + std::to_string(counts[verdict::better]) + " better, " +
         std::to_string(counts[verdict::worse]) + " worse, " +
         std::to_string(counts[verdict::same]) + " not distinguishable, " +
         std::to_string(counts[verdict::noisy]) + " too noisy to say.\n";
}

int compare_main(int argc, char** argv) {
  bool all = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--all") {
      all = true;
    } else {
      files.emplace_back(word);
    }
  }
  if (files.size() != 2) {
    throw usage_failure("bench compare takes two files that --json wrote, and --all");
  }
  const results_file before = read_results(files[0]), after = read_results(files[1]);
  for (const char* name : {"cpu", "kernel", "governor", "hypervisor"}) {
    const std::string was = fact(before.host, name), is = fact(after.host, name);
    if (was != is && !was.empty() && !is.empty()) {
      std::printf("not the same machine: %s was %s, is %s\n", name, was.c_str(), is.c_str());
    }
  }
  std::fputs(comparison_text(compare(before, after), all).c_str(), stdout);
  return 0;
}

}  // namespace sinew::tool
