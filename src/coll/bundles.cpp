// SPDX-License-Identifier: BSD-3-Clause
// A gather or scatter of any blocks of ranks on several nodes: a leader does not know how long
// those of its node's ranks are, so those that travel through it do so with their lengths, in a
// bundle. Long ones go straight between their rank and the root.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/over_node.hpp"
#include "coll/tuning.hpp"
#include "coll/two_levels.hpp"
#include "sinew/node/moving.hpp"

namespace sinew::coll {
namespace {

/// Blocks of a node's ranks as one message: first the length of each, 0 where it is not in the
/// message, then the blocks.
struct bundle {
  std::byte* base;
  std::size_t bytes;
  int blocks;
  std::size_t used = 0;  ///< of the data

  [[nodiscard]] std::size_t head() const noexcept {
    return static_cast<std::size_t>(blocks) * sizeof(std::uint64_t);
  }
  [[nodiscard]] buffer all() const noexcept { return buffer::of_bytes(base, bytes); }
  void set_length(int i, std::uint64_t n) const noexcept {
    SINEW_EXPECT(i >= 0 && i < blocks && head() <= bytes);
    std::memcpy(base + static_cast<std::size_t>(i) * sizeof n, &n, sizeof n);
  }
  /// The next block, number i: as much of it as there is.
  [[nodiscard]] buffer next(int i) noexcept {
    SINEW_EXPECT(i >= 0 && i < blocks && head() <= bytes);
    std::uint64_t n = 0;
    std::memcpy(&n, base + static_cast<std::size_t>(i) * sizeof n, sizeof n);
    const std::size_t at = head() + used;
    const std::size_t there = std::min<std::size_t>(n, bytes - at);
    used += there;
    return buffer::of_bytes(base + at, there);
  }
};

[[nodiscard]] std::size_t travelling(std::size_t block) noexcept {
  return block <= static_cast<std::size_t>(tuning::level_block()) ? block : 0;
}

// --- gather: the leader collects the short blocks of its node; long ones go straight to the root.

void send_collected(collective_messages& t, const two_levels& l, const buffer& mine, int root) {
  node::team* const team = l.team();
  const node_map& map = l.map();
  const bool alone = team == nullptr;
  const std::size_t travels = alone ? 0 : travelling(mine.bytes());
  if (!alone && !l.leads()) {
    team->begin();  // no gather: the leader takes all in one round, before it knows their lengths
    team->post(travels != 0 ? as_data(mine) : no_data(), 0, node_lengths(*team).direct_one_way);
    team->finish();
  } else if (!alone) {
    team->begin();
    std::size_t bytes = travels;
    for (const int m : team->others()) {
      bytes += team->from(m).bytes();
    }
    bundle b{nullptr, 0, map.count(map.here())};
    b.bytes = b.head() + bytes;
    const scratch space(b.bytes);
    b.base = space.base();
    b.set_length(0, travels);
    if (travels != 0) {
      t.note(copy(mine, b.next(0)));
    }
    for (const int m : team->others()) {
      const node::line& line = team->from(m);
      b.set_length(m, line.bytes());
      (void)team->take(line, m, as_data(b.next(m)));
    }
    team->finish();
    t.send(b.all(), root);
  }
  if (travels == 0 && mine.bytes() != 0) {
    t.send(mine, root);
  }
}

void receive_collected(collective_messages& t, const two_levels& l, const blocks& in) {
  node::team* const team = l.team();
  const node_map& map = l.map();
  const auto bundled = [&](int node) { return node != map.here() && map.count(node) > 1; };
  const node_order order(map, [&](int r) {
    return bundled(map.node_of(r)) ? sizeof(std::uint64_t) + travelling(in(r).bytes()) : 0;
  });
  const scratch space(order.total());
  std::vector<bundle> bundles;
  bundles.reserve(static_cast<std::size_t>(map.nodes()));
  batch b(t);
  for (int k = 0; k < map.nodes(); ++k) {
    bundles.push_back({space.base() + order.start(k), order.bytes(k), map.count(k)});
    if (bundled(k)) {
      b.room(1);
      b.recv(bundles.back().all(), map.first()[static_cast<std::size_t>(k)]);
    }
  }
  if (team != nullptr) {
    t.note(fault_unless(node::gather(*team, no_data(), l.lead(), node_lengths(*team), [&](int m) {
      return as_data(in(map.mine()[static_cast<std::size_t>(m)]));
    })));
  }
  b.wait();
  std::vector<int> next(bundles.size());
  for (int r = 0; r < t.size(); ++r) {
    const int node = map.node_of(r);
    if (node == map.here()) {
      continue;
    }
    const auto k = static_cast<std::size_t>(node);
    const buffer into = in(r);
    const buffer came = bundled(node) ? bundles[k].next(next[k]++) : buffer::of_bytes(into.base, 0);
    if (came.bytes() != 0) {
      t.note(copy(came, into));
    } else if (into.bytes() != 0) {
      b.room(1);
      b.recv(into, r);
    }
  }
}

// --- scatter: the same the other way round.

void hand_out(collective_messages& t, const two_levels& l, const blocks& out) {
  node::team* const team = l.team();
  const node_map& map = l.map();
  const auto bundled = [&](int node) { return node != map.here() && map.count(node) > 1; };
  const node_order order(map, [&](int r) {
    return bundled(map.node_of(r)) ? sizeof(std::uint64_t) + travelling(out(r).bytes()) : 0;
  });
  const scratch space(order.total());
  std::vector<bundle> bundles;
  bundles.reserve(static_cast<std::size_t>(map.nodes()));
  for (int k = 0; k < map.nodes(); ++k) {
    bundles.push_back({space.base() + order.start(k), order.bytes(k), map.count(k)});
  }
  std::vector<int> next(bundles.size());
  for (int r = 0; r < t.size(); ++r) {
    const int node = map.node_of(r);
    if (bundled(node)) {
      const buffer from = out(r);
      bundle& into = bundles[static_cast<std::size_t>(node)];
      const int i = next[static_cast<std::size_t>(node)]++;
      into.set_length(i, travelling(from.bytes()));
      if (travelling(from.bytes()) != 0) {
        t.note(copy(from, into.next(i)));
      }
    }
  }
  batch b(t);
  for (int k = 0; k < map.nodes(); ++k) {
    if (bundled(k)) {
      b.room(1);
      b.send(bundles[static_cast<std::size_t>(k)].all(), map.first()[static_cast<std::size_t>(k)]);
    }
  }
  if (team != nullptr) {
    t.note(fault_unless(node::scatter(*team, no_data(), l.lead(), node_lengths(*team), [&](int m) {
      return as_data(out(map.mine()[static_cast<std::size_t>(m)]));
    })));
  }
  for (int r = 0; r < t.size(); ++r) {
    const int node = map.node_of(r);
    const buffer from = out(r);
    if (node != map.here() && from.bytes() != 0 &&
        !(bundled(node) && travelling(from.bytes()) != 0)) {
      b.room(1);
      b.send(from, r);
    }
  }
}

void pass_on(collective_messages& t, const two_levels& l, const buffer& mine, int root) {
  node::team* const team = l.team();
  const node_map& map = l.map();
  bool came = false;
  if (team != nullptr && !l.leads()) {
    team->begin();
    const node::line& line = team->to_me_from(0);
    came = line.bytes() != 0;
    t.note(fault_unless(team->take(line, 0, as_data(mine))));
    team->finish();
  } else if (team != nullptr) {
    bundle b{nullptr, 0, map.count(map.here())};
    const auto most = static_cast<std::size_t>(tuning::level_block());
    b.bytes = b.head() + static_cast<std::size_t>(b.blocks) * most;
    const scratch space(b.bytes);
    b.base = space.base();
    t.recv(b.all(), root);
    const buffer own = b.next(0);
    came = own.bytes() != 0;
    if (came) {
      t.note(copy(own, mine));
    }
    team->begin();
    for (const int m : team->others()) {
      team->post_to(as_data(b.next(m)), m, node_lengths(*team).direct_one_way);
    }
    team->finish();
  }
  if (!came && mine.bytes() != 0) {
    t.recv(mine, root);
  }
}

}  // namespace

fault gather_bundles(collective_messages& t, const position& at, const call& c) {
  const int root = c.root.value();
  const two_levels l(at, root);
  const bool up = c.what == collective::gather;
  const buffer mine = (up ? c.send : c.recv).each();
  const blocks& all = up ? c.recv : c.send;
  SINEW_EXPECT(mine.base != in_place || t.rank() == root);
  if (t.rank() == root) {
    up ? receive_collected(t, l, all) : hand_out(t, l, all);
    if (mine.base != in_place) {
      t.note(up ? copy(mine, all(root)) : copy(all(root), mine));
    }
  } else if (l.map().node_of(root) != l.map().here()) {
    up ? send_collected(t, l, mine, root) : pass_on(t, l, mine, root);
  } else {
    const auto none = [](int) { return no_data(); };
    const node::lengths limits = node_lengths(*l.team());
    t.note(fault_unless(up ? node::gather(*l.team(), as_data(mine), l.lead(), limits, none)
                           : node::scatter(*l.team(), as_data(mine), l.lead(), limits, none)));
  }
  return t.outcome();
}

}  // namespace sinew::coll
