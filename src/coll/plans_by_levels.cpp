#include "coll/plans_by_levels.hpp"

#include <algorithm>
#include <utility>

#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"

namespace sinew::coll::by_levels {
namespace {

/// The two levels of a call as this rank sees them.
class two_levels {
 public:
  explicit two_levels(position at, int root = -1)
      : map_(*at.nodes), leaders_(map_.first().begin(), map_.first().end()) {
    if (root >= 0) {
      leaders_[static_cast<std::size_t>(map_.node_of(root))] = root;
    }
    member_ = member_of(at.rank);
    lead_ = member_of(leader());
    SINEW_EXPECT(mine()[static_cast<std::size_t>(member_)] == at.rank);
  }

  [[nodiscard]] const node_map& map() const noexcept { return map_; }
  /// The ranks of this node, of which this one is number member() and the leader number lead().
  [[nodiscard]] std::span<const int> mine() const noexcept { return map_.mine(); }
  [[nodiscard]] int member() const noexcept { return member_; }
  [[nodiscard]] int lead() const noexcept { return lead_; }
  [[nodiscard]] bool leads() const noexcept { return member_ == lead_; }
  [[nodiscard]] bool alone() const noexcept { return mine().size() == 1; }
  [[nodiscard]] std::span<const int> leaders() const noexcept { return leaders_; }
  [[nodiscard]] int leader(int node) const noexcept {
    return leaders_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int leader() const noexcept { return leader(map_.here()); }

  [[nodiscard]] position inside() const noexcept {
    return {member_, static_cast<int>(mine().size())};
  }
  [[nodiscard]] position between() const noexcept { return {map_.here(), map_.nodes()}; }

 private:
  [[nodiscard]] int member_of(int r) const noexcept {
    const auto found = std::lower_bound(mine().begin(), mine().end(), r);
    return static_cast<int>(found - mine().begin());
  }

  const node_map& map_;
  std::vector<int> leaders_;  ///< by node
  int member_ = 0;
  int lead_ = 0;
};

std::byte* bytes_of(const buffer& b) noexcept { return static_cast<std::byte*>(b.base); }

/// The `bytes` at `i` times as many from the beginning.
buffer slot(const buffer& in, std::size_t i, std::size_t bytes) noexcept {
  SINEW_EXPECT((i + 1) * bytes <= in.bytes());
  return buffer::of_bytes(bytes_of(in) + i * bytes, bytes);
}

buffer signal() noexcept { return buffer::of_bytes(static_cast<void*>(nullptr), 0); }

/// The operand of a rank whose arguments are these.
const void* input_of(const void* send, const buffer& recv) noexcept {
  return send == in_place ? recv.base : send;
}

/// Blocks go up to the root in a gather, and down from it in a scatter, which is a gather
/// backwards.
enum class way : bool { up, down };

struct path {
  plan& p;
  way direction;

