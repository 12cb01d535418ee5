// SPDX-License-Identifier: BSD-3-Clause
// What is measured of matching, and how it is shown: tables by section.

#include "sinew/bench/experiment.hpp"

#include <algorithm>
#include <initializer_list>

#include "sinew/match/engine.hpp"

namespace sinew::tool {
namespace {

/// Cases shown together under one title, as words for the measuring program.
struct matching_section {
  std::string title;
  std::vector<std::string> cases;
};

struct matching_case {
  std::string kind = "latency";
  std::string queue = "posted";
  int depth = 0;
  int collisions = 0;
  int hash = 1021;
  std::string wildcard = "none";
  std::string cache = "warm";
  int bytes = 8;

  [[nodiscard]] std::string word() const {
    return kind + ":queue=" + queue + ",depth=" + std::to_string(depth) +
           ",collisions=" + std::to_string(collisions) + ",hash=" + std::to_string(hash) +
           ",wildcard=" + wildcard + ",cache=" + cache + ",bytes=" + std::to_string(bytes);
  }
};

using numbers = std::vector<int>;

// A case per number, made by fn(case, number).
template <class Fn>
void each(matching_section& s, const matching_case& like, const numbers& of, Fn&& fn) {
  for (const int n : of) {
    matching_case one = like;
    fn(one, n);
    s.cases.push_back(one.word());
  }
}

constexpr int deep = 32768;

matching_section by_depth(bool full) {
  matching_section s{"latency behind receives that do not match, by their number", {}};
  each(s, {},
       full ? numbers{0, 1, 16, 64, 256, 1024, 4096, 8192, deep} : numbers{0, 64, 1024, deep},
       [](matching_case& c, int n) { c.depth = n; });
  return s;
}

matching_section by_collisions(bool full) {
  matching_section s{"latency, percent of the receives in the bin of the message", {}};
  for (const int depth : full ? numbers{1024, deep} : numbers{deep}) {
    for (const int hash : {1021, 64}) {
      matching_case like;
      like.depth = depth;
      like.hash = hash;
      each(s, like, {1, 10, 100}, [](matching_case& c, int n) { c.collisions = n; });
    }
  }
  return s;
}

matching_section behind_and_unexpected(bool full) {
  matching_section s{"latency, receives posted behind it, and unexpected messages", {}};
  const auto set_depth = [](matching_case& c, int n) { c.depth = n; };
  matching_case like;
  like.queue = "behind";
  each(s, like, full ? numbers{1024, deep} : numbers{deep}, set_depth);
  like.queue = "unexpected";
  each(s, like, full ? numbers{64, 1024, 8192, deep} : numbers{1024, deep}, set_depth);
  like.depth = deep;
  each(s, like, full ? numbers{1, 10, 100} : numbers{10},
       [](matching_case& c, int n) { c.collisions = n; });
  return s;
}

matching_section wildcards(bool full) {
  matching_section s{"latency with wildcards", {}};
  for (const int depth : full ? numbers{1024, deep} : numbers{deep}) {
    for (const char* how :
         {"recv-any-source", "recv-any-tag", "extra-any-source", "extra-any-tag"}) {
      matching_case c;
      c.depth = depth;
      c.wildcard = how;
      s.cases.push_back(c.word());
    }
    matching_case c;
    c.queue = "unexpected";
    c.depth = depth;
    c.wildcard = "recv-any-source";
    s.cases.push_back(c.word());
  }
  return s;
}

matching_section cold(bool full) {
  matching_section s{"latency, caches swept before each message", {}};
  matching_case like;
  like.cache = "cold";
  each(s, like, full ? numbers{0, 64, 1024, deep} : numbers{0, deep},
       [](matching_case& c, int n) { c.depth = n; });
  return s;
}

const numbers& sizes(bool full) {
  static const numbers all = [] {  // 1 B to 1 MiB, as published
    numbers powers;
    for (int bytes = 1; bytes <= 1 << 20; bytes *= 2) {
      powers.push_back(bytes);
    }
    return powers;
  }();
  static const numbers few = {8, 4096, 1048576};
  return full ? all : few;
}

matching_section figure_1a(bool full) {
  matching_section s{"figure 1a: bandwidth by bytes, nothing else posted", {}};
  matching_case like;
  like.kind = "bandwidth";
  each(s, like, sizes(full), [](matching_case& c, int n) { c.bytes = n; });
  return s;
}

matching_section figure_1b(bool full) {
  matching_section s{"figure 1b: bandwidth by bytes, 1,024 receives posted before", {}};
  for (const int collisions : full ? numbers{0, 1, 10, 100} : numbers{0, 100}) {
    matching_case like;
    like.kind = "bandwidth";
    like.depth = 1024;
    like.collisions = collisions;
    each(s, like, full ? sizes(true) : numbers{8, 4096},
         [](matching_case& c, int n) { c.bytes = n; });
  }
  return s;
}

// Without wildcards: the line of 0 % collisions of figure 1b.
matching_section figure_7(bool full) {
  matching_section s{"figure 7: bandwidth with wildcards, 1,024 receives posted before", {}};
  for (const char* how : {"recv-any-tag", "recv-any-source", "extra-any-tag", "extra-any-source"}) {
    matching_case like;
    like.kind = "bandwidth";
    like.depth = 1024;
    like.wildcard = how;
    each(s, like, full ? sizes(true) : numbers{8, 4096},
         [](matching_case& c, int n) { c.bytes = n; });
  }
  return s;
}

matching_section figure_1c(bool full) {
  matching_section s{"figure 1c: bandwidth of 4 KiB by receives posted before", {}};
  for (const int collisions : full ? numbers{0, 1, 10, 100} : numbers{10}) {
    matching_case like;
    like.kind = "bandwidth";
    like.collisions = collisions;
    like.bytes = 4096;
    each(s, like, full ? numbers{1, 16, 64, 256, 1024, 8192, deep} : numbers{deep},
         [](matching_case& c, int n) { c.depth = n; });
  }
  return s;
}

matching_section insertion(bool full) {
  matching_section s{"insertion: one MPI_Irecv while so many are posted", {}};
  matching_case like;
  like.kind = "insert";
  each(s, like, full ? numbers{64, 1024, 8192, deep} : numbers{1024, deep},
       [](matching_case& c, int n) { c.depth = n; });
  return s;
}

// What of a row differs from the plainest case: the rest would be the same words in every line.
std::string label_of(const stats::parameters& params) {
  static const stats::parameters plainest = {{"queue", "posted"},
                                             {"collisions", "0"},
                                             {"wildcard", "none"},
                                             {"cache", "warm"},
                                             {"bytes", "8"}};
  std::string label;
  const bool collide =
      std::find(params.begin(), params.end(),
                std::pair<std::string, std::string>("collisions", "0")) == params.end();
  for (const auto& p : params) {
    if (std::find(plainest.begin(), plainest.end(), p) != plainest.end()) {
      continue;
    }
    if (p.first == "hash" && !collide) {
      continue;
    }
    label += (label.empty() ? "" : " ") + p.first + '=' + p.second;
  }
  return label;
}

std::string word_of(const stats::row_key& key) {
  std::string word = key.case_name + ':';
  for (const auto& [name, value] : key.params) {
    word += (word.back() == ':' ? "" : ",") + name + '=' + value;
  }
  return word;
}

// The best of those that are not ours.
std::string against_peers(const stats::row& r, const std::string& ours) {
  stats::row peers{r.key, {}};
  for (const auto& [subject, samples] : r.samples) {
    if (subject.rfind("sinew", 0) != 0) {
      peers.samples[subject] = samples;
    }
  }
  const auto found = r.samples.find(ours);
  const auto best = stats::best_peer(peers, ours);
  if (found == r.samples.end() || !best || best->second <= 0) {
    return "-";
  }
  return stats::short_number(stats::median_of(found->second) / best->second) + 'x';
}

std::vector<matching_section> matching_sections(const request& asked) {
  const bool full = asked.how == effort::full;
  return {by_depth(full),  by_collisions(full), behind_and_unexpected(full),
          wildcards(full), cold(full),          figure_1a(full),
          figure_1b(full), figure_1c(full),     figure_7(full),
          insertion(full)};
}

// One table per section, a column per subject ("sinew:hash": an engine of ours), the first of them
// compared with the best peer.
std::string table(const experiment&, const stats::result_set& results, const request& asked,
                  const std::vector<std::string>& subjects) {
  std::string text;
  for (const matching_section& s : matching_sections(asked)) {
    std::vector<std::vector<std::string>> lines = {{"matching"}};
    for (const std::string& name : subjects) {
      const std::size_t colon = name.find(':');
      lines[0].push_back(colon == std::string::npos ? name : name.substr(colon + 1));
    }
    lines[0].insert(lines[0].end(), {"vs best peer", "unit"});
    for (const stats::row& r : results.rows()) {
      if (std::find(s.cases.begin(), s.cases.end(), word_of(r.key)) == s.cases.end()) {
        continue;
      }
      std::vector<std::string> cells = {label_of(r.key.params)};
      for (const std::string& name : subjects) {
        const auto found = r.samples.find(name);
        cells.push_back(
            found == r.samples.end() ? "-" : stats::short_number(stats::median_of(found->second)));
      }
      cells.push_back(subjects.empty() ? "-" : against_peers(r, subjects.front()));
      cells.push_back(r.key.unit + (stats::higher_is_better(r.key.metric) ? " (more)" : " (less)"));
      lines.push_back(cells);
    }
    if (lines.size() > 1) {
      text += s.title + '\n' + stats::render_table(lines) + '\n';
    }
  }
  if (const auto trip = results.median("matching", "line", {{"kind", "pair"}}, "floor")) {
    text += "The floor of a latency: one trip of a cache line, " + stats::short_number(*trip) +
            " ns.\n";
  }
  if (!text.empty()) {
    text +=
        "Figures 2a-2c are of matching in a ConnectX-5 network adapter, which is not measured "
        "here; "
        "the software's numbers for their axes are those of 1a-1c.\n";
  }
  return text;
}

// Each section is a start of its own, so that none comes near the limit; the quick ones share one.
std::vector<start> starts(const request& asked) {
  static constexpr const char* budgets[] = {"budget_ms=10", "budget_ms=20", "budget_ms=40"};
  std::vector<start> all;
  for (const matching_section& s : matching_sections(asked)) {
    if (all.empty() || asked.how == effort::full) {
      all.push_back({2, {asked.choose(budgets)}});
    }
    std::vector<std::string>& words = all.back().words;
    words.insert(words.end(), s.cases.begin(), s.cases.end());
  }
  return all;
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// Sinew once with each engine.
std::vector<subject> columns(std::vector<subject> found) {
  std::vector<subject> all;
  for (const subject& s : found) {
    if (s.name != "sinew") {
      all.push_back(s);
      continue;
    }
    for (const std::string_view engine : match::engine_names()) {
      all.push_back(s);
      all.back().engine = engine;
    }
  }
  return all;
}

const experiment self{.name = "matching",
                      .about = "latency and bandwidth by queue depth, collisions, wildcards",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .columns = columns,
                      .table = table};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
