// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/roll_call.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "sinew/ask/wait_words.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t most_lines = 8;  ///< ranks that wait for different ranks have their own

struct group {
  place where;
  std::string waits_for;
  std::string unknown;  ///< why there is no place
  std::vector<int> ranks = {};
  std::int64_t waited_ms = 0;  ///< the longest

  [[nodiscard]] bool is_as(const group& other) const {
    return where == other.where && waits_for == other.waits_for && unknown == other.unknown;
  }
  [[nodiscard]] std::string text() const {
    const std::int64_t seconds = waited_ms / 1000;
    const std::string details =
        waits_for + (seconds == 0 ? "" : ", for " + std::to_string(seconds) + " s");
    return unknown.empty() ? where.text(details) : unknown + (waits_for.empty() ? "" : details);
  }
};

/// The largest first.
std::vector<group> groups_of(const roll& all, wait_detail detail) {
  std::vector<group> groups;
  for (const auto& [rank, stands] : all) {
    group here{place_of(stands), "", stands.why_not};
    if (stands.wait) {
      here.waits_for = wait_text(stands.wait->what, detail);
    }
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&here](const group& each) { return each.is_as(here); });
    group& of = same != groups.end() ? *same : groups.emplace_back(std::move(here));
    of.ranks.push_back(rank);
    of.waited_ms = std::max(of.waited_ms, stands.wait ? stands.wait->waited_ms : 0);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const group& a, const group& b) { return a.ranks.size() > b.ranks.size(); });
  return groups;
}

std::vector<group> groups_of(const roll& all) {
  std::vector<group> groups;
  for (const wait_detail each : {wait_detail::all, wait_detail::without_ranks, wait_detail::none}) {
    groups = groups_of(all, each);
    if (groups.size() <= most_lines) {
      break;
    }
  }
  return groups;
}

bool one_place_has_most(const std::vector<group>& groups, std::size_t ranks) {
  return groups.size() > 1 && groups.front().unknown.empty() &&
         2 * groups.front().ranks.size() > ranks;
}

std::string count_text(std::size_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

/// Calls that several threads have in common, from the outermost on.
struct branch {
  std::string call;
  std::vector<int> ranks;
  std::vector<std::unique_ptr<branch>> inside;

  branch& at(const std::string& text) {
    for (const auto& each : inside) {
      if (each->call == text) {
        return *each;
      }
    }
    inside.push_back(std::make_unique<branch>(branch{text, {}, {}}));
    return *inside.back();
  }
  void note(int rank) {
    if (ranks.empty() || ranks.back() != rank) {
      ranks.push_back(rank);
    }
  }
};

// A call deeper, where it is the only one of its ranks, needs no deeper margin.
void write_tree(const branch& from, const std::string& margin, std::string& to) {
  for (const auto& each : from.inside) {
    const bool alone = from.inside.size() == 1 && each->ranks == from.ranks;
    to += margin + each->call + (alone ? "" : "  [" + ranks_text(each->ranks) + "]") + "\n";
    write_tree(*each, margin + (each->inside.size() > 1 ? "  " : ""), to);
  }
}

}  // namespace

std::string ranks_text(const std::vector<int>& ascending) {
  return (ascending.size() == 1 ? "rank " : "ranks ") + base::ranges_text(ascending, ", ");
}

std::string roll_call(const roll& all) {
  const std::vector<group> groups = groups_of(all);
  std::string text;
  for (const group& each : groups) {
    text += "  " + ranks_text(each.ranks) + ": " + each.text() + "\n";
  }
  if (one_place_has_most(groups, all.size())) {
    const std::size_t others = all.size() - groups.front().ranks.size();
    text += "  " + count_text(others) + (others == 1 ? " stands" : " stand") +
            " elsewhere than the " + std::to_string(groups.front().ranks.size()) +
            " others: look there first.\n";
  }
  return text;
}