  /// A message to or from a rank that is nearer to the root.
  void above(const buffer& b, int r) const {
    direction == way::up ? send_if_any(p, b, r) : receive_if_any(p, b, r);
  }
  /// The same of one that is farther.
  void below(const buffer& b, int r) const {
    direction == way::up ? receive_if_any(p, b, r) : send_if_any(p, b, r);
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

plan_ref gather_or_scatter(position at, const buffer& mine, const place_of& blocks, int root,
                           way direction) {
  const two_levels l(at, root);
  const node_map& map = l.map();
  auto p = std::make_shared<plan>();
  const path to{*p, direction};
  if (!l.leads()) {
    to.above(mine, l.leader());
    return p;
  }
  if (at.rank != root) {
    const std::size_t each = mine.bytes();
    const buffer rows = p->space(each * l.mine().size());
    const auto members = [&] {
      for (std::size_t m = 0; m < l.mine().size(); ++m) {
        const int r = l.mine()[m];
        r == at.rank ? to.move(mine, slot(rows, m, each)) : to.below(slot(rows, m, each), r);
      }
    };
    to.in_turn(members, [&] { to.above(rows, root); });
    return p;
  }
  const node_order order(map, [&](int r) { return blocks(r).bytes(); });
  std::byte* const all = bytes_of(p->space(order.total()));
  const auto messages = [&] {
    for (int k = 0; k < map.nodes(); ++k) {
      if (k != map.here()) {
        to.below(order.of_node(all, k), l.leader(k));
      }
    }
    for (const int r : l.mine()) {
      if (r != root) {
        to.below(blocks(r), r);
      }
    }
    if (mine.base != in_place) {
      to.move(mine, blocks(root));
    }
  };
  const auto copies = [&] {
    for (int r = 0; r < at.size; ++r) {
      if (map.node_of(r) != map.here()) {
        to.move(order.of_rank(all, r), blocks(r));
      }
    }
  };
  to.in_turn(messages, copies);
  return p;
}

}  // namespace

bool reduces(position at, const op& o) noexcept { return o.commutative || at.nodes->consecutive(); }

bool scans(position at) noexcept { return at.nodes->consecutive(); }

plan_ref barrier(position at) {
  const two_levels l(at);
  auto p = std::make_shared<plan>();
  if (!l.leads()) {
    p->send(signal(), l.leader());
    p->receive(signal(), l.leader());
    return p;
  }
  for (const int r : l.mine().subspan(1)) {
    p->receive(signal(), r);
  }
  p->wait();
  p->append(plan_barrier(l.between()), l.leaders());
  for (const int r : l.mine().subspan(1)) {
    p->send(signal(), r);
  }
  return p;
}

plan_ref bcast(position at, const buffer& data, int root) {
  const two_levels l(at, root);
  auto p = std::make_shared<plan>();
  if (l.leads()) {
    p->append(plan_bcast(l.between(), data, comm_rank{l.map().node_of(root)}), l.leaders());
  }
  if (!l.alone()) {
    p->append(plan_bcast(l.inside(), data, comm_rank{l.lead()}), l.mine());
  }
  return p;
}

// Operators that do not commute get the result at rank 0: the lowest of the first node.
plan_ref reduce(position at, const void* send, const buffer& recv, op_ref o, int root) {
  const int top = o->commutative ? root : 0;
  const two_levels l(at, top);
  auto p = std::make_shared<plan>(o);
  const void* input = input_of(send, recv);
  if (!l.alone()) {
    const buffer sum = l.leads() ? p->space(recv.count, *recv.type) : recv;
    p->append(plan_reduce(l.inside(), input, sum, o, comm_rank{l.lead()}), l.mine());
    input = sum.base;
  }
  if (l.leads()) {
    const bool here = at.rank == top;
    const buffer total = here && root != top ? p->space(recv.count, *recv.type) : recv;
    p->append(plan_reduce(l.between(), input, total, o, comm_rank{l.map().node_of(top)}),
              l.leaders());
    if (here && root != top) {
      p->send(total, root);
    }
  }
  if (at.rank == root && root != top) {
    p->wait();  // its part has left
    p->receive(recv, top);
  }
  return p;
}

plan_ref allreduce(position at, const void* send, const buffer& recv, op_ref o) {
  const two_levels l(at);
  auto p = std::make_shared<plan>(o);
  if (l.alone()) {
    p->append(plan_allreduce(l.between(), send, recv, std::move(o)), l.leaders());
    return p;
  }
  p->append(plan_reduce(l.inside(), input_of(send, recv), recv, o, 0), l.mine());
  if (l.leads()) {
    p->append(plan_allreduce(l.between(), in_place, recv, std::move(o)), l.leaders());
  }
  p->wait();  // what this rank gives has left, and what a leader gets is there
  p->append(plan_bcast(l.inside(), recv, 0), l.mine());
  return p;
}

plan_ref reduce_scatter(position at, const void* send, const buffer& mine,
                        std::span<const std::ptrdiff_t> counts, op_ref o) {
  const two_levels l(at);
  const node_map& map = l.map();
  const layout::datatype& type = *mine.type;
  const auto count = [&](int r) {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]);
  };
  std::vector<std::size_t> starts(counts.size());
  std::vector<std::ptrdiff_t> of_node(static_cast<std::size_t>(map.nodes()));
  std::size_t all = 0;
  for (int r = 0; r < at.size; ++r) {
    starts[static_cast<std::size_t>(r)] = std::exchange(all, all + count(r));
    of_node[static_cast<std::size_t>(map.node_of(r))] += static_cast<std::ptrdiff_t>(count(r));
  }
  auto p = std::make_shared<plan>(o);
  const void* input = input_of(send, mine);
  if (!l.alone()) {
    const buffer sum = l.leads() ? p->space(all, type) : buffer{nullptr, all, &type};
    p->append(plan_reduce(l.inside(), input, sum, o, 0), l.mine());
    if (!l.leads()) {
      p->wait();  // its operand may lie where the result goes
      receive_if_any(*p, mine, l.leader());
      return p;
    }
    input = sum.base;
  }
  if (!map.consecutive()) {
    const buffer ordered = p->space(all, type);
    std::ptrdiff_t next = 0;
    for (int k = 0; k < map.nodes(); ++k) {
      for (int r = 0; r < at.size; ++r) {
        if (map.node_of(r) == k) {
          const auto from = static_cast<std::ptrdiff_t>(starts[static_cast<std::size_t>(r)]);
          p->copy(part(input, from, count(r), type), part(ordered.base, next, count(r), type));
          next += static_cast<std::ptrdiff_t>(count(r));
        }
      }
    }
    input = ordered.base;
  }
  const auto ours = static_cast<std::size_t>(of_node[static_cast<std::size_t>(map.here())]);
  const buffer block = l.alone() ? mine : p->space(ours, type);
  p->append(plan_reduce_scatter(l.between(), input, block.base, of_node, type, std::move(o)),
            l.leaders());
  if (!l.alone()) {
    auto next = static_cast<std::ptrdiff_t>(mine.count);  // the leader's is the first
    for (const int r : l.mine().subspan(1)) {
      send_if_any(*p, part(block.base, next, count(r), type), r);
      next += static_cast<std::ptrdiff_t>(count(r));
    }
    p->copy(part(block.base, 0, mine.count, type), mine);
  }
  return p;
}

// The last rank of a node knows the total of it, and asks for that of the nodes below.
plan_ref prefix(position at, const void* send, const buffer& recv, op_ref o, bool inclusive) {
  const two_levels l(at);
  const node_map& map = l.map();
  const int last = l.inside().size - 1;
  const void* const input = input_of(send, recv);
  auto p = std::make_shared<plan>(o);
  const buffer lower = p->space(recv.count, *recv.type);
  const buffer total = l.member() == last ? p->space(recv.count, *recv.type) : buffer{};
  if (l.member() == last) {
    p->copy(part(input, 0, recv.count, *recv.type), total);
  }
  p->append(
      inclusive ? plan_scan(l.inside(), send, recv, o) : plan_exscan(l.inside(), send, recv, o),
      l.mine());
  if (l.member() == last) {
    if (inclusive) {
      p->copy(recv, total);
    } else if (!l.alone()) {
      p->combine(recv, total);
    }
    std::vector<int> lasts;
    for (int k = 1; k < map.nodes(); ++k) {
      lasts.push_back(map.first()[static_cast<std::size_t>(k)] - 1);
    }
    lasts.push_back(at.size - 1);
    p->append(plan_exscan(l.between(), total.base, lower, o), lasts);
  }
  if (map.here() == 0) {
    return p;
  }
  if (!l.alone()) {
    p->append(plan_bcast(l.inside(), lower, comm_rank{last}), l.mine());
  }
  if (!inclusive && l.member() == 0) {
    p->copy(lower, recv);
  } else {
    p->combine(lower, recv);
  }
  return p;
}

plan_ref allgather(position at, const buffer& mine, const buffer& own, const place_of& in,
                   std::byte* whole) {
  const two_levels l(at);
  const node_map& map = l.map();
  const node_order order(map, [&](int r) { return in(r).bytes(); });
  auto p = std::make_shared<plan>();
  if (order.total() == 0) {
    return p;
  }
  const bool in_order = whole != nullptr && map.consecutive();
  std::byte* const all = in_order ? whole : bytes_of(p->space(order.total()));
  if (!l.leads()) {
    send_if_any(*p, mine, l.leader());
    p->wait();  // it may lie where the others' data go
  } else {
    const buffer first = order.of_rank(all, at.rank);
    if (mine.base != first.base) {
      p->copy(mine, first);
    }
    for (const int r : l.mine().subspan(1)) {
      receive_if_any(*p, order.of_rank(all, r), r);
    }
    p->wait();
    for (int i = 1; i < map.nodes(); ++i) {
      const int k = (map.here() + map.nodes() - i) % map.nodes();
      receive_if_any(*p, order.of_node(all, k), l.leader(k));
    }
    for (int i = 1; i < map.nodes(); ++i) {
      send_if_any(*p, order.of_node(all, map.here()), l.leader((map.here() + i) % map.nodes()));
    }
    p->wait();
  }
  if (!l.alone()) {
    p->append(plan_bcast(l.inside(), buffer::of_bytes(all, order.total()), 0), l.mine());
  }
  for (int r = 0; !in_order && r < at.size; ++r) {
    if (r != at.rank || mine.base != own.base) {
      p->copy(order.of_rank(all, r), in(r));
    }
  }
  return p;
}

plan_ref gather(position at, const buffer& mine, const place_of& in, int root) {
  return gather_or_scatter(at, mine, in, root, way::up);
}

plan_ref scatter(position at, const buffer& mine, const place_of& out, int root) {
  return gather_or_scatter(at, mine, out, root, way::down);
}

// A rank's row has a block for each rank, in the order of nodes. A leader sends each node what its
// own rows have for that one, row by row, and gets as much from there.
plan_ref alltoall(position at, const place_of& out, const place_of& in, std::size_t each) {
  const two_levels l(at);
  const node_map& map = l.map();
  const node_order order(map, [&](int) { return each; });
  auto p = std::make_shared<plan>();
  const std::size_t row = order.total();
  const std::size_t members = l.mine().size();
  const buffer rows = p->space(row * (l.leads() ? members : 1));     // what they send
  const buffer answers = p->space(row * (l.leads() ? members : 1));  // what they get
  for (int r = 0; r < at.size; ++r) {
    p->copy(out(r), order.of_rank(bytes_of(rows), r));  // the leader's own row is the first
  }
  if (!l.leads()) {
    p->send(rows, l.leader());
    p->receive(answers, l.leader());
    p->wait();
  } else {
    for (std::size_t m = 1; m < members; ++m) {
      p->receive(slot(rows, m, row), l.mine()[m]);
    }
    p->wait();
    std::vector<buffer> comes(static_cast<std::size_t>(map.nodes()));
    for (int i = 0; i < map.nodes(); ++i) {
      const int k = (map.here() + i) % map.nodes();
      const auto theirs = static_cast<std::size_t>(map.count(k));
      const buffer leaves = p->space(members * theirs * each);
      for (std::size_t m = 0; m < members; ++m) {
        p->copy(order.of_node(bytes_of(slot(rows, m, row)), k), slot(leaves, m, theirs * each));
      }
      buffer& from = comes[static_cast<std::size_t>(k)];
      from = k == map.here() ? leaves : p->space(members * theirs * each);
      if (k != map.here()) {
        p->receive(from, l.leader(k));
        p->send(leaves, l.leader(k));
      }
    }
    p->wait();
    for (int k = 0; k < map.nodes(); ++k) {
      for (std::size_t s = 0; s < static_cast<std::size_t>(map.count(k)); ++s) {
        for (std::size_t m = 0; m < members; ++m) {
          const buffer from_node = order.of_node(bytes_of(slot(answers, m, row)), k);
          p->copy(slot(comes[static_cast<std::size_t>(k)], s * members + m, each),
                  slot(from_node, s, each));
        }
      }
    }
    for (std::size_t m = 1; m < members; ++m) {
      p->send(slot(answers, m, row), l.mine()[m]);
    }
  }
  for (int r = 0; r < at.size; ++r) {
    p->copy(order.of_rank(bytes_of(answers), r), in(r));
  }
  return p;
}

}  // namespace sinew::coll::by_levels
