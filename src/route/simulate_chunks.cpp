// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "event_wheel.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/route/simulate.hpp"

namespace sinew::route {
namespace {

// A list of chunks, linked through the chunks themselves.
struct queue {
  std::uint32_t head = nothing;
  std::uint32_t tail = nothing;
  [[nodiscard]] bool empty() const noexcept { return head == nothing; }
};

struct chunk {
  std::uint32_t path = 0;
  std::uint32_t at = 0;       // which link of the path is next
  std::uint32_t segment = 0;  // which of the path's segments that link is in
  std::uint32_t next = nothing;
  double bytes = 0;
  bool has_room = false;  // at the end of the segment
};

struct wire {
  double free_at = 0;
  queue own;            // chunks that start here
  queue transit;        // all others
  bool called = false;  // an event will look at the queues when the wire is free
  bool own_next = false;
};

class simulator {
 public:
  simulator(const topology& net, const route_plan& plan, const simulation_options& o)
      : net_(net),
        plan_(plan),
        o_(o),
        wheel_(horizon()),
        wires_(net.links()),
        inject_free_(net.nodes(), 0),
        copy_free_(net.nodes(), 0),
        left_(plan.paths.size(), 0) {
    ends_first_.push_back(0);
    for (std::size_t p = 0; p < plan.paths.size(); ++p) {
      const auto path = plan.paths[p];
      if (o.every_hop) {
        for (std::uint32_t i = 1; i < path.size(); ++i) {
          ends_.push_back(i);
        }
      } else {
        const auto places = forwarding_places(net, path);
        ends_.insert(ends_.end(), places.begin(), places.end());
      }
      classes_ = std::max(classes_, ends_.size() - ends_first_.back());
      ends_first_.push_back(ends_.size());
    }
    held_.assign(net.nodes() * classes_, 0);
    waiting_.resize(net.nodes() * classes_);
    held_in_all_.assign(net.nodes(), 0);
  }

  simulation run() {
    for (std::uint32_t p = 0; p < plan_.paths.size(); ++p) {
      if (plan_.paths[p].empty() || plan_.bytes[p] == 0) {
        continue;
      }
      left_[p] = static_cast<double>(plan_.bytes[p]);
      out_.bytes += left_[p];
      issue(p, o_.costs.start_up);
    }
    while (!wheel_.empty()) {
      const event e = wheel_.pop();
      const std::uint32_t index = e.what >> 2;
      switch (e.what & 3) {
        case arrived:
          arrive(index, e.time);
          break;
        case stored:
          store(index, e.time);
          break;
        default:
          serve(index, e.time);
          break;
      }
    }
    // Nothing waits for ever, and nobody holds anything.
    SINEW_ENSURE(spare_.size() == chunks_.size());
    SINEW_ENSURE(std::all_of(left_.begin(), left_.end(), [](double bytes) { return bytes <= 0; }));
    SINEW_ENSURE(std::all_of(held_.begin(), held_.end(), [](auto held) { return held == 0; }));
    return out_;
  }

 private:
  enum kind : std::uint32_t { arrived, stored, freed };

  [[nodiscard]] double horizon() const {
    const machine& m = o_.costs;
    return 4 * (static_cast<double>(m.chunk) / m.link_bandwidth + m.forward_latency + m.start_up +
                m.hop_latency);
  }
  [[nodiscard]] std::uint32_t segment_end(const chunk& c) const {
    const std::size_t row = ends_first_[c.path] + c.segment;
    return row < ends_first_[c.path + 1] ? ends_[row]
                                         : static_cast<std::uint32_t>(plan_.paths.hops(c.path));
  }
  [[nodiscard]] bool last_segment(const chunk& c) const {
    return ends_first_[c.path] + c.segment == ends_first_[c.path + 1];
  }
  [[nodiscard]] link_id link_of(const chunk& c) const { return plan_.paths[c.path][c.at]; }
  // The room at the far end of the chunk's segment.
  [[nodiscard]] std::size_t room_of(const chunk& c) const {
    SINEW_EXPECT(c.segment < classes_);
    return net_.to(plan_.paths[c.path][segment_end(c) - 1]) * classes_ + c.segment;
  }

  void append(queue& q, std::uint32_t c) {
    chunks_[c].next = nothing;
    (q.empty() ? q.head : chunks_[q.tail].next) = c;
    q.tail = c;
  }
  std::uint32_t take(queue& q) {
    SINEW_EXPECT(!q.empty());
    const std::uint32_t c = q.head;
    q.head = chunks_[c].next;
    return c;
  }

