// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/pattern.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/random.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::route {
namespace {

std::uint32_t rank_count(const topology& net, std::uint32_t ranks_per_node) {
  SINEW_CHECK(ranks_per_node >= 1 && ranks_per_node <= (1u << 16), "no ranks on a node",
              "ranks per node is 1..65536", "");
  const std::uint64_t ranks = std::uint64_t{net.endpoints()} * ranks_per_node;
  SINEW_CHECK(ranks < nothing, "too many ranks", std::to_string(ranks), "");
  return static_cast<std::uint32_t>(ranks);
}

// Collects jobs given by rank.
class job_writer {
 public:
  explicit job_writer(const pattern_options& o) : options_(o) {}
  void add(std::uint32_t from, std::uint32_t to) { add(from, to, options_.bytes); }
  void add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    jobs_.add(from / options_.ranks_per_node, to / options_.ranks_per_node, bytes);
  }
  job_list take() { return std::move(jobs_); }

 private:
  const pattern_options& options_;
  job_list jobs_;
};

job_list aggregation(std::uint32_t ranks, const pattern_options& o) {
  SINEW_CHECK(o.group >= 1 && o.group <= ranks, "no such groups",
              "a group has 1.." + std::to_string(ranks) + " ranks", "");
  job_writer out(o);
  for (std::uint32_t first = 0; first < ranks; first += o.group) {
    const std::uint32_t size = std::min(o.group, ranks - first);
    for (std::uint32_t i = 0; i < size; ++i) {
      out.add(first + i, first + size / 2);
    }
  }
  return out.take();
}

job_list random_pairs(std::uint32_t ranks, const pattern_options& o) {
  std::vector<std::uint32_t> to(ranks);
  std::iota(to.begin(), to.end(), 0u);
  random_generator draw(o.seed);
  for (std::size_t i = ranks; i > 1; --i) {
    std::swap(to[i - 1], to[draw.below(i)]);
  }
  job_writer out(o);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    out.add(i, to[i]);
  }
  return out.take();
}

job_list all_to_all(std::uint32_t ranks, const pattern_options& o, bool varied) {
  SINEW_CHECK(ranks <= (1u << 14), "an all-to-all of " + std::to_string(ranks) + " ranks",
              "it would need " + std::to_string((std::uint64_t{ranks} * ranks * 16) >> 20) +
                  " MiB of jobs alone",
              "at most 16384 ranks");
  random_generator draw(o.seed);
  job_writer out(o);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    for (std::uint32_t j = 0; j < ranks; ++j) {
      if (i != j) {
        out.add(i, j, varied ? draw.below(o.bytes + 1) : o.bytes);
      }
    }
  }
  return out.take();
}

job_list halo(const topology& net, const pattern_options& o) {
  job_list jobs;
  for (node_id n = 0; n < net.endpoints(); ++n) {
    for (link_id l = net.first_link(n); l < net.first_link(n + 1); ++l) {
      if (net.to(l) < net.endpoints()) {
        jobs.add(n, net.to(l), o.bytes);
      }
    }
  }
  SINEW_CHECK(jobs.size() > 0, "no halo on " + net.name(), "no two endpoints are neighbours", "");
  return jobs;
}

}  // namespace

job_list make_many_to_many(const topology& net, const many_to_many& s, const pattern_options& o) {
  const std::uint32_t ranks = rank_count(net, o.ranks_per_node);
  SINEW_CHECK(s.sources > 0 && s.destinations > 0, "a pattern without senders or receivers",
              "both must be at least 1", "");
  SINEW_CHECK(std::uint64_t{s.first_source} + s.sources <= ranks &&
                  std::uint64_t{s.first_destination} + s.destinations <= ranks,
              "the pattern does not fit", "there are " + std::to_string(ranks) + " ranks", "");
  const std::uint32_t longer = std::max(s.sources, s.destinations);
  const std::uint32_t ratio = longer / std::min(s.sources, s.destinations);
  SINEW_CHECK(longer % std::min(s.sources, s.destinations) == 0, "the pattern does not fit",
              "the longer side is no multiple of the shorter", "");
  job_writer out(o);
  for (std::uint32_t i = 0; i < longer; ++i) {
    const bool fan_out = s.sources <= s.destinations;
    out.add(s.first_source + (fan_out ? i / ratio : i),
            s.first_destination + (fan_out ? i : i / ratio));
  }
  return out.take();
}