std::vector<int> ranks_elsewhere(const roll& all) {
  const std::vector<group> groups = groups_of(all);
  std::vector<int> ranks;
  if (one_place_has_most(groups, all.size())) {
    for (auto each = groups.begin() + 1; each != groups.end(); ++each) {
      ranks.insert(ranks.end(), each->ranks.begin(), each->ranks.end());
    }
    std::sort(ranks.begin(), ranks.end());
  }
  return ranks;
}

std::string stack_tree(const roll& all) {
  branch root;
  std::string text;
  for (const auto& [rank, stacks] : all) {
    if (!stacks.why_not.empty()) {
      text += ranks_text({rank}) + ": " + stacks.why_not + "\n";
    }
    for (const stack& calls : stacks.threads) {
      branch* at = &root;
      at->note(rank);
      const std::size_t end = outermost_call(calls).value_or(0);  // inside it is our affair
      for (std::size_t i = calls.size(); i-- > end;) {
        at = &at->at(frame_text(calls[i]));
        at->note(rank);
      }
    }
  }
  write_tree(root, "", text);
  return text;
}

namespace {

/// Up to main(); calls that repeat, as in a recursion that has no end, are one line.
std::string lines_of(const stack& calls) {
  std::string text;
  for (std::size_t i = 0; i < calls.size();) {
    const std::string line = frame_text(calls[i]);
    const std::size_t first = i;
    while (i < calls.size() && frame_text(calls[i]) == line) {
      ++i;
    }
    text +=
        "  " + line + (i - first > 1 ? "  [" + std::to_string(i - first) + " times]" : "") + "\n";
    if (calls[first].function == "main") {
      break;
    }
  }
  const bool is_cut = std::none_of(calls.begin(), calls.end(),
                                   [](const stack_frame& each) { return each.function == "main"; });
  return text + (is_cut && calls.size() > most_frames / 2 ? "  and more\n" : "");
}

}  // namespace

std::string crash_text(const rank_stacks& rank) {
  std::string text;
  for (const stack& calls : rank.threads) {
    if (const auto first = interrupted_call(calls)) {
      text += lines_of({calls.begin() + static_cast<std::ptrdiff_t>(*first), calls.end()});
    }
  }
  return text;
}

std::string roll_json(const roll& all) {
  std::string text;
  const auto member = [&text](const char* name, const std::string& value) {
    text += std::string(", \"") + name + "\": " + formats::json_quoted(value);
  };
  for (const auto& [rank, stacks] : all) {
    text += (text.empty() ? "[\n" : ",\n") + std::string("  {\"rank\": ") + std::to_string(rank);
    if (!stacks.why_not.empty()) {
      member("unknown", stacks.why_not);
    } else {
      const place here = place_of(stacks);
      member("call", here.call);
      member("function", here.function);
      member("where", here.where);
    }
    text += stacks.wait ? ", " + wait_json(*stacks.wait) : "";
    text += "}";
  }
  return (text.empty() ? "[" : text + "\n") + "]\n";
}

std::string answer_text(const roll& all, question what) {
  switch (what) {
    case question::places:
    case question::numbers:
      break;
    case question::stacks:
      return stack_tree(all);
    case question::json:
      return roll_json(all);
    case question::elsewhere:
      return base::ranges_text(ranks_elsewhere(all), ",");
  }
  return roll_call(all);
}

bool all_wait_for_each_other(const roll& all) {
  return all_are_in_calls(all) && std::none_of(all.begin(), all.end(), [](const auto& each) {
           const std::string& call = place_of(each.second).call;
           return call == "MPI_Comm_accept" || call == "MPI_Comm_connect" ||
                  call == "MPI_Comm_join" || call.starts_with("MPI_Comm_spawn") ||
                  call.starts_with("MPI_File_");
         });
}

bool any_is_known(const roll& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const auto& each) { return each.second.why_not.empty(); });
}

bool all_are_in_calls(const roll& all) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const auto& each) {
    const std::vector<stack>& threads = each.second.threads;
    return each.second.why_not.empty() &&
           std::any_of(threads.begin(), threads.end(), waits_in_call);
  });
}

}  // namespace sinew::tool
