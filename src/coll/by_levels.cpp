// SPDX-License-Identifier: BSD-3-Clause
// Collectives of ranks on several nodes: inside each node over its memory, where the call may wait
// there, else by messages, and between nodes by messages of their leaders. Blocks that travel
// together lie in the order of nodes, and in a node in the order of ranks.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/over_node.hpp"
#include "coll/two_levels.hpp"
#include "sinew/node/moving.hpp"

namespace sinew::coll {
namespace {

std::byte* bytes_of(const buffer& b) noexcept { return static_cast<std::byte*>(b.base); }

/// The `bytes` at `i` times as many from the beginning.
buffer slot(const buffer& in, std::size_t i, std::size_t bytes) noexcept {
  SINEW_EXPECT((i + 1) * bytes <= in.bytes());
  return buffer::of_bytes(bytes_of(in) + i * bytes, bytes);
}

// --- among the ranks of a node ---

void bcast_inside(plan& p, const two_levels& l, const buffer& data, int from) {
  if (l.alone()) {
    return;
  }
  if (node::team* const t = l.team()) {
    return p.work(
        [=] { return fault_unless(node::bcast(*t, as_data(data), from, node_lengths(*t))); });
  }
  const plan::among members(p, l.mine());
  make(p, l.inside(), {collective::bcast, {}, data, comm_rank{from}});
}

/// `sum` is looked at by the member that gets it.
void reduce_inside(plan& p, const two_levels& l, const void* input, const buffer& sum,
                   const op_ref& o, int to) {
  node::team* const t = l.team();
  if (t != nullptr && reduces(l.map().largest(), *sum.type)) {
    return p.work([=, &combine = *o] { return node_reduce(*t, input, sum, combine, to); });
  }
  const plan::among members(p, l.mine());
  make(p, l.inside(), {collective::reduce, operand(input), sum, comm_rank{to}, o});
}

/// `slots`: where the members' data go, at the leader, which keeps its own itself.
void gather_inside(plan& p, const two_levels& l, const buffer& mine, std::vector<buffer> slots) {
  if (node::team* const t = l.team()) {
    return p.work([=, to = l.lead(), into = std::move(slots)] {
      return fault_unless(node::gather(*t, as_data(mine), to, node_lengths(*t), [&](int m) {
        return as_data(into[static_cast<std::size_t>(m)]);
      }));
    });
  }
  if (!l.leads()) {
    return p.send_if_any(mine, l.leader());
  }
  for (std::size_t m = 0; m < slots.size(); ++m) {
    if (static_cast<int>(m) != l.member()) {
      p.receive_if_any(slots[m], l.mine()[m]);
    }
  }
}

/// The same the other way round.
void scatter_inside(plan& p, const two_levels& l, const buffer& mine, std::vector<buffer> slots) {
  if (node::team* const t = l.team()) {
    return p.work([=, from = l.lead(), out = std::move(slots)] {
      return fault_unless(node::scatter(*t, as_data(mine), from, node_lengths(*t), [&](int m) {
        return as_data(out[static_cast<std::size_t>(m)]);
      }));
    });
  }
  if (!l.leads()) {
    return p.receive_if_any(mine, l.leader());
  }
  for (std::size_t m = 0; m < slots.size(); ++m) {
    if (static_cast<int>(m) != l.member()) {
      p.send_if_any(slots[m], l.mine()[m]);
    }
  }
}

/// of(r): of each rank of this node, for its leader.
template <class Of>
std::vector<buffer> for_members(const two_levels& l, const Of& of) {
  std::vector<buffer> slots;
  if (l.leads()) {
    slots.reserve(l.mine().size());
    for (const int r : l.mine()) {
      slots.push_back(of(r));
    }
  }
  return slots;
}

/// What leaders do, as ranks of their own.
void make_between(plan& p, const two_levels& l, const call& c) {
  const plan::among leaders(p, l.leaders());
  make(p, l.between(), c);
}

/// Blocks go up to the root in a gather, and down from it in a scatter, which is a gather
/// backwards.
enum class way : bool { up, down };

struct path {
  plan& p;
  const two_levels& l;
  way direction;