many_to_many experiment_shape(std::uint32_t id, std::uint32_t ranks) {
  SINEW_CHECK(id < experiments, "no experiment " + std::to_string(id), "they are 0..90", "");
  SINEW_CHECK(ranks >= 128 && ranks % 128 == 0,
              "the experiments need a multiple of 128 ranks, not " + std::to_string(ranks),
              "their smallest part is 1/128 of all", "");
  const std::uint32_t part = ranks / 16;
  if (id < 16) {
    const std::uint32_t n = part << (id % 4);
    return {part << (id / 4), 0, n, ranks - n};
  }
  if (id < 64) {
    const std::uint32_t which = (id - 16) / 3;
    const std::uint32_t m = part << (which / 4);
    const std::uint32_t lap = m / 8 << ((id - 16) % 3);
    return {m, 0, part << (which % 4), m - lap};
  }
  const std::uint32_t k = id - 64;
  const std::uint32_t m = ranks / 8 << (k / 9);
  return {m, 0, m / 16 << (k / 3 % 3), m / 4 * (k % 3)};
}

const char* experiment_kind(std::uint32_t id) {
  return id < 16 ? "disjoint" : id < 64 ? "overlap" : "subset";
}

const std::vector<std::string_view>& pattern_names() {
  static const std::vector<std::string_view> names = {
      "disjoint", "overlap",  "subset",    "incast", "aggregation",
      "random",   "alltoall", "alltoallv", "halo",   "experiment:N"};
  return names;
}

job_list make_pattern(const topology& net, std::string_view name, const pattern_options& o) {
  const std::uint32_t p = rank_count(net, o.ranks_per_node);
  const bool named =
      name == "disjoint" || name == "overlap" || name == "subset" || name == "incast";
  SINEW_CHECK(!named || p >= 32, std::string(name) + " needs at least 32 ranks",
              "its smallest part is 1/32 of all, and there are " + std::to_string(p), "");
  if (name == "disjoint") {
    return make_many_to_many(net, {p / 16, 0, p / 16 * 8, p - p / 16 * 8}, o);
  }
  if (name == "overlap") {
    return make_many_to_many(net, {p / 16, 0, p / 16 * 8, p / 32}, o);
  }
  if (name == "subset") {
    return make_many_to_many(net, {p / 16, 0, p / 16 * 8, 0}, o);
  }
  if (name == "incast") {
    return make_many_to_many(net, {p / 16 * 8, 0, p / 16, p / 4}, o);
  }
  if (name == "aggregation") {
    return aggregation(p, o);
  }
  if (name == "random") {
    return random_pairs(p, o);
  }
  if (name == "alltoall" || name == "alltoallv") {
    return all_to_all(p, o, name == "alltoallv");
  }
  if (name == "halo") {
    return halo(net, o);
  }
  if (name.starts_with("experiment:")) {
    const auto id = base::parse_integer(name.substr(11));
    SINEW_CHECK(id && *id >= 0 && *id < experiments, "no such experiment as " + std::string(name),
                "they are experiment:0 to experiment:90", "");
    return make_many_to_many(net, experiment_shape(static_cast<std::uint32_t>(*id), p), o);
  }
  std::ifstream probe{std::string(name)};
  if (probe) {
    return read_pattern(net, std::string(name), o.ranks_per_node);
  }
  std::string known;
  for (const std::string_view each : pattern_names()) {
    known += " " + std::string(each);
  }
  throw error("unknown pattern " + std::string(name), "it is no pattern's name and no file",
              "patterns are" + known);
}

job_list pattern_from_text(const topology& net, std::string_view text, const std::string& where,
                           std::uint32_t ranks_per_node) {
  const std::uint32_t ranks = rank_count(net, ranks_per_node);
  pattern_options o;
  o.ranks_per_node = ranks_per_node;
  job_writer out(o);
  formats::for_each_line(text, [&](std::size_t line, const std::vector<std::string_view>& words) {
    if (words.size() != 3) {
      formats::bad_line(where, line, "a job is \"source destination bytes\"");
    }
    const auto from = base::parse_integer(words[0]);
    const auto to = base::parse_integer(words[1]);
    const auto bytes = base::parse_bytes(words[2]);
    if (!from || !to || *from < 0 || *to < 0 || *from >= ranks || *to >= ranks) {
      formats::bad_line(where, line, "ranks are 0.." + std::to_string(ranks - 1));
    }
    if (!bytes) {
      formats::bad_line(where, line, "\"" + std::string(words[2]) + "\" is no number of bytes");
    }
    out.add(static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to),
            static_cast<std::uint64_t>(*bytes));
  });
  return out.take();
}

job_list read_pattern(const topology& net, const std::string& path, std::uint32_t ranks_per_node) {
  const std::string text = formats::whole_file(path);
  return path.ends_with(".csv") ? pattern_from_csv(net, text, path, ranks_per_node)
                                : pattern_from_text(net, text, path, ranks_per_node);
}

}  // namespace sinew::route
