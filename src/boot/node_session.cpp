// SPDX-License-Identifier: BSD-3-Clause
#include "boot/node_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/sentence.hpp"

namespace sinew::boot {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

void node_session::settle(std::vector<int> node_of) {
  SINEW_EXPECT(node_of.size() == static_cast<std::size_t>(place_.size));
  std::unordered_map<int, int> ours;
  place_.local_ranks.clear();
  for (int& node : node_of) {
    node = ours.emplace(node, static_cast<int>(ours.size())).first->second;
  }
  place_.nodes = static_cast<int>(ours.size());
  place_.node = node_of[place_.rank.index()];
  for (job_rank rank = 0; rank.below(place_.size); ++rank) {
    if (node_of[rank.index()] == place_.node) {
      place_.local_rank =
          rank == place_.rank ? local_rank::of_index(place_.local_ranks.size()) : place_.local_rank;
      place_.local_ranks.push_back(rank);
    }
  }
  place_.local_size = static_cast<int>(place_.local_ranks.size());
  place_.node_of = place_.nodes > 1 ? std::move(node_of) : std::vector<int>();
  SINEW_ENSURE(place_.local_rank.below(place_.local_size));
}

std::vector<int> node_session::nodes_by_name(const std::vector<std::string>& host_of) {
  SINEW_EXPECT(host_of.size() == static_cast<std::size_t>(place_.size));
  std::unordered_map<std::string, int> known;
  std::vector<int> nodes;
  place_.hosts.clear();
  for (const std::string& name : host_of) {
    const auto [at, is_new] = known.emplace(name, static_cast<int>(known.size()));
    nodes.push_back(at->second);
    if (is_new) {
      place_.hosts.push_back(name);  // in the order of their first ranks, as settle() counts
    }
  }
  return nodes;
}

std::vector<int> node_session::nodes_by_told_name() {
  if (place_.size == 1) {
    return {0};
  }
  put("host-" + to_string(place_.rank), host_name());
  fence();
  std::vector<std::string> names;
  for (job_rank rank = 0; rank.below(place_.size); ++rank) {
    names.push_back(get("host-" + to_string(rank)).value_or(""));
  }
  return nodes_by_name(names);
}

descriptor node_session::node_descriptor() {
  descriptor mine;
  if (place_.local_rank == 0) {
    mine = make_shared_memory(place_.launcher);
  }
  return share_descriptor(place_.job + "-" + to_string(place_.local_ranks.front()),
                          place_.local_rank, place_.local_size, std::move(mine));
}

std::byte* node_session::map_node_memory(std::size_t bytes_per_rank) {
  SINEW_CHECK(memory_.base() == nullptr, "the node's memory is mapped already",
              "map_node_memory is called once per session", "");
  node_ = node_descriptor();
  const int ranks = place_.spawning.count != 0 ? place_.spawning.count : place_.local_size;
  const std::size_t end =
      attendance::begin_behind(bytes_per_rank * static_cast<std::size_t>(ranks));
  memory_ = memory_mapping::of(node_.get(), end + attendance::bytes_for(ranks));
  std::vector<local_rank> members = attendance::all(place_.local_size);
  for (std::size_t i = 0; place_.spawned() && i < members.size(); ++i) {
    members[i] = local_rank{place_.local_ranks[i].value()};
  }
  attendance_ = attendance(memory_.base() + end, place_.local_rank, std::move(members));
  return memory_.base();
}

std::byte* node_session::map_node_heap(std::size_t bytes_per_rank) {
  SINEW_CHECK(heap_.base() == nullptr && (memory_.base() != nullptr || place_.local_size == 1),
              "the node's heap cannot be mapped now",
              "map_node_heap is called once per session, after map_node_memory", "");
  heap_ = place_.local_size == 1
              ? memory_mapping::anonymous(bytes_per_rank)
              : memory_mapping::heap_of(
                    node_.get(), bytes_per_rank * static_cast<std::size_t>(place_.local_size));
  node_.reset();
  return heap_.base();
}

std::vector<job_rank> node_session::absent() const {
  std::vector<job_rank> result;
  for (const local_rank each : attendance_.absent()) {
    result.push_back(place_.spawned() ? job_rank{each.value()} : place_.local_ranks[each.index()]);
  }
  return result;
}

// Ranks of other nodes are not seen.
bool node_session::others_have_left() noexcept {
  return place_.nodes == 1 && (place_.size == 1 || attendance_.others_have_left());
}

void node_session::tell_abort(int code, std::string_view why) const {
  std::fprintf(stderr, "sinew: rank %d of %d aborted the job with code %d: %s\n",
               place_.rank.value(), place_.size, code, as_sentence(why).c_str());
}

void leave(int code) noexcept {
  if (::ftrylockfile(stdout) == 0) {
    ::fflush_unlocked(stdout);
    ::funlockfile(stdout);
  }
  ::_exit((code & 0xff) == 0 && code != 0 ? 1 : code);
}

}  // namespace sinew::boot