  /// A message to or from a rank that is nearer to the root.
  void above(const buffer& b, int r) const {
    direction == way::up ? p.send_if_any(b, r) : p.receive_if_any(b, r);
  }
  /// The same of one that is farther.
  void below(const buffer& b, int r) const {
    direction == way::up ? p.receive_if_any(b, r) : p.send_if_any(b, r);
  }
  void inside(const buffer& mine, std::vector<buffer> slots) const {
    direction == way::up ? gather_inside(p, l, mine, std::move(slots))
                         : scatter_inside(p, l, mine, std::move(slots));
  }
  void move(const buffer& lower, const buffer& upper) const {
    direction == way::up ? p.copy(lower, upper) : p.copy(upper, lower);
  }
  template <class Lower, class Upper>
  void in_turn(const Lower& lower, const Upper& upper) const {
    direction == way::up ? lower() : upper();
    p.wait();
    direction == way::up ? upper() : lower();
  }
};

void collect_for_root(plan& p, const two_levels& l, const path& to, const buffer& mine, int root) {
  const std::size_t each = mine.bytes();
  const buffer rows = p.space(each * l.mine().size());
  const auto row_of = [&](int m) { return slot(rows, static_cast<std::size_t>(m), each); };
  const auto members = [&] {
    std::vector<buffer> slots;
    for (int m = 0; m < static_cast<int>(l.mine().size()); ++m) {
      slots.push_back(row_of(m));
    }
    to.inside(mine, std::move(slots));
    to.move(mine, row_of(l.member()));
  };
  to.in_turn(members, [&] { to.above(rows, root); });
}

/// `all`: a block for each rank, at the root.
void gather_or_scatter(plan& p, const position& at, const buffer& mine, const blocks& all, int root,
                       way direction) {
  const two_levels l(at, root);
  const node_map& map = l.map();
  const path to{p, l, direction};
  if (!l.leads()) {
    return to.inside(mine, {});
  }
  if (at.rank != root) {
    return l.alone() ? to.above(mine, root) : collect_for_root(p, l, to, mine, root);
  }
  const node_order order(map, [&](int r) { return all(r).bytes(); });
  std::byte* const rows = bytes_of(p.space(order.total()));
  const auto messages = [&] {
    for (int k = 0; k < map.nodes(); ++k) {
      if (k != map.here()) {
        to.below(order.of_node(rows, k), l.leader(k));
      }
    }
    if (!l.alone()) {
      to.inside(mine, for_members(l, [&](int r) { return all(r); }));
    }
    if (mine.base != in_place) {
      to.move(mine, all(root));
    }
  };
  const auto copies = [&] {
    for (int r = 0; r < at.size; ++r) {
      if (map.node_of(r) != map.here()) {
        to.move(order.of_rank(rows, r), all(r));
      }
    }
  };
  to.in_turn(messages, copies);
}

}  // namespace

void barrier_levels(plan& p, const position& at, const call& /*c*/) {
  const two_levels l(at);
  node::team* const t = l.team();
  const node::lengths limits = {node::team::room, node::team::room};
  if (t != nullptr) {
    p.work([=] {
      return fault_unless(node::gather(*t, no_data(), 0, limits, [](int) { return no_data(); }));
    });
  } else if (!l.leads()) {
    p.send(nothing(), l.leader());
    return p.receive(nothing(), l.leader());
  } else {
    for (const int r : l.mine().subspan(1)) {
      p.receive(nothing(), r);
    }
    p.wait();
  }
  if (l.leads()) {
    make_between(p, l, {});
  }
  if (t != nullptr) {
    p.wait();
    return p.work([=] { return fault_unless(node::bcast(*t, no_data(), 0, limits)); });
  }
  for (const int r : l.mine().subspan(1)) {
    p.send(nothing(), r);
  }
}

void bcast_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at, c.root.value());
  const buffer data = c.recv.each();
  if (l.leads()) {
    make_between(p, l, {collective::bcast, {}, data, comm_rank{l.map().node_of(c.root.value())}});
    p.wait();
  }
  bcast_inside(p, l, data, l.lead());
}