  // The next chunk of a path comes into being when the one before is on its way.
  void issue(std::uint32_t p, double now) {
    if (left_[p] <= 0) {
      return;
    }
    const double bytes = std::min(left_[p], static_cast<double>(o_.costs.chunk));
    left_[p] -= bytes;
    std::uint32_t c = 0;
    if (spare_.empty()) {
      c = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      c = spare_.back();
      spare_.pop_back();
    }
    chunks_[c] = {p, 0, 0, nothing, bytes, false};
    double& free = inject_free_[net_.from(plan_.paths[p][0])];
    const double at = std::max(now, free);
    free = at + bytes / o_.costs.injection_bandwidth;
    wheel_.push(at, c << 2 | arrived);
  }

  void arrive(std::uint32_t index, double now) {
    chunk& c = chunks_[index];
    if (!c.has_room && !last_segment(c)) {
      const std::size_t room = room_of(c);
      if (held_[room] >= o_.buffers) {
        append(waiting_[room], index);
        return;
      }
      ++held_[room];
      const node_id n = static_cast<node_id>(room / classes_);
      out_.most_held = std::max(out_.most_held, ++held_in_all_[n]);
      c.has_room = true;
    }
    wire& w = wires_[link_of(c)];
    if (w.free_at <= now && w.own.empty() && w.transit.empty()) {
      send(index, now);
      return;
    }
    append(c.at == 0 ? w.own : w.transit, index);
    call(link_of(c));
  }

  void call(link_id l) {
    wire& w = wires_[l];
    if (w.called || (w.own.empty() && w.transit.empty())) {
      return;
    }
    w.called = true;
    wheel_.push(w.free_at, l << 2 | freed);
  }

  void serve(link_id l, double now) {
    wire& w = wires_[l];
    SINEW_EXPECT(w.called);
    w.called = false;
    const bool own =
        w.transit.empty() || (!w.own.empty() && o_.rule == queue_rule::round_robin && w.own_next);
    w.own_next = !own;
    send(take(own ? w.own : w.transit), now);
    call(l);
  }

  // The chunk's head enters its link now.
  void send(std::uint32_t index, double now) {
    chunk& c = chunks_[index];
    const link_id l = link_of(c);
    SINEW_EXPECT(wires_[l].free_at <= now && (c.has_room || last_segment(c)));
    const double hold = c.bytes / (net_.capacity(l) * o_.costs.link_bandwidth);
    wires_[l].free_at = now + hold;
    ++out_.chunk_hops;
    if (c.at == 0) {
      issue(c.path, now);
    } else if (c.segment > 0 && c.at == ends_[ends_first_[c.path] + c.segment - 1]) {
      leave_room(net_.from(l), c.segment - 1, now);
    }
    chunk& same = chunks_[index];  // issuing may have moved it
    ++same.at;
    const double head = now + o_.costs.hop_latency;
    if (same.at == plan_.paths.hops(same.path)) {
      out_.seconds = std::max(out_.seconds, head + hold);
      spare_.push_back(index);
    } else if (same.at == segment_end(same)) {
      wheel_.push(head + hold, index << 2 | stored);
    } else {
      wheel_.push(head, index << 2 | arrived);
    }
  }

  void leave_room(node_id n, std::uint32_t segment, double now) {
    const std::size_t room = n * classes_ + segment;
    SINEW_EXPECT(held_[room] != 0 && held_in_all_[n] >= held_[room]);
    --held_[room];
    --held_in_all_[n];
    if (!waiting_[room].empty()) {
      wheel_.push(now, take(waiting_[room]) << 2 | arrived);
    }
  }

  void store(std::uint32_t index, double now) {
    chunk& c = chunks_[index];
    SINEW_EXPECT(c.has_room && c.at == segment_end(c));
    ++c.segment;
    c.has_room = false;
    double& free = copy_free_[net_.from(link_of(c))];
    free = std::max(free, now) + c.bytes / o_.costs.copy_bandwidth;
    wheel_.push(free + o_.costs.forward_latency, index << 2 | arrived);
  }

  const topology& net_;
  const route_plan& plan_;
  const simulation_options& o_;
  event_wheel wheel_;
  std::vector<wire> wires_;
  std::vector<double> inject_free_;
  std::vector<double> copy_free_;
  std::vector<double> left_;  // bytes of a path that are not yet chunks
  std::vector<std::size_t> ends_first_;
  std::vector<std::uint32_t> ends_;  // of segments but the last, by path
  std::size_t classes_ = 1;
  std::vector<std::uint32_t> held_;
  std::vector<queue> waiting_;
  std::vector<std::uint32_t> held_in_all_;
  std::vector<chunk> chunks_;
  std::vector<std::uint32_t> spare_;
  simulation out_;
};

}  // namespace

simulation simulate_chunks(const topology& net, const route_plan& plan,
                           const simulation_options& options) {
  SINEW_CHECK(options.buffers > 0, "nothing can be simulated", "no node has a buffer",
              "a node has 1 or more");
  check_machine(options.costs);
  check_plan(net, plan);
  const std::int64_t begin = now_ns();
  simulation out = simulator(net, plan, options).run();
  out.host_seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  return out;
}

}  // namespace sinew::route
