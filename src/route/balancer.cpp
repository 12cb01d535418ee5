// SPDX-License-Identifier: BSD-3-Clause
#include "balancer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::route {
namespace {

// Each hop costs a little even where nobody is, so that idle links do not invite detours. Relative
// to the price of the busiest link, which is 1.
constexpr double hop_price = 1e-9;
constexpr double unlimited = std::numeric_limits<double>::infinity();

// Loads that differ by what rounding explains.
[[maybe_unused]] bool agree(std::span<const double> a, std::span<const double> b) {
  const double most = b.empty() ? 0 : *std::max_element(b.begin(), b.end());
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [most](double x, double y) { return std::abs(x - y) <= 1e-6 * most; });
}

}  // namespace

balancer::balancer(const topology& net, const job_list& jobs, path_finder& finder,
                   std::uint32_t slots, std::span<const link_id> orbit)
    : net_(net),
      jobs_(jobs),
      finder_(&finder),
      width_(slots),
      orbit_(orbit),
      inverse_(net.links()),
      load_(net.links(), 0),
      price_(net.links(), 0),
      mark_(net.links(), 0),
      slots_(jobs.size() * slots),
      count_(jobs.size(), 0) {
  // A path may cross several links of one orbit: their load changes by so much more.
  if (!orbit.empty()) {
    caution_ = 0.25;
  }
  SINEW_EXPECT(slots >= 1 && slots <= most_slots);
  SINEW_EXPECT(orbit.empty() || orbit.size() == net.links());
  for (link_id l = 0; l < net.links(); ++l) {
    inverse_[l] = net.capacity(l) > 0 ? 1 / net.capacity(l) : 0;
  }
}

void balancer::set_prices(double sharpness) {
  sharpness_ = sharpness;
  const double top = busiest() / scale_;
  for (link_id l = 0; l < net_.links(); ++l) {
    price_[l] = inverse_[l] > 0
                    ? inverse_[l] * (hop_price +
                                     std::exp(sharpness * (load_[l] * inverse_[l] / scale_ - top)))
                    : std::numeric_limits<double>::infinity();
  }
}

double balancer::busiest() const noexcept {
  double most = 0;
  for (link_id l = 0; l < net_.links(); ++l) {
    most = std::max(most, load_[l] * inverse_[l]);
  }
  return most;
}

bool balancer::carries_all(std::size_t j) const noexcept {
  double sum = 0;
  for (std::uint32_t i = 0; i < count_[j]; ++i) {
    sum += slots_[j * width_ + i].flow;
  }
  const auto bytes = static_cast<double>(jobs_.bytes[j]);
  return std::abs(sum - bytes) <= 1e-6 * bytes;
}

double balancer::cost_of(std::span<const link_id> path) const noexcept {
  double sum = 0;
  for (const link_id l : path) {
    sum += price_[seat(l)];
  }
  return sum;
}

void balancer::put(std::span<const link_id> path, double flow) noexcept {
  for (const link_id each : path) {
    const link_id l = seat(each);
    SINEW_EXPECT(inverse_[l] > 0);  // nothing crosses a failed link
    load_[l] += flow;
    price_[l] *= std::exp(sharpness_ * flow * inverse_[l] / scale_);
  }
}

void balancer::start(double scale, std::uint32_t rounds) {
  SINEW_EXPECT(scale > 0 && rounds != 0);
  SINEW_EXPECT(finder_->order().size() == jobs_.size());
  scale_ = scale;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    // Soft at first: the loads of jobs that come later are not there yet.
    set_prices(6);
    finder_->new_pass();
    for (const std::uint32_t j : finder_->order()) {
      SINEW_EXPECT(jobs_.bytes[j] > 0 && jobs_.source[j] != jobs_.destination[j]);
      found_.clear();
      SINEW_CHECK(finder_->find(j, price_, unlimited, found_) || find_anywhere(j),
                  "no path from node " + std::to_string(jobs_.source[j]) + " to node " +
                      std::to_string(jobs_.destination[j]),
                  "the network is disconnected, or failed links cut it", "");
      const double flow = static_cast<double>(jobs_.bytes[j]) / rounds;
      put(found_, flow);
      widen(found_);
      if (count_[j] > 0) {
        slot& before = slots_[j * width_ + count_[j] - 1];
        const auto links = links_of(before);
        if (count_[j] == width_ ||
            std::equal(links.begin(), links.end(), found_.begin(), found_.end())) {
          put(found_, -flow);
          put(links_of(before), flow);
          before.flow += flow;
          continue;
        }
      }
      slot& s = slots_[j * width_ + count_[j]++];
      s.first = arena_.size();
      s.hops = static_cast<std::uint32_t>(found_.size());
      s.flow = flow;
      arena_.insert(arena_.end(), found_.begin(), found_.end());
    }
  }
}

