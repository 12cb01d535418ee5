// Collectives by levels that move data. Blocks that travel together lie in the order of nodes, and
// in a node in the order of ranks.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"

namespace sinew::coll {
namespace {

node::data nothing() noexcept { return {nullptr, 0, &layout::of(layout::element::byte)}; }

node::data bytes_at(std::byte* base, std::size_t bytes) noexcept {
  return as_data(buffer::of_bytes(base, bytes));
}

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

std::size_t travelling(std::size_t block) noexcept { return levels::collects(block) ? block : 0; }

}  // namespace

fault levels::allgather(collective_messages& t, const buffer& mine, const buffer& own,
                        const place_of& in, std::byte* whole) {
  const node_order order(map_, [&](int r) { return in(r).bytes(); });
  if (order.total() == 0) {
    return t.outcome();
  }
  const bool in_order = whole != nullptr && map_.consecutive();
  const scratch aside(in_order ? 0 : order.total());
  std::byte* const all = in_order ? whole : aside.base();
  if (!leads()) {
    t.note(fault_unless(node::gather(*team_, as_data(mine), 0, node_lengths(*team_),
                                     [](int) { return nothing(); })));
  } else {
    const auto place = [&](int member) {
      return order.of_rank(all, map_.mine()[static_cast<std::size_t>(member)]);
    };
    if (mine.base != place(0).base) {
      t.note(copy(mine, place(0)));
    }
    if (team_ != nullptr) {
      t.note(fault_unless(node::gather(*team_, as_data(mine), 0, node_lengths(*team_),
                                       [&](int m) { return as_data(place(m)); })));
    }
    leaders l(*this, t);
    exchange_all(
        *l, [&](int) { return order.of_node(all, map_.here()); },
        [&](int k) { return order.of_node(all, k); });
  }
  if (team_ != nullptr) {
    t.note(
        fault_unless(node::bcast(*team_, bytes_at(all, order.total()), 0, node_lengths(*team_))));
  }
  for (int r = 0; !in_order && r < t.size(); ++r) {
    if (r != t.rank() || mine.base != own.base) {
      t.note(copy(order.of_rank(all, r), in(r)));
    }
  }
  return t.outcome();
}

// --- gather: the leader collects the short blocks of its node; long ones go straight to the root.

void levels::send_collected(collective_messages& t, const buffer& mine, int root) {
  const bool alone = team_ == nullptr;
  const std::size_t travels = alone ? 0 : travelling(mine.bytes());
  if (!alone && !leads()) {
    team_->begin();  // no gather: the leader takes all in one round, before it knows their lengths
    team_->post(travels != 0 ? as_data(mine) : nothing(), 0, node_lengths(*team_).direct_one_way);
    team_->finish();
  } else if (!alone) {
    team_->begin();
    std::size_t bytes = travels;
    for (const int m : team_->others()) {
      bytes += team_->from(m).bytes();
    }
    bundle b{nullptr, 0, map_.count(map_.here())};
    b.bytes = b.head() + bytes;
    const scratch space(b.bytes);
    b.base = space.base();
    b.set_length(0, travels);
    if (travels != 0) {
      t.note(copy(mine, b.next(0)));
    }
    for (const int m : team_->others()) {
      const node::line& l = team_->from(m);
      b.set_length(m, l.bytes());
      (void)team_->take(l, m, as_data(b.next(m)));
    }
    team_->finish();
    t.send(b.all(), root);
  }
  if (travels == 0 && mine.bytes() != 0) {
    t.send(mine, root);
  }
}

void levels::receive_collected(collective_messages& t, const place_of& in, int root) {
  const auto bundled = [&](int node) { return node != map_.here() && map_.count(node) > 1; };
  const node_order order(map_, [&](int r) {
    return bundled(map_.node_of(r)) ? sizeof(std::uint64_t) + travelling(in(r).bytes()) : 0;
  });
  const scratch space(order.total());
  std::vector<bundle> bundles;
  bundles.reserve(static_cast<std::size_t>(map_.nodes()));
  batch b(t);
  for (int k = 0; k < map_.nodes(); ++k) {
    bundles.push_back({space.base() + order.start(k), order.bytes(k), map_.count(k)});
    if (bundled(k)) {
      b.recv(bundles.back().all(), map_.first()[static_cast<std::size_t>(k)]);
    }
  }
  if (team_ != nullptr) {
    t.note(
        fault_unless(node::gather(*team_, nothing(), lead(root), node_lengths(*team_), [&](int m) {
          return as_data(in(map_.mine()[static_cast<std::size_t>(m)]));
        })));
  }
  b.wait();
  std::vector<int> next(bundles.size());
  for (int r = 0; r < t.size(); ++r) {
    const int node = map_.node_of(r);
    if (node == map_.here()) {
      continue;
    }
    const auto k = static_cast<std::size_t>(node);
    const buffer into = in(r);
    const buffer came = bundled(node) ? bundles[k].next(next[k]++) : buffer::of_bytes(into.base, 0);
    if (came.bytes() != 0) {
      t.note(copy(came, into));
    } else if (into.bytes() != 0) {
      b.recv(into, r);
    }
  }
}

fault levels::gather(collective_messages& t, const buffer& mine, const place_of& in, int root) {
  SINEW_EXPECT(mine.base != in_place || t.rank() == root);
  if (t.rank() == root) {
    receive_collected(t, in, root);
    if (mine.base != in_place) {
      t.note(copy(mine, in(root)));
    }
  } else if (map_.node_of(root) == map_.here()) {
    t.note(fault_unless(node::gather(*team_, as_data(mine), lead(root), node_lengths(*team_),
                                     [](int) { return nothing(); })));
  } else {
    send_collected(t, mine, root);
  }
  return t.outcome();
}

// --- scatter: the same the other way round.

void levels::hand_out(collective_messages& t, const place_of& out, int root) {
  const auto bundled = [&](int node) { return node != map_.here() && map_.count(node) > 1; };
  const node_order order(map_, [&](int r) {
    return bundled(map_.node_of(r)) ? sizeof(std::uint64_t) + travelling(out(r).bytes()) : 0;
  });
  const scratch space(order.total());
  std::vector<bundle> bundles;
  bundles.reserve(static_cast<std::size_t>(map_.nodes()));
  for (int k = 0; k < map_.nodes(); ++k) {
    bundles.push_back({space.base() + order.start(k), order.bytes(k), map_.count(k)});
  }
  std::vector<int> next(bundles.size());
  for (int r = 0; r < t.size(); ++r) {
    const int node = map_.node_of(r);
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
  for (int k = 0; k < map_.nodes(); ++k) {
    if (bundled(k)) {
      b.send(bundles[static_cast<std::size_t>(k)].all(), map_.first()[static_cast<std::size_t>(k)]);
    }
  }
  if (team_ != nullptr) {
    t.note(
        fault_unless(node::scatter(*team_, nothing(), lead(root), node_lengths(*team_), [&](int m) {
          return as_data(out(map_.mine()[static_cast<std::size_t>(m)]));
        })));
  }
  for (int r = 0; r < t.size(); ++r) {
    const int node = map_.node_of(r);
    const buffer from = out(r);
    if (node != map_.here() && from.bytes() != 0 &&
        !(bundled(node) && travelling(from.bytes()) != 0)) {
      b.send(from, r);
    }
  }
}

void levels::pass_on(collective_messages& t, const buffer& mine, int root) {
  bool came = false;
  if (team_ != nullptr && !leads()) {
    team_->begin();
    const node::line& l = team_->to_me_from(0);
    came = l.bytes() != 0;
    t.note(fault_unless(team_->take(l, 0, as_data(mine))));
    team_->finish();
  } else if (team_ != nullptr) {
    bundle b{nullptr, 0, map_.count(map_.here())};
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
    team_->begin();
    for (const int m : team_->others()) {
      team_->post_to(as_data(b.next(m)), m, node_lengths(*team_).direct_one_way);
    }
    team_->finish();
  }
  if (!came && mine.bytes() != 0) {
    t.recv(mine, root);
  }
}

fault levels::scatter(collective_messages& t, const buffer& mine, const place_of& out, int root) {
  SINEW_EXPECT(mine.base != in_place || t.rank() == root);
  if (t.rank() == root) {
    hand_out(t, out, root);
    if (mine.base != in_place) {
      t.note(copy(out(root), mine));
    }
  } else if (map_.node_of(root) == map_.here()) {
    t.note(fault_unless(node::scatter(*team_, as_data(mine), lead(root), node_lengths(*team_),
                                      [](int) { return nothing(); })));
  } else {
    pass_on(t, mine, root);
  }
  return t.outcome();
}

// --- alltoall: a node's leader has all that its ranks send, trades it by nodes, and hands it out.

void levels::trade_rows(collective_messages& t, const two_tables& tables) {
  const std::size_t each = tables.each;
  const auto local = static_cast<std::size_t>(map_.count(map_.here()));
  const node_order order(map_, [&](int) { return each; });
  const std::size_t row = order.total();
  // To node k: for each rank here its blocks for that node.
  std::byte* to = tables.other;
  for (int k = 0; k < map_.nodes(); ++k) {
    for (std::size_t m = 0; m < local; ++m) {
      std::memcpy(to, order.of_node(tables.rows + m * row, k).base, order.bytes(k));
      to += order.bytes(k);
    }
  }
  const auto trade = [&](std::byte* base, int k) {
    return buffer::of_bytes(base + local * order.start(k), local * order.bytes(k));
  };
  const buffer own = trade(tables.other, map_.here());
  std::memcpy(trade(tables.rows, map_.here()).base, own.base, own.bytes());
  {
    leaders l(*this, t);
    exchange_all(
        *l, [&](int k) { return trade(tables.other, k); },
        [&](int k) { return trade(tables.rows, k); });
  }
  // From each rank its blocks for the ranks here.
  const std::byte* from = tables.rows;
  for (std::size_t r = 0; r < static_cast<std::size_t>(t.size()); ++r) {
    for (std::size_t m = 0; m < local; ++m) {
      std::memcpy(tables.other + m * row + r * each, from, each);
      from += each;
    }
  }
  SINEW_ENSURE(from == tables.rows + local * row);
}

fault levels::alltoall(collective_messages& t, const place_of& out, const place_of& in,
                       std::size_t each) {
  const node_order order(map_, [&](int) { return each; });
  const std::size_t row = order.total();
  const auto local = static_cast<std::size_t>(map_.count(map_.here()));
  const scratch rows(leads() ? 2 * local * row : row);
  std::byte* mine = rows.base();
  for (int r = 0; r < t.size(); ++r) {
    t.note(copy(out(r), order.of_rank(mine, r)));
  }
  const auto row_of = [&](int m) {
    return bytes_at(mine + static_cast<std::size_t>(m) * row, row);
  };
  if (team_ != nullptr) {
    t.note(
        fault_unless(node::gather(*team_, bytes_at(mine, row), 0, node_lengths(*team_), row_of)));
  }
  if (leads()) {
    trade_rows(t, {mine, mine + local * row, each});
    mine += local * row;
  }
  if (team_ != nullptr) {
    t.note(
        fault_unless(node::scatter(*team_, bytes_at(mine, row), 0, node_lengths(*team_), row_of)));
  }
  for (int r = 0; r < t.size(); ++r) {
    t.note(copy(order.of_rank(mine, r), in(r)));
  }
  return t.outcome();
}

fault levels::alltoall_near(collective_messages& t, const place_of& out, const place_of& in) {
  const auto far_only = [&](const place_of& place, int r) {
    return map_.node_of(r) != map_.here() ? place(r)
                                          : buffer::of_bytes(static_cast<void*>(nullptr), 0);
  };
  if (team_ != nullptr) {
    const auto near = [&](const place_of& place, int m) {
      return as_data(place(map_.mine()[static_cast<std::size_t>(m)]));
    };
    t.note(fault_unless(node::alltoall(
        *team_, node_lengths(*team_), [&](int m) { return near(out, m); },
        [&](int m) { return near(in, m); })));
  }
  exchange_all(t, [&](int r) { return far_only(out, r); }, [&](int r) { return far_only(in, r); });
  t.note(copy(out(t.rank()), in(t.rank())));
  return t.outcome();
}

}  // namespace sinew::coll
