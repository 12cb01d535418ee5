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
constexpr std::string_view link_word = "link:";

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

std::optional<int> take_int(std::string_view& text, char end) {
  const auto number = take_number(text, end);
  return number && *number <= INT_MAX ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Each takes what stands behind its word.
std::optional<fault> parse_kill(std::string_view text) {
  const auto rank = take_int(text, '@');
  const auto from = take_number(text, '\0');
  return rank && from ? std::optional(fault{.rank = *rank, .from_ns = *from}) : std::nullopt;
}

std::optional<fault> parse_slow(std::string_view text) {
  const auto rank = take_int(text, '@');
  const auto from = take_number(text, '-');
  const auto to = take_number(text, '+');
  const auto later = take_number(text, '\0');
  return rank && from && to && later
             ? std::optional(fault{fault_kind::slow, *rank, *from, *to, *later})
             : std::nullopt;
}

std::optional<fault> parse_link(std::string_view text) {
  const auto one = take_int(text, '-');
  const auto other = take_int(text, '@');
  const bool is_slow = text.find('/') != std::string_view::npos;
  const bool ends = is_slow || text.find('-') != std::string_view::npos;
  const auto from = take_number(text, ends ? '-' : '\0');
  const auto to = !ends ? INT64_MAX : take_number(text, is_slow ? '/' : '\0');
  const auto times = is_slow ? take_int(text, '\0') : 0;
  if (!one || !other || !from || !to || !times || (is_slow && *times < 1)) {
    return std::nullopt;
  }
  return fault{.what = fault_kind::link,
               .from_ns = *from,
               .to_ns = *to,
               .ends = {*one, *other},
               .times = *times};
}

}  // namespace

fault parse_fault(std::string_view text) {
  const auto behind = [text](std::string_view word) {
    return text.substr(std::min(text.size(), word.size()));
  };
  const std::optional<fault> result = text.starts_with(kill_word)   ? parse_kill(behind(kill_word))
                                      : text.starts_with(slow_word) ? parse_slow(behind(slow_word))
                                      : text.starts_with(link_word) ? parse_link(behind(link_word))
                                                                    : std::nullopt;
  SINEW_CHECK(result.has_value(), "the fault \"" + std::string(text) + "\" cannot be read",
              "it is neither kill:RANK@TIME nor slow:RANK@FROM-TO+LATER nor "
              "link:NODE-NODE@FROM[-TO[/TIMES]]",
              "write times in ns, as in kill:2@153000");
  return *result;
}

std::string to_text(const fault& what) {
  const std::string from = "@" + std::to_string(what.from_ns);
  const std::string to = "-" + std::to_string(what.to_ns);
  switch (what.what) {
    case fault_kind::kill:
      break;
    case fault_kind::slow:
      return std::string(slow_word) + std::to_string(what.rank) + from + to + "+" +
             std::to_string(what.later_ns);
    case fault_kind::link:
      return std::string(link_word) + std::to_string(what.ends[0]) + "-" +
             std::to_string(what.ends[1]) + from + (what.to_ns == INT64_MAX ? "" : to) +
             (what.times == 0 ? "" : "/" + std::to_string(what.times));
  }
  return std::string(kill_word) + std::to_string(what.rank) + from;
}

bool may_kill(const fault& what) noexcept {
  return what.what == fault_kind::kill || (what.what == fault_kind::link && what.times == 0 &&
                                           what.to_ns - what.from_ns >= cut_off_ns);
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
  if (choice == "links") {
    if (job.links.empty()) {
      return {};
    }
    fault drawn{.what = fault_kind::link, .from_ns = from};
    drawn.ends = job.links[random.below(job.links.size())];
    const std::int64_t how = below(3);
    drawn.to_ns = how == 0 ? INT64_MAX : from + 1 + below(job.length_ns + 1);
    drawn.times = how == 2 ? 2 << below(10) : 0;
    return {drawn};
  }
  std::vector<fault> all;
  const int first = rank / job.ranks_per_node * job.ranks_per_node;
  for (int r = first; r < std::min(first + job.ranks_per_node, job.ranks); ++r) {
    all.push_back({fault_kind::kill, r, from});
  }
  return all;
}

}  // namespace sinew::sim
