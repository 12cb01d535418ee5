// SPDX-License-Identifier: BSD-3-Clause
// A profile for a terminal.
#include <algorithm>
#include <utility>
#include <vector>

#include "sinew/profile/profile_data.hpp"
#include "sinew/units.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t most_calls = 20;
constexpr std::size_t most_waits = 10;

/// Columns as wide as they need to be: the first ones to the left, numbers to the right.
class columns {
 public:
  explicit columns(std::size_t texts) : texts_(texts) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) {
        widths[i] = std::max(widths[i], row[i].size());
      }
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string gap(widths[i] - row[i].size(), ' ');
        line += "  " + (i < texts_ ? row[i] + gap : gap + row[i]);
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

 private:
  std::size_t texts_;
  std::vector<std::vector<std::string>> rows_;
};

std::string summary(const profile_data& data) {
  const auto share = [](const profile_rank& r) {
    return r.mpi_ns() / std::max(1.0, r.threads_ns());
  };
  const auto [least, most] =
      std::minmax_element(data.ranks.begin(), data.ranks.end(),
                          [&](const auto& a, const auto& b) { return share(a) < share(b); });
  std::string text = std::to_string(data.ranks.size()) +
                     (data.ranks.size() == 1 ? " rank, " : " ranks, ") +
                     time_text(data.longest_run_ns()) + " from MPI_Init to MPI_Finalize, " +
                     percent_text(data.mpi_ns(), data.threads_ns()) + " of it in MPI";
  if (data.ranks.size() > 1) {
    text += " (rank " + std::to_string(most->rank) + ": " +
            percent_text(most->mpi_ns(), most->threads_ns()) + ", rank " +
            std::to_string(least->rank) + ": " +
            percent_text(least->mpi_ns(), least->threads_ns()) + ")";
  }
  return text + "\n";
}

std::string named_ranks(const std::map<int, double>& by_rank) {
  return (by_rank.size() == 1 ? "rank " : "ranks ") + ranks_text(by_rank);
}

std::string table_of_waits(const profile_data& data) {
  std::string out;
  const std::size_t shown = std::min(most_waits, data.waits.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const profile_wait& w = data.waits[i];
    out += "  " + w.state + ": " + time_text(w.total_ns) + " in " + count_text(w.count) +
           (w.count == 1 ? " call" : " calls") + ", the longest " + time_text(w.most_ns) + "\n" +
           "    " + named_ranks(w.waiting_ns) + " in " + w.call + "\n    for " +
           named_ranks(w.causing_ns) + " in " + w.cause + "\n";
  }
  return out.empty() ? "" : "Who has waited for whom:\n" + out;
}

}  // namespace

std::string profile_table(const profile_data& data, const std::string& file) {
  if (data.ranks.empty()) {
    return "";
  }
  columns lines(2);
  lines.add({"call", "in", "count", "time", "of MPI", "of run", "mean", "sent"});
  const std::size_t shown = std::min(most_calls, data.calls.size());
  const double mpi_ns = data.mpi_ns();
  const double run_ns = data.threads_ns();
  for (std::size_t i = 0; i < shown; ++i) {
    const profile_call& c = data.calls[i];
    lines.add({c.call, c.place, count_text(c.count), time_text(c.total_ns),
               percent_text(c.total_ns, mpi_ns), percent_text(c.total_ns, run_ns),
               time_text(c.total_ns / c.count), amount_text(c.sent)});
  }
  std::string more;
  if (shown < data.calls.size()) {
    more = "  " + std::to_string(data.calls.size() - shown) + " more places took less; " + file +
           " has them.\n";
  }
  return summary(data) + lines.text() + more + table_of_waits(data);
}

}  // namespace sinew::tool
