// SPDX-License-Identifier: BSD-3-Clause
// Traffic, loads and split ratios as CSV.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "node_names.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/csv.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::route {
namespace {

constexpr double most_bytes = 9007199254740992.0;  // 2^53: what a double counts exactly
constexpr std::uint32_t widest_matrix = 8192;

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// Columns by name, found in the first row.
class named_columns {
 public:
  /// Empty positions where a name is missing.
  named_columns(const std::vector<std::string>& head, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto at = std::find(head.begin(), head.end(), name);
      places_.push_back(static_cast<std::size_t>(at - head.begin()));
      complete_ = complete_ && at != head.end();
    }
  }
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] const std::string& of(const std::vector<std::string>& row, std::size_t column,
                                      const std::string& where, std::size_t line) const {
    SINEW_EXPECT(complete_ && column < places_.size());
    if (places_[column] >= row.size()) {
      formats::bad_line(where, line, "fewer fields than the first row has");
    }
    return row[places_[column]];
  }

 private:
  std::vector<std::size_t> places_;
  bool complete_ = true;
};

double bytes_of(const std::string& text, const std::string& where, std::size_t line) {
  if (const auto whole = base::parse_bytes(text)) {
    return static_cast<double>(*whole);
  }
  const auto value = base::parse_double(text);
  if (!value || !(*value >= 0) || *value > most_bytes) {
    formats::bad_line(where, line, "\"" + text + "\" is no number of bytes");
  }
  return std::round(*value);
}

/// Rows of a list or of a matrix, as they come.
class traffic_reader {
 public:
  traffic_reader(const topology& net, const std::string& where, std::uint32_t ranks_per_node)
      : names_(net),
        where_(where),
        per_node_(ranks_per_node),
        ranks_(std::uint64_t{net.endpoints()} * ranks_per_node),
        endpoints_(net.endpoints()) {}

  void take(std::size_t line, const std::vector<std::string>& row) {
    last_ = line;
    if (first_) {
      first_ = false;
      if (take_head(line, row)) {
        return;
      }
    }
    if (list_) {
      const auto field = [&](std::size_t c) { return list_->of(row, c, where_, line); };
      add(node(field(0), line), node(field(1), line), bytes_of(field(2), where_, line));
    } else {
      take_matrix_row(line, row);
    }
  }

  job_list done() {
    if (!list_ && rows_ != columns_.size()) {
      formats::bad_line(where_, last_,
                        "the matrix has " + std::to_string(rows_) + " rows and " +
                            std::to_string(columns_.size()) + " columns: it is square");
    }
    return std::move(jobs_);
  }

 private:
  // True where the row holds names only.
  bool take_head(std::size_t line, const std::vector<std::string>& row) {
    const named_columns columns(row, {"source", "destination", "bytes"});
    if (columns.complete()) {
      list_ = columns;
      return true;
    }
    labelled_ = row.size() > 1 && !base::parse_double(row[0]);
    if (labelled_) {
      for (std::size_t c = 1; c < row.size(); ++c) {
        columns_.push_back(node(row[c], line));
      }
      return true;
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      columns_.push_back(node(std::to_string(c), line));
    }
    return false;
  }

  void take_matrix_row(std::size_t line, const std::vector<std::string>& row) {
    const std::size_t skip = labelled_ ? 1 : 0;
    if (row.size() != columns_.size() + skip) {
      formats::bad_line(where_, line,
                        std::to_string(row.size() - std::min(row.size(), skip)) +
                            " numbers, where the first row has " + std::to_string(columns_.size()));
    }
    const node_id from = labelled_ ? node(row[0], line) : node(std::to_string(rows_), line);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& text = row[c + skip];
      add(from, columns_[c], text.empty() ? 0 : bytes_of(text, where_, line));
    }
    ++rows_;
  }

  [[nodiscard]] node_id node(const std::string& name, std::size_t line) const {
    auto found = names_.labelled(name);
    if (!found) {
      const auto rank = base::parse_integer(name);
      if (!rank || *rank < 0 || static_cast<std::uint64_t>(*rank) >= ranks_) {
        formats::bad_line(where_, line,
                          "\"" + name + "\" is no node's label and none of the ranks 0.." +
                              std::to_string(ranks_ - 1));
      }
      found = static_cast<node_id>(static_cast<std::uint64_t>(*rank) / per_node_);
    }
    if (*found >= endpoints_) {
      formats::bad_line(where_, line,
                        "\"" + name + "\" is a switch, which neither sends nor receives");
    }
    return *found;
  }

  void add(node_id from, node_id to, double bytes) {
    if (bytes > 0) {
      jobs_.add(from, to, static_cast<std::uint64_t>(bytes));
    }
  }

  node_names names_;
  const std::string& where_;
  std::uint32_t per_node_;
  std::uint64_t ranks_;
  std::uint32_t endpoints_;
  std::optional<named_columns> list_;
  bool first_ = true;
  bool labelled_ = false;
  std::vector<node_id> columns_;
  std::size_t rows_ = 0;
  std::size_t last_ = 1;
  job_list jobs_;
};

}  // namespace

