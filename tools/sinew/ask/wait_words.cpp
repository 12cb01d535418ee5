// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/wait_words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sinew/formats/json.hpp"

namespace sinew::tool {
namespace {

using boot::awaited;
using kind = awaited::kind;

constexpr std::size_t most_groups = 8;

bool is_message(const awaited& what) {
  return what.what == kind::receive || what.what == kind::send || what.what == kind::probe;
}

/// "tag 7" or "any tag"; of a send and a receive.
std::string tag_text(int tag) { return tag < 0 ? "any tag" : "tag " + std::to_string(tag); }

const char* kind_name(kind what) {
  constexpr const char* names[] = {"other", "receive", "send", "probe", "collective"};
  return names[static_cast<std::size_t>(what)];
}

/// What stands for the call where no stack says which it is.
std::string call_text(const awaited& what) {
  return what.what == kind::collective ? what.collective
         : is_message(what)            ? std::string("a ") + kind_name(what.what)
                                       : "a call of MPI";
}

bool is_named(const std::string& communicator) {
  return !communicator.empty() && !communicator.starts_with("communicator ");
}

/// What a call does with messages of its own is not told: windows and files have communicators that
/// the program does not know.
awaited as_called(awaited what, const std::string& call) {
  if (call.starts_with("MPI_Win_") || call.starts_with("MPI_File_")) {
    what.communicator = is_named(what.communicator) ? what.communicator : "";
    what.tag = what.other_tag = -1;
    what.bytes = -1;
    what.what = what.what == kind::collective ? what.what : kind::other;
  }
  return what;
}

/// What a rank does, in a sentence of which it is the subject.
struct predicate {
  std::string one;   ///< "waits for rank 1 (MPI_Recv, tag 7, ping.c:31)"
  std::string many;  ///< "wait for rank 1 (MPI_Recv, tag 7, ping.c:31)"
};

std::string others_text(const std::vector<int>& ranks, const roll& all) {
  if (ranks.empty()) {
    return "any rank";
  }
  const bool has_ended =
      std::none_of(ranks.begin(), ranks.end(), [&all](int rank) { return all.contains(rank); });
  return ranks_text(ranks) + (!has_ended         ? ""
                              : ranks.size() > 1 ? ", which have ended"
                                                 : ", which has ended");
}

/// What a call that waits for messages, or for certain ranks, is told with: "tag 7, ping.c:31".
std::string circumstances(const awaited& what, const std::string& where) {
  std::string text = is_message(what) ? ", " + tag_text(what.tag) : "";
  if (is_message(what) && what.communicator != "MPI_COMM_WORLD") {
    text += ", of " + what.communicator;
  }
  text += where.empty() ? "" : ", " + where;
  if (what.other_tag >= 0) {
    text += "; a message from there with tag " + std::to_string(what.other_tag) +
            " has come, which it does not take";
  }
  return text;
}

predicate about(int number, const standing& rank, const roll& all) {
  const place here = place_of(rank);
  const awaited what = as_called(rank.wait ? rank.wait->what : awaited{}, here.call);
  const std::string call = here.call.empty() ? call_text(what) : here.call;
  if (is_message(what) || (what.what == kind::other && !what.ranks.empty())) {
    const std::string others =
        what.ranks == std::vector<int>{number} ? "itself" : others_text(what.ranks, all);
    const std::string tail = " for " + others + " (" + call + circumstances(what, here.where) + ")";
    return {"waits" + tail, "wait" + tail};
  }
  const std::string where = here.where.empty() ? "" : " (" + here.where + ")";
  if (what.what != kind::collective) {
    return {"waits in " + call + where, "wait in " + call + where};
  }
  const bool is_begun_before = !what.collective.starts_with(call) && call.starts_with("MPI_Wait");
  const std::string in = call + (is_begun_before ? " for " + what.collective : "") +
                         wait_text(what, wait_detail::without_ranks) + where;
  return {"is in " + in, "are in " + in};
}

/// Each waits for the next, and the last for the first; empty: there is no such circle.
std::vector<int> circle_of(const roll& all) {
  const auto next = [&all](int rank) {
    const auto found = all.find(rank);
    const bool known = found != all.end() && found->second.wait &&
                       is_message(found->second.wait->what) &&
                       found->second.wait->what.ranks.size() == 1;
    return known ? found->second.wait->what.ranks.front() : -1;
  };
  for (const auto& [first, unused] : all) {
    std::vector<int> way;
    for (int rank = first; rank >= 0; rank = next(rank)) {
      const auto before = std::find(way.begin(), way.end(), rank);
      if (before != way.end()) {
        return {before, way.end()};
      }
      way.push_back(rank);
    }
  }
  return {};
}

}  // namespace

std::string wait_text(const awaited& what, wait_detail detail) {
  if (detail == wait_detail::none || what.what == kind::other) {
    return "";
  }
  std::string text;
  if (is_message(what)) {
    if (detail == wait_detail::all) {
      text += (what.what == kind::send ? " to " : " from ") +
              (what.ranks.empty() ? "any rank" : ranks_text(what.ranks));
    }
    text += ", " + tag_text(what.tag);
  }
  if (!what.communicator.empty()) {
    text += (is_message(what) ? ", of " : " of ") + what.communicator;
  }
  text += what.root < 0 ? "" : ", root " + std::to_string(what.root);
  return what.bytes < 0
             ? text
             : text + ", " + std::to_string(what.bytes) + (what.bytes == 1 ? " byte" : " bytes");
}

std::string wait_json(const boot::wait_report& report) {
  const awaited& what = report.what;
  std::string text = std::string("\"waits\": {\"for\": \"") + kind_name(what.what) + "\"";
  const auto number = [&text](const char* name, std::int64_t value, std::int64_t none) {
    text += value == none ? "" : std::string(", \"") + name + "\": " + std::to_string(value);
  };
  std::string ranks;
  for (const int each : what.ranks) {
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(each);
  }
  text += ", \"ranks\": [" + ranks + "]";
  number("tag", what.tag, -1);
  text += what.communicator.empty()
              ? ""
              : ", \"communicator\": " + formats::json_quoted(what.communicator);
  number("bytes", what.bytes, -1);
  text +=
      what.collective.empty() ? "" : ", \"collective\": " + formats::json_quoted(what.collective);
  number("root", what.root, -1);
  number("number", what.number, 0);
  number("milliseconds", report.waited_ms, -1);
  return text + "}";
}

std::string deadlock_text(const roll& all) {
  struct group {
    predicate what;
    std::vector<int> ranks;
  };
  std::vector<group> groups;
  const std::vector<int> circle = circle_of(all);
  for (const int rank : circle) {
    groups.push_back({about(rank, all.at(rank), all), {rank}});
  }
  const std::size_t in_circle = groups.size();
  for (const auto& [rank, stands] : all) {
    if (std::find(circle.begin(), circle.end(), rank) != circle.end()) {
      continue;
    }
    predicate what = about(rank, stands, all);
    const auto same =
        std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(in_circle), groups.end(),
                     [&what](const group& each) { return each.what.one == what.one; });
    group& of = same != groups.end() ? *same : groups.emplace_back(group{std::move(what), {}});
    of.ranks.push_back(rank);
  }
  std::string text = "deadlock: ";
  std::size_t others = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const group& each = groups[i];
    if (i >= most_groups) {
      others += each.ranks.size();
      continue;
    }
    text += (i == 0 ? "" : "; ") + ranks_text(each.ranks) + " " +
            (each.ranks.size() == 1 ? each.what.one : each.what.many);
  }
  text += others == 0 ? ""
                      : "; and " + std::to_string(others) +
                            (others == 1 ? " more rank waits" : " more ranks wait");
  return text + ". No message is under way, so this cannot end";
}

}  // namespace sinew::tool