// Around failed links every way may be longer than those that the finder knows.
bool balancer::find_anywhere(std::size_t j) {
  return tree_finder(net_, jobs_, orbit_).find(j, price_, unlimited, found_);
}

// A guess that is far too low would let prices grow beyond what a double holds.
void balancer::widen(std::span<const link_id> path) {
  double most = 0;
  for (const link_id l : path) {
    most = std::max(most, load_[seat(l)] * inverse_[seat(l)]);
  }
  if (most <= 32 * scale_) {
    return;
  }
  scale_ = most;
  set_prices(sharpness_);
}

/// A new path of job j must cost less than this.
double balancer::worthwhile(std::size_t j) const noexcept {
  double least = unlimited;
  for (std::uint32_t i = 0; i < count_[j]; ++i) {
    const slot& s = slots_[j * width_ + i];
    if (s.flow > 0) {
      least = std::min(least, cost_of(links_of(s)));
    }
  }
  return least / 1.001;
}

// Gives found_ a slot of job j, unless it has one. A full job gives up its thinnest path for it.
bool balancer::insert(std::size_t j) {
  std::uint32_t thinnest = 0;
  for (std::uint32_t i = 0; i < count_[j]; ++i) {
    const slot& s = slots_[j * width_ + i];
    const auto links = links_of(s);
    if (std::equal(links.begin(), links.end(), found_.begin(), found_.end())) {
      return false;
    }
    if (s.flow < slots_[j * width_ + thinnest].flow) {
      thinnest = i;
    }
  }
  double flow = 0;
  if (count_[j] == width_) {
    slot& s = slots_[j * width_ + thinnest];
    flow = s.flow;
    if (flow > 0) {
      put(links_of(s), -flow);
      put(found_, flow);
    }
  } else {
    thinnest = count_[j]++;
  }
  slots_[j * width_ + thinnest] = {arena_.size(), static_cast<std::uint32_t>(found_.size()), flow};
  arena_.insert(arena_.end(), found_.begin(), found_.end());
  return true;
}

void balancer::shift(slot& from, slot& to, double most) {
  const double flow = std::min(most, from.flow);
  put(links_of(from), -flow);
  put(links_of(to), flow);
  from.flow = flow < from.flow ? from.flow - flow : 0;
  to.flow += flow;
}

void balancer::improve(std::size_t j) {
  SINEW_EXPECT(carries_all(j));
  const std::uint32_t n = count_[j];
  if (n < 2) {
    return;
  }
  std::array<double, most_slots> cost;
  std::uint32_t best = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    cost[i] = cost_of(links_of(slots_[j * width_ + i]));
    if (cost[i] < cost[best]) {
      best = i;
    }
  }
  slot& to = slots_[j * width_ + best];
  for (std::uint32_t i = 0; i < n; ++i) {
    slot& from = slots_[j * width_ + i];
    if (i == best || from.flow <= 0 || cost[i] < cost[best] * 1.0005) {
      continue;
    }
    // What both paths share does not change.
    ++stamp_;
    for (const link_id l : links_of(to)) {
      mark_[seat(l)] = stamp_;
    }
    double from_cost = 0, from_rate = 0, to_cost = 0, to_rate = 0;
    for (const link_id each : links_of(from)) {
      const link_id l = seat(each);
      if (mark_[l] == stamp_) {
        mark_[l] = 0;
        continue;
      }
      from_cost += price_[l];
      from_rate += price_[l] * inverse_[l];
    }
    for (const link_id each : links_of(to)) {
      const link_id l = seat(each);
      if (mark_[l] != stamp_) {
        continue;
      }
      to_cost += price_[l];
      to_rate += price_[l] * inverse_[l];
    }
    if (from_cost <= to_cost) {
      continue;
    }
    if (to_cost <= 0) {  // a part of the dearer one is enough
      shift(from, to, from.flow);
      continue;
    }
    // As far as exponentials of one rate can tell both then cost the same: exact where all
    // capacities are equal.
    const double rate = from_rate / from_cost + to_rate / to_cost;
    shift(from, to, caution_ * scale_ / sharpness_ * std::log(from_cost / to_cost) / rate);
  }
}

