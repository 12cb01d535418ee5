// SPDX-License-Identifier: BSD-3-Clause
// The rows of the experiment, for all who measure them, and the words that choose among them:
// sweep=quick|usual|full, of which only=R are the rows of R ranks and eights=C those of the figure
// of 8 ranks that have C chains; or locks=L chains=C depth=D ranks=R figure=NAME for one row.
#ifndef SINEW_BENCH_LOCKS_ROWS_HPP
#define SINEW_BENCH_LOCKS_ROWS_HPP

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../common/micro.hpp"

namespace lock_rows {

struct row {
  int ranks = 1;
  int locks = 32;   ///< of a rank
  int chains = 64;  ///< of a rank
  int depth = 1024;
  std::string figure = "point";

  [[nodiscard]] double grants() const { return static_cast<double>(chains) * depth * ranks; }
  [[nodiscard]] std::string params(const char* tail = "") const {
    return "figure=" + figure + ",ranks=" + std::to_string(ranks) +
           ",locks=" + std::to_string(locks) + ",chains=" + std::to_string(chains) +
           ",depth=" + std::to_string(depth) + tail;
  }
};

inline std::vector<row> sweep(const std::string& level) {
  std::vector<row> rows = {{1, 32, 64, 1024, "point"},
                           {2, 32, 64, 1024, "point"},
                           {1, 1024, 256, 1024, "point"},
                           {2, 1024, 256, 1024, "point"}};
  const bool full = level == "full";
  const bool quick = level == "quick";
  const auto steps = full    ? std::vector<int>{32, 64, 128, 256, 512, 1024}
                     : quick ? std::vector<int>{32}
                             : std::vector<int>{32, 256, 1024};
  for (const int ranks : quick ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 4, 8, 16}) {
    for (const int locks : steps) {
      rows.push_back({ranks, locks, 1024 / ranks, 1024, "total-1024"});
    }
  }
  for (const int chains : full    ? std::vector<int>{32, 64, 128, 256, 512, 1024}
                          : quick ? std::vector<int>{}
                                  : std::vector<int>{32, 256}) {
    for (const int locks : steps) {
      rows.push_back({8, locks, chains, 1024, "ranks-8"});
    }
  }
  return rows;
}

/// Those that the words ask for. `one`: a single row, whatever they say.
inline std::vector<row> chosen(int argc, char** argv, bool one = false) {
  std::string level = "usual";
  row single;
  int only = 0;
  int eights = 0;
  const auto take = [](const std::string& word, const char* key, int& into) {
    const bool it = word.rfind(key, 0) == 0;
    if (it) {
      into = std::max(1, std::atoi(word.c_str() + std::strlen(key)));
    }
    return it;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    one = take(word, "locks=", single.locks) || take(word, "chains=", single.chains) ||
          take(word, "depth=", single.depth) || take(word, "ranks=", single.ranks) || one;
    (void)take(word, "only=", only);
    (void)take(word, "eights=", eights);
    if (word.rfind("figure=", 0) == 0) {
      single.figure = word.substr(7);
    }
    if (word.rfind("sweep=", 0) == 0) {
      level = word.substr(6);
    }
  }
  std::vector<row> rows = one ? std::vector<row>{single} : sweep(level);
  std::erase_if(rows, [&](const row& r) {
    const bool of_eights = r.figure == "ranks-8";
    return (only != 0 && (of_eights || r.ranks != only)) ||
           (eights != 0 && (!of_eights || r.chains != eights));
  });
  return rows;
}

}  // namespace lock_rows

#endif
