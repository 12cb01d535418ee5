// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/link_faults.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::sim {
namespace {

bool holds(const fault& f, std::int64_t time) noexcept {
  return time >= f.from_ns && time < f.to_ns;
}

std::uint64_t pair_of(route::node_id from, route::node_id to) noexcept {
  return std::uint64_t{from} << 32 | to;
}

}  // namespace

link_faults::link_faults(const route::topology& net, double link_rate,
                         const std::vector<fault>& all)
    : net_(net), link_rate_(link_rate), usual_(net) {
  std::set<std::int64_t> times{0};
  for (const fault& each : all) {
    if (each.what != fault_kind::link) {
      continue;
    }
    const auto a = static_cast<route::node_id>(each.ends[0]);
    const auto b = static_cast<route::node_id>(each.ends[1]);
    const bool known = a < net_.nodes() && b < net_.nodes();
    const std::array links{known ? net_.find(a, b) : route::nothing,
                           known ? net_.find(b, a) : route::nothing};
    SINEW_CHECK(links[0] != route::nothing && links[1] != route::nothing,
                "the fault " + to_text(each) + " cannot happen",
                "the network has no link between these nodes",
                "sinew route show has a list of them; switches have numbers behind those of nodes");
    (each.times == 0 ? cuts_ : slow_).push_back({{links[0], links[1]}, each});
    if (each.times == 0) {
      times.insert({each.from_ns, each.to_ns});
    }
  }
  times.erase(never);
  for (const std::int64_t time : times) {
    epochs_.push_back(make_epoch(time));
  }
  for (epoch& each : epochs_) {  // they stay where they are from now on
    if (each.left.has_value()) {
      each.ways.emplace(*each.left);
    }
  }
}

link_faults::epoch link_faults::make_epoch(std::int64_t begin) const {
  epoch made{begin, {}, {}, {}};
  for (const link_fault& each : cuts_) {
    if (holds(each.what, begin)) {
      made.is_cut.resize(net_.links());
      made.is_cut[each.links[0]] = made.is_cut[each.links[1]] = true;
    }
  }
  if (!made.is_cut.empty()) {
    std::vector<route::arc> arcs;  // with the same numbers
    for (route::link_id l = 0; l < net_.links(); ++l) {
      arcs.push_back({net_.from(l), net_.to(l), made.is_cut[l] ? 0 : net_.capacity(l)});
    }
    made.left.emplace(net_.name(), net_.nodes(), net_.endpoints(), std::move(arcs));
  }
  return made;
}

link_faults::epoch& link_faults::at(std::int64_t time) {
  const auto next =
      std::upper_bound(epochs_.begin(), epochs_.end(), time,
                       [](std::int64_t t, const epoch& each) { return t < each.begin; });
  SINEW_EXPECT(next != epochs_.begin());
  return *(next - 1);
}

std::int64_t link_faults::next_epoch(std::int64_t time) const {
  const auto next = std::find_if(epochs_.begin(), epochs_.end(),
                                 [time](const epoch& each) { return each.begin > time; });
  return next == epochs_.end() ? never : next->begin;
}

/// When the last one of the usual way's links has failed that carry nothing at `time`.
std::int64_t link_faults::failed_since(route::node_id from, route::node_id to, std::int64_t time) {
  std::vector<route::link_id> usual;
  (void)usual_.append(from, to, usual);
  std::int64_t since = 0;
  for (const link_fault& each : cuts_) {
    const bool is_on_it = std::any_of(usual.begin(), usual.end(), [&](route::link_id l) {
      return l == each.links[0] || l == each.links[1];
    });
    since = is_on_it && holds(each.what, time) ? std::max(since, each.what.from_ns) : since;
  }
  return since;
}

link_faults::way link_faults::find(route::node_id from, route::node_id to, std::int64_t time,
                                   std::vector<route::link_id>& out) {
  epoch& now = at(time);
  const std::size_t before = out.size();
  const bool exists = usual_.append(from, to, out);
  const auto is_cut = [&now](route::link_id l) { return now.is_cut[l]; };
  if (!exists || !now.ways.has_value() ||
      std::none_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), is_cut)) {
    return exists ? way::usual : way::never_was;
  }
  out.resize(before);
  return now.ways->append(from, to, out) ? way::detour : way::none;
}

bool link_faults::append(route::node_id from, route::node_id to, std::int64_t time,
                         std::vector<route::link_id>& out) {
  const way found = find(from, to, time, out);
  return found == way::usual || found == way::detour;
}

/// From `time` on, once there is a way, whose links are then in way_.
std::int64_t link_faults::first_way(route::node_id from, route::node_id to, std::int64_t time) {
  while (time != never) {
    way_.clear();
    const way found = find(from, to, time, way_);
    const std::int64_t known =
        found == way::detour ? failed_since(from, to, time) + detour_ns : time;
    if (found != way::none && known <= time) {
      break;
    }
    time = found == way::none ? next_epoch(time) : std::min(known, next_epoch(time));
  }
  return time;
}

/// On the slow links of way_: each carries one message after the other, and these take `times` as
/// long as usual.
std::int64_t link_faults::behind_others(std::int64_t time, std::uint64_t bytes) {
  for (const link_fault& each : slow_) {
    for (const route::link_id l : each.links) {
      if (!holds(each.what, time) || std::find(way_.begin(), way_.end(), l) == way_.end()) {
        continue;
      }
      const double usual = static_cast<double>(bytes) / (link_rate_ * net_.capacity(l));
      std::int64_t& free = free_from_[l];
      free = std::max(free, time) + static_cast<std::int64_t>(usual * each.what.times);
      time = std::max(time, free - static_cast<std::int64_t>(usual));  // the rest is the network's
    }
  }
  return time;
}

std::int64_t link_faults::departure(route::node_id from, route::node_id to, std::uint64_t bytes,
                                    std::int64_t time) {
  if (from == to) {
    return time;
  }
  std::int64_t& last = last_[pair_of(from, to)];
  last = first_way(from, to, std::max(time, last));
  last = last == never ? never : behind_others(last, bytes);
  return last;
}

std::vector<link_faults::lost_node> link_faults::lost() {
  std::vector<lost_node> all;
  std::vector<std::int64_t> cut_off_since(net_.endpoints(), never);
  for (epoch& each : epochs_) {
    for (route::node_id n = 1; each.ways.has_value() && n < net_.endpoints(); ++n) {
      if (each.ways->hops_to(0)[n] != route::nothing) {
        cut_off_since[n] = never;
      } else {
        cut_off_since[n] = std::min(cut_off_since[n], each.begin);
      }
    }
    if (!each.ways.has_value()) {
      std::fill(cut_off_since.begin(), cut_off_since.end(), never);
    }
    const std::int64_t end = next_epoch(each.begin);
    for (route::node_id n = 1; n < net_.endpoints(); ++n) {
      if (cut_off_since[n] != never && end - cut_off_since[n] >= cut_off_ns) {
        all.push_back({n, cut_off_since[n] + cut_off_ns});
        cut_off_since[n] = never;  // it does not come back, whatever the links do
      }
    }
  }
  return all;
}

}  // namespace sinew::sim