void balancer::buy(double sharpness) {
  compact();
  set_prices(sharpness);
  finder_->new_pass();
  for (const std::uint32_t j : finder_->order()) {
    found_.clear();
    if (finder_->find(j, price_, worthwhile(j), found_)) {
      insert(j);
    }
    improve(j);
  }
}

void balancer::even_out(double sharpness) {
  set_prices(sharpness);
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    improve(j);
  }
}

// Gives the bytes of a slot to the job's cheapest other path, and forgets the slot.
void balancer::hand_over(std::size_t j, std::uint32_t i) {
  SINEW_EXPECT(count_[j] > 1 && i < count_[j]);
  slot gone = slots_[j * width_ + i];
  put(links_of(gone), -gone.flow);
  slots_[j * width_ + i] = slots_[j * width_ + --count_[j]];
  slot* heir = &slots_[j * width_];
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t k = 0; k < count_[j]; ++k) {
    slot& s = slots_[j * width_ + k];
    const double cost = s.flow > 0 ? cost_of(links_of(s)) : least;
    if (cost < least) {
      least = cost;
      heir = &s;
    }
  }
  put(links_of(*heir), gone.flow);
  heir->flow += gone.flow;
  SINEW_ENSURE(carries_all(j));
}

void balancer::drop_below(double share) {
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const double least = share * static_cast<double>(jobs_.bytes[j]);
    for (std::uint32_t i = count_[j]; i-- > 0 && count_[j] > 1;) {
      if (slots_[j * width_ + i].flow < least) {
        hand_over(j, i);
      }
    }
  }
}

void balancer::drop_beyond(std::span<const std::uint32_t> most) {
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    while (count_[j] > std::max(most[j], 1u)) {
      std::uint32_t thinnest = 0;
      for (std::uint32_t i = 1; i < count_[j]; ++i) {
        if (slots_[j * width_ + i].flow < slots_[j * width_ + thinnest].flow) {
          thinnest = i;
        }
      }
      hand_over(j, thinnest);
    }
  }
}

balancer::state balancer::save() const { return {slots_, count_, load_}; }

void balancer::restore(const state& then) {
  SINEW_EXPECT(then.slots.size() == slots_.size() && then.load.size() == load_.size());
  slots_ = then.slots;
  count_ = then.count;
  load_ = then.load;
}

std::size_t balancer::paths_in_use() const noexcept {
  std::size_t used = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    for (std::uint32_t i = 0; i < count_[j]; ++i) {
      used += slots_[j * width_ + i].flow > 0;
    }
  }
  return used;
}

// Forgets paths that carry nothing, and their place in the arena; sums the loads anew, since they
// were kept by adding and taking away.
void balancer::compact() {
  std::vector<link_id> kept;
  kept.reserve(arena_.size());
  std::vector<double> load(load_.size(), 0);
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < count_[j]; ++i) {
      slot s = slots_[j * width_ + i];
      if (s.flow <= 0) {
        continue;
      }
      const auto links = links_of(s);
      for (const link_id l : links) {
        load[seat(l)] += s.flow;
      }
      s.first = kept.size();
      kept.insert(kept.end(), links.begin(), links.end());
      slots_[j * width_ + n++] = s;
    }
    count_[j] = n;
  }
  SINEW_ASSERT(agree(load_, load));
  load_.swap(load);
  arena_.swap(kept);
}

}  // namespace sinew::route