void reduce_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at, c.root.value());
  const buffer result = c.recv.each();
  const void* input = input_of(c);
  if (!l.alone()) {
    const bool needs_room = l.leads() && at.rank != c.root.value();
    const buffer sum = needs_room ? p.space(result.count, *result.type) : result;
    reduce_inside(p, l, input, sum, c.o, l.lead());
    input = sum.base;
  }
  if (l.leads()) {
    p.wait();
    make_between(p, l,
                 {collective::reduce, operand(input), result,
                  comm_rank{l.map().node_of(c.root.value())}, c.o});
  }
}

void allreduce_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  const buffer result = c.recv.each();
  if (l.alone()) {
    return make_between(p, l, c);
  }
  reduce_inside(p, l, input_of(c), result, c.o, 0);
  p.wait();
  if (l.leads()) {
    make_between(p, l, {collective::allreduce, operand(in_place), result, -1, c.o});
    p.wait();
  }
  bcast_inside(p, l, result, 0);
}

void reduce_scatter_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  const node_map& map = l.map();
  const layout::datatype& type = c.recv.type();
  const buffer mine = part(c.recv.base(), 0, c.recv.count(at.rank), type);
  std::vector<std::size_t> starts(static_cast<std::size_t>(at.size));
  std::vector<std::ptrdiff_t> of_node(static_cast<std::size_t>(map.nodes()));
  std::size_t all = 0;
  for (int r = 0; r < at.size; ++r) {
    const std::size_t count = c.recv.count(r);
    starts[static_cast<std::size_t>(r)] = std::exchange(all, all + count);
    of_node[static_cast<std::size_t>(map.node_of(r))] += static_cast<std::ptrdiff_t>(count);
  }
  const void* input = input_of(c);
  if (!l.alone()) {
    const buffer sum = l.leads() ? p.space(all, type) : buffer{nullptr, all, &type};
    reduce_inside(p, l, input, sum, c.o, 0);
    p.wait();  // a rank's operand may lie where the result goes
    if (!l.leads()) {
      return scatter_inside(p, l, mine, {});
    }
    input = sum.base;
  }
  if (!map.consecutive()) {
    const buffer ordered = p.space(all, type);
    std::ptrdiff_t next = 0;
    for (int k = 0; k < map.nodes(); ++k) {
      for (int r = 0; r < at.size; ++r) {
        if (map.node_of(r) == k) {
          const auto from = static_cast<std::ptrdiff_t>(starts[static_cast<std::size_t>(r)]);
          const std::size_t count = c.recv.count(r);
          p.copy(part(input, from, count, type), part(ordered.base, next, count, type));
          next += static_cast<std::ptrdiff_t>(count);
        }
      }
    }
    input = ordered.base;
  }
  const auto ours = static_cast<std::size_t>(of_node[static_cast<std::size_t>(map.here())]);
  const buffer block = l.alone() ? mine : p.space(ours, type);
  make_between(p, l,
               {collective::reduce_scatter, operand(input),
                parts{block.base, of_node.data(), nullptr, &type}, -1, c.o});
  if (!l.alone()) {
    p.wait();
    std::ptrdiff_t next = 0;
    scatter_inside(p, l, mine, for_members(l, [&](int r) {
                     const std::ptrdiff_t first = next;
                     next += static_cast<std::ptrdiff_t>(c.recv.count(r));
                     return part(block.base, first, c.recv.count(r), type);
                   }));
    p.copy(part(block.base, 0, mine.count, type), mine);  // the leader's is the first
  }
}

