// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/sim/link_faults.hpp"

namespace sinew::sim {
namespace {

constexpr double no_event = std::numeric_limits<double>::infinity();
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
/// Messages that leave so soon after each other, in ns, leave together: what ends at once by
/// arithmetic does so by rounded numbers, too.
constexpr double one_moment = 1e-3;

std::int64_t rounded_up(double time) {
  return static_cast<std::int64_t>(std::ceil(time - one_moment));
}

/// Links, then each node's adapter on the way out, the same on the way in, and its memory.
std::vector<double> rates_of_things(const route::topology& net, const network_speeds& speeds) {
  std::vector<double> rates;
  rates.reserve(net.links() + 3 * std::size_t{net.endpoints()});
  for (route::link_id l = 0; l < net.links(); ++l) {
    rates.push_back(speeds.link_rate * net.capacity(l));
  }
  rates.resize(rates.size() + 2 * std::size_t{net.endpoints()}, speeds.injection_rate);
  rates.resize(rates.size() + net.endpoints(), speeds.memory_rate);
  return rates;
}

}  // namespace

network::network(network_choice choice, int ranks, int ranks_per_node)
    : topology_(std::move(choice.topology)),
      router_(topology_),
      speeds_(choice.speeds),
      ranks_per_node_(ranks_per_node),
      link_free_(topology_.links()),
      sender_free_(topology_.endpoints()),
      carried_(topology_.links()),
      shares_(rates_of_things(topology_, speeds_)) {
  SINEW_EXPECT(ranks > 0 && ranks_per_node > 0);
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  SINEW_CHECK(
      nodes <= static_cast<int>(topology_.endpoints()),
      std::to_string(ranks) + " ranks have no room on " + topology_.name(),
      "with " + std::to_string(ranks_per_node) + " on each node they need " +
          std::to_string(nodes) + " nodes, and it has " + std::to_string(topology_.endpoints()),
      "start fewer ranks, put more on a node (--ranks-per-node), or choose a larger network");
}

std::int64_t network::least_delay() const noexcept {
  const double between_nodes = speeds_.latency + speeds_.hop_latency;
  return static_cast<std::int64_t>(
      ranks_per_node_ == 1 ? between_nodes : std::min(latency_in_node(), between_nodes));
}

void network::find_way(route::node_id from, route::node_id to) {
  path_.clear();
  const bool reached = ways_ != nullptr
                           ? ways_->append(from, to, static_cast<std::int64_t>(now_), path_)
                           : router_.append(from, to, path_);
  SINEW_CHECK(
      reached, "a message cannot come to its rank",
      "the network has no way from node " + std::to_string(from) + " to node " + std::to_string(to),
      "choose a network that is connected");
}

std::optional<std::int64_t> network::send(const transfer& what, std::int64_t time) {
  const auto at = static_cast<double>(time);
  now_ = std::max(now_, at);
  const std::uint64_t pair =
      static_cast<std::uint64_t>(what.from) << 32 | static_cast<std::uint32_t>(what.to);
  // A short one stays behind the long ones that its rank has sent to the same one.
  if (const auto known = flow_of_.find(pair); known != flow_of_.end()) {
    append(flows_[known->second], what);
    return std::nullopt;
  }
  if (what.bytes <= longest_short) {
    return send_short(what, at);
  }
  const flow_id f = begin_flow(pair, what);
  append(flows_[f], what);
  (void)shares_.divide_evenly(f);  // until rates are made fair
  use_rate(f);
  return std::nullopt;
}

// A message goes on over the next link as soon as its first byte has come (cut-through), and then
// takes that link for its whole length; so it is no faster than its slowest link, and waits where
// other short ones are before it.
std::int64_t network::send_short(const transfer& what, double at) {
  const auto length = static_cast<double>(what.bytes);
  const route::node_id here = node_of(what.from), there = node_of(what.to);
  if (here == there) {
    return static_cast<std::int64_t>(at + latency_in_node() + length / speeds_.node_rate);
  }
  double& sender = sender_free_[here];
  at = std::max(at, sender);
  double slowest = speeds_.injection_rate;
  sender = at + std::max(speeds_.gap, length / slowest);
  find_way(here, there);
  for (const route::link_id l : path_) {
    const double rate = speeds_.link_rate * topology_.capacity(l);
    at = std::max(at, link_free_[l]);
    link_free_[l] = at + length / rate;
    at += speeds_.hop_latency;
    slowest = std::min(slowest, rate);
    carried_[l] += what.bytes;
  }
  return static_cast<std::int64_t>(at + speeds_.latency + length / slowest);
}

network::flow_id network::begin_flow(std::uint64_t pair, const transfer& what) {
  const route::node_id here = node_of(what.from), there = node_of(what.to);
  const std::uint32_t links = topology_.links(), nodes = topology_.endpoints();
  double latency = latency_in_node();
  double most = speeds_.node_rate;
  path_.clear();
  std::size_t hops = 0;
  if (here == there) {
    path_.push_back(links + 2 * nodes + here);
  } else {
    find_way(here, there);
    hops = path_.size();
    latency = speeds_.latency + speeds_.hop_latency * static_cast<double>(hops);
    most = std::numeric_limits<double>::infinity();
    path_.push_back(links + here);
    path_.push_back(links + nodes + there);
  }
  const flow_id f = shares_.add(path_, most);
  flows_.resize(std::max<std::size_t>(flows_.size(), std::size_t{f} + 1));
  flow& it = flows_[f];
  it.pair = pair;
  it.way.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(hops));
  it.left = static_cast<double>(what.bytes);
  it.since = now_;
  it.rate = 0;
  it.latency = latency;
  flow_of_.emplace(pair, f);
  return f;
}

