// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/profile/profile_data.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "sinew/base/error.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::tool {
namespace {

using formats::json_member;
using formats::json_value;
using json_kind = json_value::kind;

constexpr const char* profile_format = "sinew profile 1";

/// Reads one file.
class reading {
 public:
  reading(profile_data& into, std::string path) : data_(into), path_(std::move(path)) {}

  void all() {
    const json_value root =
        formats::parse_json(formats::whole_file(path_, "sinew run --profile writes one"), path_);
    const json_value* const name = root.find("format");
    if (name == nullptr || name->text != profile_format) {
      throw error("cannot show " + path_, "it is not the profile of a run",
                  "give a file that sinew run --profile or SINEW_MPI_PROFILE has written");
    }
    data_.command = text(root, "command");
    const std::vector<json_value>& ranks = list(root, "ranks");
    data_.ranks.reserve(ranks.size());
    for (const json_value& each : ranks) {
      read_rank(each);
    }
    if (root.find("waits") != nullptr) {
      for (const json_value& each : list(root, "waits")) {
        read_wait(each);
      }
    }
    sort();
  }

 private:
  [[nodiscard]] double number(const json_value& of, const char* name) const {
    return json_member(of, path_, name, json_kind::number).number;
  }
  [[nodiscard]] std::string text(const json_value& of, const char* name) const {
    return json_member(of, path_, name, json_kind::text).text;
  }
  [[nodiscard]] const std::vector<json_value>& list(const json_value& of, const char* name) const {
    return json_member(of, path_, name, json_kind::array).items;
  }

  void read_rank(const json_value& from) {
    profile_rank r;
    r.rank = static_cast<int>(number(from, "rank"));
    r.host = text(from, "host");
    r.run_ns = number(from, "run_ns");
    for (const json_value& each : list(from, "threads")) {
      r.thread_ns.push_back(number(each, "mpi_ns"));
    }
    std::vector<std::size_t>& numbers = calls_of_[r.rank];
    for (const json_value& each : list(from, "calls")) {
      numbers.push_back(read_call(each, r));
    }
    for (const json_value& each : list(from, "peers")) {
      const double accesses = number(each, "puts") + number(each, "gets");
      if (number(each, "sent_messages") + accesses != 0) {
        data_.pairs.push_back({r.rank, static_cast<int>(number(each, "rank")),
                               number(each, "sent_messages"), number(each, "sent_bytes"), accesses,
                               number(each, "put_bytes") + number(each, "got_bytes")});
      }
    }
    const json_value& sizes = json_member(from, path_, "sizes", json_kind::object);
    for (std::size_t i = 0; i < sizes.names.size(); ++i) {
      std::vector<double>& sum = data_.sizes[kind_number(sizes.names[i])];
      sum.resize(std::max(sum.size(), sizes.items[i].items.size()));
      for (std::size_t bits = 0; bits < sizes.items[i].items.size(); ++bits) {
        sum[bits] += sizes.items[i].items[bits].number;
      }
    }
    data_.ranks.push_back(std::move(r));
  }

  /// Its number in `data_.calls`.
  std::size_t read_call(const json_value& from, profile_rank& r) {
    const std::string call = text(from, "call");
    const std::string place = place_of(from);
    const auto [at, is_new] = number_of_.try_emplace({call, place}, data_.calls.size());
    if (is_new) {
      data_.calls.emplace_back();
      data_.calls.back().call = call;
      data_.calls.back().place = place;
      data_.calls.back().kind = kind_number(text(from, "kind"));
      data_.calls.back().least_ns = number(from, "least_ns");
    }
    profile_call& c = data_.calls[at->second];
    const double ns = number(from, "total_ns");
    c.count += number(from, "count");
    c.total_ns += ns;
    c.least_ns = std::min(c.least_ns, number(from, "least_ns"));
    c.most_ns = std::max(c.most_ns, number(from, "most_ns"));
    c.sent += number(from, "sent");
    c.received += number(from, "received");
    c.ns_of_rank[r.rank] += ns;
    r.kind_ns[c.kind] += ns;
    return at->second;
  }