// The last rank of a node knows the total of it, and asks for that of the nodes below.
void scan_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  const node_map& map = l.map();
  const buffer result = c.recv.each();
  const int last = l.inside().size - 1;
  const bool inclusive = c.what == collective::scan;
  const buffer lower = p.space(result.count, *result.type);
  const buffer total =
      l.member() == last ? p.space(result.count, *result.type) : like(nullptr, result);
  if (l.member() == last) {
    p.copy(like(input_of(c), result), total);
  }
  {
    const plan::among members(p, l.mine());
    make(p, l.inside(), c);
  }
  p.wait();
  if (l.member() == last) {
    if (inclusive) {
      p.copy(result, total);
    } else if (!l.alone()) {
      p.combine(result, total);
    }
    std::vector<int> lasts;
    for (int k = 1; k < map.nodes(); ++k) {
      lasts.push_back(map.first()[static_cast<std::size_t>(k)] - 1);
    }
    lasts.push_back(at.size - 1);
    const plan::among those(p, lasts);
    make(p, l.between(), {collective::exscan, operand(total.base), lower, -1, c.o});
  }
  if (map.here() == 0) {
    return;
  }
  p.wait();
  bcast_inside(p, l, lower, last);
  p.wait();
  if (!inclusive && l.member() == 0) {
    p.copy(lower, result);
  } else {
    p.combine(lower, result);
  }
}

void allgather_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  const node_map& map = l.map();
  const node_order order(map, [&](int r) { return c.recv(r).bytes(); });
  if (order.total() == 0) {
    return;
  }
  const buffer own = c.recv(at.rank);
  const buffer mine = c.send.in_place() ? own : c.send.each();
  // Without gaps all blocks are one run of bytes.
  const bool in_order = c.recv.alike() && c.recv.type().dense() && map.consecutive();
  std::byte* const all = in_order ? static_cast<std::byte*>(const_cast<void*>(c.recv.base()))
                                  : bytes_of(p.space(order.total()));
  if (!l.alone()) {
    gather_inside(p, l, mine, for_members(l, [&](int r) { return order.of_rank(all, r); }));
  }
  if (l.leads() && mine.base != order.of_rank(all, at.rank).base) {
    p.copy(mine, order.of_rank(all, at.rank));
  }
  p.wait();  // of those that do not lead: it may lie where the others' data go
  if (l.leads()) {
    const plan::among leaders(p, l.leaders());
    exchange_all(
        p, l.between(), [&](int) { return order.of_node(all, map.here()); },
        [&](int k) { return order.of_node(all, k); });
    p.wait();
  }
  bcast_inside(p, l, buffer::of_bytes(all, order.total()), 0);
  p.wait();
  for (int r = 0; !in_order && r < at.size; ++r) {
    if (r != at.rank || mine.base != own.base) {
      p.copy(order.of_rank(all, r), c.recv(r));
    }
  }
}

void gather_levels(plan& p, const position& at, const call& c) {
  gather_or_scatter(p, at, c.send.each(), c.recv, c.root.value(), way::up);
}

void scatter_levels(plan& p, const position& at, const call& c) {
  gather_or_scatter(p, at, c.recv.each(), c.send, c.root.value(), way::down);
}

namespace {

/// What a leader has of the ranks of its node: a row of blocks for all ranks, in the order of
/// nodes, for each of them.
struct tables {
  node_order order;
  std::size_t members;
  std::size_t each;  ///< bytes of a block
  int nodes;
  int ranks;
  std::byte* rows;
  std::byte* other;  ///< as many