node_names::node_names(const topology& net) : net_(net) {
  for (node_id n = 0; net.has_labels() && n < net.nodes(); ++n) {
    by_label_.emplace(net.label(n), n);
  }
}

std::optional<node_id> node_names::labelled(std::string_view name) const {
  const auto at = by_label_.find(std::string(name));
  return at == by_label_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<node_id> node_names::find(std::string_view name) const {
  if (const auto found = labelled(name)) {
    return found;
  }
  const auto number = base::parse_integer(name);
  return number && *number >= 0 && *number < net_.nodes()
             ? std::optional(static_cast<node_id>(*number))
             : std::nullopt;
}

job_list pattern_from_csv(const topology& net, std::string_view text, const std::string& where,
                          std::uint32_t ranks_per_node) {
  SINEW_CHECK(ranks_per_node >= 1 && ranks_per_node <= (1u << 16), "no ranks on a node",
              "ranks per node is 1..65536", "");
  traffic_reader reader(net, where, ranks_per_node);
  formats::for_each_row(
      text, where,
      [&reader](std::size_t line, const std::vector<std::string>& row) { reader.take(line, row); });
  return reader.done();
}

std::string jobs_to_csv(const topology& net, const job_list& jobs) {
  std::string out = "source,destination,bytes\n";
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    out += formats::csv_field(net.label(jobs.source[j])) + ',' +
           formats::csv_field(net.label(jobs.destination[j])) + ',' +
           std::to_string(jobs.bytes[j]) + '\n';
  }
  return out;
}

std::string traffic_matrix(const topology& net, const job_list& jobs) {
  SINEW_CHECK(net.endpoints() <= widest_matrix,
              "no matrix of " + std::to_string(net.endpoints()) + " nodes",
              "it would have " + std::to_string(std::uint64_t{net.endpoints()} * net.endpoints()) +
                  " fields",
              "write the list of jobs instead");
  std::map<std::pair<node_id, node_id>, std::uint64_t> sums;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    sums[{jobs.source[j], jobs.destination[j]}] += jobs.bytes[j];
  }
  std::string out = "node";
  for (node_id n = 0; n < net.endpoints(); ++n) {
    out += ',' + formats::csv_field(net.label(n));
  }
  auto next = sums.begin();
  for (node_id from = 0; from < net.endpoints(); ++from) {
    out += '\n' + formats::csv_field(net.label(from));
    for (node_id to = 0; to < net.endpoints(); ++to) {
      const bool some = next != sums.end() && next->first == std::pair(from, to);
      out += ',' + (some ? std::to_string((next++)->second) : std::string("0"));
    }
  }
  SINEW_ENSURE(next == sums.end());
  return out + '\n';
}

std::string loads_to_csv(const topology& net, std::span<const double> loads) {
  SINEW_EXPECT(loads.size() == net.links());
  std::string out = "from,to,capacity,bytes\n";
  for (link_id l = 0; l < net.links(); ++l) {
    out += formats::csv_field(net.label(net.from(l))) + ',' +
           formats::csv_field(net.label(net.to(l))) + ',' + number_text(net.capacity(l)) + ',' +
           number_text(loads[l]) + '\n';
  }
  return out;
}

std::vector<double> loads_from_csv(const topology& net, std::string_view text,
                                   const std::string& where) {
  const node_names names(net);
  std::vector<double> loads(net.links(), 0);
  std::optional<named_columns> columns;
  formats::for_each_row(text, where, [&](std::size_t line, const std::vector<std::string>& row) {
    if (!columns) {
      columns.emplace(row, std::vector<std::string>{"from", "to", "bytes"});
      if (!columns->complete()) {
        formats::bad_line(where, line, "the first row names columns: from, to, bytes");
      }
      return;
    }
    const std::string& from = columns->of(row, 0, where, line);
    const std::string& to = columns->of(row, 1, where, line);
    const auto a = names.find(from);
    const auto b = names.find(to);
    const link_id l = a && b ? net.find(*a, *b) : nothing;
    if (l == nothing) {
      formats::bad_line(where, line, "no link from \"" + from + "\" to \"" + to + "\"");
    }
    const auto value = base::parse_double(columns->of(row, 2, where, line));
    if (!value || !(*value >= 0) || *value > 1e18) {
      formats::bad_line(where, line,
                        "\"" + columns->of(row, 2, where, line) + "\" is no number of bytes");
    }
    loads[l] += *value;
  });
  return loads;
}

std::string splits_to_csv(const topology& net, const route_plan& plan) {
  std::string out = "destination,node,next,ratio,bytes\n";
  for (const split_ratio& s : split_ratios(net, plan)) {
    out += formats::csv_field(net.label(s.destination)) + ',' +
           formats::csv_field(net.label(s.node)) + ',' + formats::csv_field(net.label(s.next)) +
           ',' + number_text(s.ratio) + ',' + number_text(s.bytes) + '\n';
  }
  return out;
}

}  // namespace sinew::route