void network::append(flow& to, const transfer& what) {
  to.messages.push_back(what);
  for (const route::link_id l : to.way) {
    carried_[l] += what.bytes;
  }
}

/// From now on the one that it has in shares_.
void network::use_rate(flow_id f) {
  flow& it = flows_[f];
  it.left = std::max(0.0, it.left - (now_ - it.since) * it.rate);
  it.since = now_;
  it.rate = shares_.rate(f);
  expect_end(f);
}

void network::expect_end(flow_id f) {
  flow& it = flows_[f];
  SINEW_ASSERT(it.rate > 0);
  ends_.push_back({it.since + it.left / it.rate, f, ++it.versions});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

/// When rates are to be made fair again.
double network::next_settling() const {
  if (shares_.is_settled()) {
    return no_event;
  }
  const bool is_exact = shares_.flows() <= most_exact_flows;
  return is_exact ? now_ : std::max(now_, settled_ + static_cast<double>(least_delay()));
}

void network::settle_if_due() {
  if (next_settling() > now_) {
    return;
  }
  settled_ = now_;
  for (const flow_id f : shares_.settle()) {
    use_rate(f);
  }
}

double network::next_end() {
  const auto is_over = [this](const end& e) { return e.version != flows_[e.flow].versions; };
  if (ends_.size() > 4 * shares_.flows() + 64) {
    std::erase_if(ends_, is_over);
    std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
  }
  while (!ends_.empty() && is_over(ends_.front())) {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
  return ends_.empty() ? no_event : ends_.front().time;
}

void network::end_message(flow_id f, std::vector<left>& out) {
  flow& it = flows_[f];
  out.push_back({it.messages.front().number, rounded_up(now_ + it.latency)});
  it.messages.pop_front();
  ++it.versions;
  if (it.messages.empty()) {
    flow_of_.erase(it.pair);
    shares_.remove(f);
    return;
  }
  it.left = static_cast<double>(it.messages.front().bytes);
  it.since = now_;
  expect_end(f);
}

std::int64_t network::next_change() {
  settle_if_due();
  const double next = std::min(next_end(), next_settling());
  return next == no_event ? never : rounded_up(next);
}

void network::advance(std::int64_t time, std::vector<left>& out) {
  const auto until = static_cast<double>(time);
  for (;;) {
    settle_if_due();
    const double next = std::min(next_end(), next_settling());
    if (next > until + one_moment) {
      break;
    }
    now_ = std::max(now_, next);
    while (next_end() <= now_ + one_moment) {
      end_message(ends_.front().flow, out);
    }
  }
  now_ = std::max(now_, until);
}

}  // namespace sinew::sim
