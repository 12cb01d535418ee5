// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/profile/wait_states.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <tuple>
#include <type_traits>

#include "abi/mpi/comm.hpp"
#include "sinew/base/check.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::mpi::profile {
namespace {

/// Of all ranks together, at rank 0.
constexpr std::size_t most_samples = std::size_t{1} << 20;
constexpr std::size_t most_states = 100'000;
constexpr std::size_t most_written = 5'000;
/// Shorter waits say nothing: so long a message takes in any case.
constexpr std::int64_t least_wait_ns = 1'000;

/// As ranks tell it, and rank 0 compares it.
struct event {
  std::uint64_t key;
  std::int64_t began_ns, ended_ns;
  int rank;  ///< of the job
  int call;  ///< its place in the rank's list
  int own, root;
  role as;
  watch::meeting meets;
};
struct head_of_events {
  std::uint64_t left_out;
  std::uint64_t count;
  int rank;
  int node;
  clock_pair clock;
};
static_assert(std::is_trivially_copyable_v<event> && std::is_trivially_copyable_v<head_of_events>);

template <class Part>
void append(std::string& to, const Part& part) {
  to.append(reinterpret_cast<const char*>(&part), sizeof part);
}
template <class Part>
Part take(const std::string& from, std::size_t& at) {
  SINEW_EXPECT(at + sizeof(Part) <= from.size());
  Part part;
  std::memcpy(&part, from.data() + at, sizeof part);
  at += sizeof part;
  return part;
}

void thin(std::vector<event>& events, std::uint64_t left_out) {
  std::erase_if(events, [left_out](const event& e) { return (e.key & left_out) != 0; });
}

struct sum {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t most_ns = 0;
};

/// Who waits, in which call of its list, for whom, in which of its.
using state = std::tuple<const char*, int, int, int, int>;

class comparison {
 public:
  explicit comparison(std::int64_t least_ns) : least_ns_(least_ns) {}

  /// Those of one key.
  void compare(std::span<event> same) {
    const auto find = [same](role as) {
      const auto at =
          std::find_if(same.begin(), same.end(), [as](const event& e) { return e.as == as; });
      return at == same.end() ? nullptr : &*at;
    };
    if (const event* const sent = find(role::sends); sent != nullptr) {
      if (const event* const received = find(role::receives); received != nullptr) {
        add("late sender", *received, *sent);
        add("late receiver", *sent, *received);
      }
      if (const event* const met = find(role::meets); met != nullptr) {
        add("late receiver", *sent, *met);
      }
    }
    if (same.front().as == role::collects) {
      compare_collectives(same);
    }
  }

  [[nodiscard]] const std::map<state, sum>& sums() const noexcept { return sums_; }

 private:
  /// The context of a communicator may have been another one's before: those of one call have come
  /// in turn, each rank once.
  void compare_collectives(std::span<event> same) {
    std::sort(same.begin(), same.end(),
              [](const event& a, const event& b) { return a.began_ns < b.began_ns; });
    std::set<int> ranks;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < same.size(); ++i) {
      if (!ranks.insert(same[i].rank).second) {
        compare_call(same.subspan(begin, i - begin));
        ranks = {same[i].rank};
        begin = i;
      }
    }
    compare_call(same.subspan(begin));
  }

  /// One collective, by the time of coming.
  void compare_call(std::span<const event> of) {
    for (const event& waits : of) {
      const event* last = nullptr;
      for (const event& other : of) {
        last = depends(waits, other) ? &other : last;
      }
      if (last != nullptr) {
        const char* const name = waits.meets == watch::meeting::all ? "wait at collective"
                                 : waits.meets == watch::meeting::all_for_root ? "late broadcast"
                                 : waits.meets == watch::meeting::root_for_all ? "early reduce"
                                                                               : "early scan";
        add(name, waits, *last);
      }
    }
  }

  static bool depends(const event& waits, const event& other) {
    if (waits.own == other.own) {
      return false;
    }
    switch (waits.meets) {
      case watch::meeting::none:
        return false;
      case watch::meeting::all:
        return true;
      case watch::meeting::root_for_all:
        return waits.own == waits.root;
      case watch::meeting::all_for_root:
        return other.own == waits.root;
      case watch::meeting::all_for_lower:
        return other.own < waits.own;
    }
    return false;
  }

  void add(const char* name, const event& waits, const event& cause) {
    const std::int64_t ns = std::min(cause.began_ns, waits.ended_ns) - waits.began_ns;
    if (ns < least_ns_) {
      return;
    }
    const state which{name, waits.rank, waits.call, cause.rank, cause.call};
    if (sums_.size() >= most_states && !sums_.contains(which)) {
      return;
    }
    sum& s = sums_[which];
    ++s.count;
    s.total_ns += ns;
    s.most_ns = std::max(s.most_ns, ns);
  }

