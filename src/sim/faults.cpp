// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/faults.hpp"

#include <algorithm>
#include <climits>
#include <optional>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/random.hpp"

namespace sinew::sim {
namespace {

constexpr std::string_view kill_word = "kill:";
constexpr std::string_view slow_word = "slow:";

/// What stands before `end`, which is taken off; all of it if `end` is 0.
std::optional<std::int64_t> take_number(std::string_view& text, char end) {
  const std::size_t at = end == 0 ? text.size() : text.find(end);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = base::parse_integer(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return number.has_value() && *number >= 0 ? number : std::nullopt;
}

}  // namespace

fault parse_fault(std::string_view text) {
  const bool kills = text.starts_with(kill_word);
  std::string_view rest = text.substr(std::min(text.size(), kill_word.size()));
  const auto rank = take_number(rest, '@');
  const auto from = take_number(rest, kills ? '\0' : '-');
  const auto to = kills ? from : take_number(rest, '+');
  const auto later = kills ? from : take_number(rest, '\0');
  SINEW_CHECK(
      (kills || text.starts_with(slow_word)) && rank && *rank <= INT_MAX && from && to && later,
      "the fault \"" + std::string(text) + "\" cannot be read",
      "it is neither kill:RANK@TIME nor slow:RANK@FROM-TO+LATER",
      "write times in ns, as in kill:2@153000");
  fault result{.rank = static_cast<int>(*rank), .from_ns = *from};
  if (!kills) {
    result.what = fault_kind::slow;
    result.to_ns = *to;
    result.later_ns = *later;
  }
  return result;
}

std::string to_text(const fault& what) {
  const std::string whom = std::to_string(what.rank) + "@" + std::to_string(what.from_ns);
  return what.what == fault_kind::kill
             ? std::string(kill_word) + whom
             : std::string(slow_word) + whom + "-" + std::to_string(what.to_ns) + "+" +
                   std::to_string(what.later_ns);
}

std::vector<fault> draw_faults(std::string_view choice, std::uint64_t seed, const job_facts& job) {
  SINEW_EXPECT(base::is_choice(choice, fault_choices) && job.ranks > 0 && job.ranks_per_node > 0);
  random_generator random(seed ^ 0xfa017);  // not the numbers by which the run varies delays
  const auto below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end)));
  };
  const auto rank = static_cast<int>(below(job.ranks));
  const std::int64_t from = below(job.length_ns + 1);
  if (choice == "ranks") {
    return {{fault_kind::kill, rank, from}};
  }
  if (choice == "slow") {
    const std::int64_t later = std::int64_t{1000} << below(10);
    return {{fault_kind::slow, rank, from, from + below(job.length_ns + 1), later}};
  }
  std::vector<fault> all;
  const int first = rank / job.ranks_per_node * job.ranks_per_node;
  for (int r = first; r < std::min(first + job.ranks_per_node, job.ranks); ++r) {
    all.push_back({fault_kind::kill, r, from});
  }
  return all;
}

}  // namespace sinew::sim