  [[nodiscard]] std::string place_of(const json_value& call) const {
    const auto name_of = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    const std::string function = text(call, "function");
    const std::string file = name_of(text(call, "file"));
    const int line = static_cast<int>(number(call, "line"));
    if (line == 0) {
      return function;
    }
    const std::string where = file + ":" + std::to_string(line);
    return function.empty() ? where : function + " (" + where + ")";
  }

  void read_wait(const json_value& from) {
    const int rank = static_cast<int>(number(from, "rank"));
    const int cause = static_cast<int>(number(from, "cause_rank"));
    const profile_call& waits = call_of(rank, number(from, "call"));
    const profile_call& causes = call_of(cause, number(from, "cause_call"));
    const std::string state = text(from, "state");
    const auto [at, is_new] =
        wait_number_.try_emplace({state, waits.text(), causes.text()}, data_.waits.size());
    if (is_new) {
      data_.waits.push_back({state, waits.text(), causes.text()});
    }
    profile_wait& w = data_.waits[at->second];
    const double ns = number(from, "total_ns");
    w.count += number(from, "count");
    w.total_ns += ns;
    w.most_ns = std::max(w.most_ns, number(from, "most_ns"));
    w.waiting_ns[rank] += ns;
    w.causing_ns[cause] += ns;
    for (profile_rank& r : data_.ranks) {
      if (r.rank == rank) {
        r.waiting_ns += ns;
        r.waiting_of_kind_ns[waits.kind] += ns;
      }
    }
  }

  [[nodiscard]] const profile_call& call_of(int rank, double number) const {
    const auto found = calls_of_.find(rank);
    const auto n = static_cast<std::size_t>(number);
    if (found == calls_of_.end() || n >= found->second.size()) {
      throw error("cannot show " + path_, "a wait names a call that is not in the file", "");
    }
    return data_.calls[found->second[n]];
  }

  void sort() {
    const auto most = [](auto& all, auto amount) {
      std::stable_sort(all.begin(), all.end(),
                       [amount](const auto& a, const auto& b) { return a.*amount > b.*amount; });
    };
    most(data_.calls, &profile_call::total_ns);
    most(data_.waits, &profile_wait::total_ns);
    std::stable_sort(data_.pairs.begin(), data_.pairs.end(), [](const auto& a, const auto& b) {
      return a.bytes + a.access_bytes > b.bytes + b.access_bytes;
    });
  }

  profile_data& data_;
  const std::string path_;
  std::map<std::pair<std::string, std::string>, std::size_t> number_of_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> wait_number_;
  std::map<int, std::vector<std::size_t>> calls_of_;  ///< by rank, in the file's order
};

}  // namespace

std::size_t kind_number(std::string_view name) noexcept {
  const auto* const found = std::find(call_kinds.begin(), call_kinds.end(), name);
  return found == call_kinds.end() ? call_kinds.size() - 1
                                   : static_cast<std::size_t>(found - call_kinds.begin());
}

std::string profile_call::text() const { return place.empty() ? call : call + ", in " + place; }

double profile_rank::mpi_ns() const noexcept {
  return std::accumulate(kind_ns.begin(), kind_ns.end(), 0.0);
}

double profile_rank::threads_ns() const noexcept {
  return run_ns * static_cast<double>(std::max<std::size_t>(1, thread_ns.size()));
}

double profile_data::mpi_ns() const noexcept {
  double sum = 0;
  for (const profile_rank& r : ranks) {
    sum += r.mpi_ns();
  }
  return sum;
}

double profile_data::threads_ns() const noexcept {
  double sum = 0;
  for (const profile_rank& r : ranks) {
    sum += r.threads_ns();
  }
  return sum;
}

double profile_data::longest_run_ns() const noexcept {
  double longest = 0;
  for (const profile_rank& r : ranks) {
    longest = std::max(longest, r.run_ns);
  }
  return longest;
}

profile_data read_profile(const std::string& path) {
  profile_data data;
  reading(data, path).all();
  return data;
}

}  // namespace sinew::tool