  /// In `rows` as in `other`: what goes to node k, or came from there.
  [[nodiscard]] buffer of_node(std::byte* base, int k) const noexcept {
    return buffer::of_bytes(base + members * order.start(k), members * order.bytes(k));
  }
  /// From rows to what goes to each node: for each rank here its blocks for that node.
  void sort_by_node() const noexcept {
    std::byte* to = other;
    for (int k = 0; k < nodes; ++k) {
      for (std::size_t m = 0; m < members; ++m) {
        std::memcpy(to, order.of_node(rows + m * order.total(), k).base, order.bytes(k));
        to += order.bytes(k);
      }
    }
  }
  /// From what came from each node to rows: of each rank its blocks for the ranks here.
  void sort_by_rank() const noexcept {
    const std::byte* from = rows;
    for (int r = 0; r < ranks; ++r) {
      for (std::size_t m = 0; m < members; ++m) {
        std::memcpy(other + m * order.total() + static_cast<std::size_t>(r) * each, from, each);
        from += each;
      }
    }
  }
};

}  // namespace

// A leader has all that the ranks of its node send, trades it by nodes, and hands it out.
void alltoall_levels(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  const node_map& map = l.map();
  const std::size_t each = c.recv.each().bytes();
  if (c.send.each().bytes() != each) {
    p.note(fault::truncated);
  }
  node_order order(map, [&](int) { return each; });
  const std::size_t row = order.total();
  const std::size_t members = l.mine().size();
  const buffer rows = p.space(row * (l.leads() ? members : 1));   // what they send
  const buffer other = p.space(row * (l.leads() ? members : 1));  // what they get
  for (int r = 0; r < at.size; ++r) {
    p.copy(c.send(r), order.of_rank(bytes_of(rows), r));  // the leader's own row is the first
  }
  std::size_t member = 0;
  const auto rows_of = [&](const buffer& table) {
    member = 0;
    return for_members(l, [&](int) { return slot(table, member++, row); });
  };
  if (!l.alone()) {
    gather_inside(p, l, slot(rows, 0, row), rows_of(rows));
  }
  p.wait();
  if (l.leads()) {
    const auto t = std::make_shared<const tables>(tables{
        std::move(order), members, each, map.nodes(), at.size, bytes_of(rows), bytes_of(other)});
    p.work([t] {
      t->sort_by_node();
      return fault::none;
    });
    {
      const plan::among leaders(p, l.leaders());
      exchange_all(
          p, l.between(), [&](int k) { return t->of_node(t->other, k); },
          [&](int k) { return t->of_node(t->rows, k); });
    }
    p.copy(t->of_node(t->other, map.here()), t->of_node(t->rows, map.here()));
    p.wait();
    p.work([t] {
      t->sort_by_rank();
      return fault::none;
    });
  }
  if (!l.alone()) {
    scatter_inside(p, l, slot(other, 0, row), rows_of(other));
  }
  p.wait();
  const node_order places(map, [&](int) { return each; });
  for (int r = 0; r < at.size; ++r) {
    p.copy(places.of_rank(bytes_of(other), r), c.recv(r));
  }
}

/// Any blocks: over memory inside the node, else by a message each.
void alltoall_near(plan& p, const position& at, const call& c) {
  const two_levels l(at);
  if (node::team* const t = l.team()) {
    p.work([t, mine = l.mine(), send = c.send, recv = c.recv] {
      const auto near = [&](const blocks& b, int m) {
        return as_data(b(mine[static_cast<std::size_t>(m)]));
      };
      return fault_unless(node::alltoall(
          *t, node_lengths(*t), [&](int m) { return near(send, m); },
          [&](int m) { return near(recv, m); }));
    });
  }
  const auto far_only = [&](const blocks& b, int r) {
    return l.map().node_of(r) != l.map().here() ? b(r) : nothing();
  };
  exchange_all(
      p, at, [&](int r) { return far_only(c.send, r); },
      [&](int r) { return far_only(c.recv, r); });
  p.copy(c.send(at.rank), c.recv(at.rank));
}

}  // namespace sinew::coll