  const std::int64_t least_ns_;
  std::map<state, sum> sums_;
};

struct all_events {
  std::vector<event> events;  ///< by rank 0's clock
  std::uint64_t left_out = 0;
  std::int64_t error_ns = 0;
};

all_events read(const std::vector<std::string>& of_ranks) {
  all_events all;
  std::map<int, clock_pair> clock_of_node;  // that of its first rank, which has looked
  for (const std::string& text : of_ranks) {
    std::size_t at = 0;
    const auto head = take<head_of_events>(text, at);
    const clock_pair& clock = clock_of_node.try_emplace(head.node, head.clock).first->second;
    all.left_out = std::max(all.left_out, head.left_out);
    all.error_ns = std::max(all.error_ns, clock.error_ns());
    for (std::uint64_t i = 0; i < head.count; ++i) {
      event e = take<event>(text, at);
      e.began_ns = clock.by_first(e.began_ns);
      e.ended_ns = clock.by_first(e.ended_ns);
      all.events.push_back(e);
    }
  }
  thin(all.events, all.left_out);
  return all;
}

}  // namespace

std::string samples_text(const std::map<const row*, int>& number_of, const anchors& by,
                         const clock_pair& clock) {
  const double ns_each =
      static_cast<double>(by.end.ns - by.begin.ns) /
      static_cast<double>(std::max<std::int64_t>(1, by.end.moment - by.begin.moment));
  const auto ns_of = [&](std::int64_t moment) {
    return by.begin.ns +
           static_cast<std::int64_t>(static_cast<double>(moment - by.begin.moment) * ns_each);
  };
  const int rank = process.runtime->rank().value();
  std::uint64_t left_out = 0;
  std::vector<event> events;
  each_table([&](const table& t) {
    left_out = std::max(left_out, t.samples().left_out());
    for (const sample& s : t.samples().kept()) {
      const auto number = number_of.find(s.where);
      if (number != number_of.end()) {
        events.push_back({s.key, ns_of(s.began), ns_of(s.ended), rank, number->second, s.own,
                          s.root, s.as, s.where->nature->meets});
      }
    }
  });
  const std::size_t most =
      std::max<std::size_t>(256, most_samples / static_cast<std::size_t>(process.runtime->size()));
  thin(events, left_out);
  while (events.size() > most) {
    left_out = 2 * left_out + 1;
    thin(events, left_out);
  }
  std::string text;
  append(text, head_of_events{left_out, events.size(), rank,
                              process.runtime->session().where().node, clock});
  for (const event& e : events) {
    append(text, e);
  }
  return text;
}

std::string wait_states(const std::vector<std::string>& of_ranks) {
  all_events all = read(of_ranks);
  std::vector<event>& events = all.events;
  std::sort(events.begin(), events.end(),
            [](const event& a, const event& b) { return a.key < b.key; });
  comparison compared(std::max(least_wait_ns, 2 * all.error_ns));
  for (auto begin = events.begin(); begin != events.end();) {
    const auto end =
        std::find_if(begin, events.end(), [begin](const event& e) { return e.key != begin->key; });
    compared.compare({begin, end});
    begin = end;
  }
  std::vector<std::pair<state, sum>> rows(compared.sums().begin(), compared.sums().end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  rows.resize(std::min(rows.size(), most_written));
  const auto each = static_cast<std::int64_t>(all.left_out + 1);
  std::string list;
  for (const auto& [which, s] : rows) {
    const auto& [name, rank, call, cause_rank, cause_call] = which;
    const auto scaled = [each](std::int64_t n) { return std::to_string(n * each); };
    list += (list.empty() ? "" : ",\n") + std::string("{\"state\":") + formats::json_quoted(name) +
            ",\"rank\":" + std::to_string(rank) + ",\"call\":" + std::to_string(call) +
            ",\"cause_rank\":" + std::to_string(cause_rank) +
            ",\"cause_call\":" + std::to_string(cause_call) +
            ",\"count\":" + scaled(static_cast<std::int64_t>(s.count)) +
            ",\"total_ns\":" + scaled(s.total_ns) + ",\"most_ns\":" + std::to_string(s.most_ns) +
            "}";
  }
  return "\"one_in\":" + std::to_string(each) +
         ",\"clock_error_ns\":" + std::to_string(all.error_ns) + ",\n\"waits\":[" + list + "]";
}

}  // namespace sinew::mpi::profile
