// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/fair_shares.hpp"

#include <algorithm>
#include <cmath>

namespace sinew::route {

fair_shares::fair_shares(std::vector<double> rates) : things_(rates.size()) {
  for (std::size_t t = 0; t < rates.size(); ++t) {
    SINEW_EXPECT(rates[t] >= 0);
    things_[t].whole = rates[t];
  }
}

fair_shares::flow_id fair_shares::add(std::span<const thing_id> things, double most) {
  SINEW_EXPECT(!things.empty() && most > 0);
  if (free_.empty()) {
    free_.push_back(static_cast<flow_id>(flows_.size()));
    flows_.emplace_back();
  }
  const flow_id f = free_.back();
  free_.pop_back();
  flow& made = flows_[f];
  made.most = most;
  made.rate = 0;
  made.uses.clear();
  for (const thing_id t : things) {
    SINEW_EXPECT(t < things_.size() && things_[t].whole > 0);
    std::vector<user>& users = things_[t].users;
    users.push_back({f, static_cast<std::uint32_t>(made.uses.size())});
    made.uses.push_back({t, static_cast<std::uint32_t>(users.size() - 1)});
    mark(t);
  }
  return f;
}

void fair_shares::remove(flow_id f) {
  SINEW_EXPECT(f < flows_.size() && !flows_[f].uses.empty());
  for (const use& each : flows_[f].uses) {
    std::vector<user>& users = things_[each.thing].users;
    users[each.place] = users.back();
    flows_[users[each.place].flow].uses[users[each.place].use].place = each.place;
    users.pop_back();
    mark(each.thing);
  }
  flows_[f].uses.clear();
  free_.push_back(f);
}

void fair_shares::mark(thing_id t) {
  if (!std::exchange(things_[t].changed, true)) {
    changed_.push_back(t);
  }
}

double fair_shares::divide_evenly(flow_id f) {
  flow& it = flows_[f];
  it.rate = it.most;
  for (const use& each : it.uses) {
    const thing& t = things_[each.thing];
    it.rate = std::min(it.rate, t.whole / static_cast<double>(t.users.size()));
  }
  return it.rate;
}

void fair_shares::look_at(thing_id t) {
  thing& it = things_[t];
  if (std::exchange(it.seen, calls_) == calls_) {
    return;
  }
  it.room = it.whole;
  it.open = static_cast<std::uint32_t>(it.users.size());
  gathered_.push_back(t);
}

/// What has changed, and all that shares something with it, directly or over others.
void fair_shares::gather() {
  for (const thing_id t : changed_) {
    things_[t].changed = false;
    look_at(t);
  }
  changed_.clear();
  for (std::size_t at = 0; at < gathered_.size(); ++at) {
    for (const user& each : things_[gathered_[at]].users) {
      flow& f = flows_[each.flow];
      if (std::exchange(f.seen, calls_) == calls_) {
        continue;
      }
      if (std::isfinite(f.most)) {
        limited_.emplace_back(f.most, each.flow);
      }
      for (const use& on : f.uses) {
        look_at(on.thing);
      }
    }
  }
}

void fair_shares::fix(flow_id f, double rate) {
  flow& it = flows_[f];
  if (std::exchange(it.fixed, calls_) == calls_) {
    return;
  }
  for (const use& each : it.uses) {
    thing& t = things_[each.thing];
    SINEW_ASSERT(t.open != 0);
    t.room = std::max(0.0, t.room - rate);
    --t.open;
  }
  if (std::exchange(it.rate, rate) != rate) {
    moved_.push_back(f);
  }
}

void fair_shares::fix_slower_than(double rate) {
  for (; next_limited_ < limited_.size() && limited_[next_limited_].first <= rate;
       ++next_limited_) {
    fix(limited_[next_limited_].second, limited_[next_limited_].first);
  }
}

// The thing with the least room for each of its flows settles these, and so on. Who settles leaves
// the others no less each, so parts in the heap only grow, and the top is the least or stale.
std::span<const fair_shares::flow_id> fair_shares::settle() {
  ++calls_;
  gathered_.clear();
  limited_.clear();
  moved_.clear();
  heap_.clear();
  next_limited_ = 0;
  gather();
  std::sort(limited_.begin(), limited_.end());
  for (const thing_id t : gathered_) {
    if (things_[t].open != 0) {
      heap_.emplace_back(things_[t].room / things_[t].open, t);
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [before, number] = heap_.back();
    heap_.pop_back();
    thing& t = things_[number];
    if (t.open == 0) {
      continue;
    }
    fix_slower_than(before);
    const double now = t.open != 0 ? t.room / t.open : before;
    SINEW_ASSERT(now >= before * (1 - 1e-6));
    if (now > before * (1 + 1e-12)) {  // others have settled since
      heap_.emplace_back(now, number);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    for (const user& each : t.users) {
      fix(each.flow, now);
    }
  }
  return moved_;
}

}  // namespace sinew::route
