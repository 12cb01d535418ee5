// Plans that combine data. Operators need not commute: a partial result covers consecutive ranks,
// and the lower ranks' result is always the left operand.
#include <utility>

#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"

namespace sinew::coll {
namespace {

[[nodiscard]] buffer like(const void* base, const buffer& b) {
  return {const_cast<void*>(base), b.count, b.type};
}

/// Two buffers in turn: `current` holds the result so far, `other` receives.
struct turns {
  buffer current;
  buffer other;

  void take_lower(plan& p) const { p.combine(other, current); }
  void take_higher(plan& p) {
    p.combine(current, other);
    std::swap(current, other);
  }
};

/// A binomial tree to `top`, whose number is 0; for operators that do not commute that is rank 0.
/// The result lies in the returned buffer of `top`.
buffer reduce_to(plan& p, const core::communicator& c, const buffer& input, int top) {
  const int n = c.size();
  SINEW_EXPECT(top >= 0 && top < n);
  const int v = (c.rank().value() - top + n) % n;
  turns b{p.space(input.count, *input.type), p.space(input.count, *input.type)};
  p.copy(input, b.current);
  int mask = 1;
  for (; mask < n && (v & mask) == 0; mask *= 2) {
    if (v + mask < n) {
      p.receive(b.other, (v + mask + top) % n);
      p.wait();
      b.take_higher(p);
    }
  }
  if (v != 0) {
    p.send(b.current, (v - mask + top) % n);
  }
  return b.current;
}

/// Recursive doubling among a power of two of the ranks: of the first 2 * rest ranks the even ones
/// hand their data to their odd neighbours and get the result from them (as in reduce.cpp).
void double_up(plan& p, const core::communicator& c, const buffer& result) {
  const int n = c.size();
  const int rank = c.rank().value();
  int core = 1;
  while (2 * core <= n) {
    core *= 2;
  }
  const int rest = n - core;
  SINEW_ASSERT(rest >= 0 && rest < core);
  const auto real = [rest](int folded) { return folded < rest ? 2 * folded + 1 : folded + rest; };
  turns b{result, p.space(result.count, *result.type)};
  if (rank < 2 * rest && rank % 2 == 0) {
    p.send(b.current, rank + 1);
    p.wait();
    p.receive(result, rank + 1);
    return;
  }
  if (rank < 2 * rest) {
    p.receive(b.other, rank - 1);
    p.wait();
    b.take_lower(p);
  }
  const int mine = rank < 2 * rest ? rank / 2 : rank - rest;
  for (int mask = 1; mask < core; mask *= 2) {
    const int peer = mine ^ mask;
    p.receive(b.other, real(peer));
    p.send(b.current, real(peer));
    p.wait();
    peer < mine ? b.take_lower(p) : b.take_higher(p);
  }
  p.copy(b.current, result);
  if (rank < 2 * rest) {
    p.send(result, rank - 1);
  }
}

/// After the round with distance `mask` a rank knows the total of its group of 2 * mask ranks and
/// the prefix within it (as in scan.cpp).
void prefix(plan& p, const core::communicator& c, const buffer& input, const buffer& result,
            bool inclusive) {
  turns b{p.space(input.count, *input.type), p.space(input.count, *input.type)};
  p.copy(input, b.current);
  if (inclusive) {
    p.copy(input, result);
  }
  bool empty = !inclusive;
  for (int mask = 1; mask < c.size(); mask *= 2) {
    const int peer = c.rank().value() ^ mask;
    if (peer >= c.size()) {
      continue;
    }
    p.receive(b.other, peer);
    p.send(b.current, peer);
    p.wait();
    if (peer > c.rank().value()) {
      b.take_higher(p);
      continue;
    }
    if (empty) {
      p.copy(b.other, result);
      empty = false;
    } else {
      p.combine(b.other, result);
    }
    b.take_lower(p);
  }
  SINEW_ENSURE(empty == (!inclusive && c.rank().value() == 0));
}

/// Each rank gets its block from all, and combines them in their order.
template <class Start, class Count>
plan_ref reduce_blocks(const core::communicator& c, const void* send, const buffer& mine,
                       const Start& start, const Count& count, op_ref o) {
  auto p = std::make_shared<plan>(std::move(o));
  const int n = c.size();
  const layout::datatype& type = *mine.type;
  const void* input = send == in_place ? mine.base : send;
  std::vector<buffer> from(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    buffer& b = from[static_cast<std::size_t>(r)];
    b = p->space(mine.count, type);
    if (r == c.rank().value()) {
      p->copy(part(input, start(r), mine.count, type), b);
    } else if (b.bytes() != 0) {
      p->receive(b, r);
    }
  }
  for (int i = 1; i < n; ++i) {
    const int r = (c.rank().value() + i) % n;
    const buffer theirs = part(input, start(r), count(r), type);
    if (theirs.bytes() != 0) {
      p->send(theirs, r);
    }
  }
  p->wait();
  for (int r = n - 1; r > 0; --r) {
    p->combine(from[static_cast<std::size_t>(r - 1)], from[static_cast<std::size_t>(r)]);
    // The result so far is in `r`: the next lower operand takes it from there.
    std::swap(from[static_cast<std::size_t>(r - 1)], from[static_cast<std::size_t>(r)]);
  }
  p->copy(from[0], mine);
  return p;
}

}  // namespace

plan_ref plan_reduce(const core::communicator& c, const void* send, buffer recv, op_ref o,
                     comm_rank root) {
  SINEW_EXPECT(o != nullptr && root.below(c.size()));
  const bool commutes = o->commutative;
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count == 0) {
    return p;
  }
  const buffer input = like(send == in_place ? recv.base : send, recv);
  const int top = commutes ? root.value() : 0;
  const buffer total = reduce_to(*p, c, input, top);
  if (root.value() != top && c.rank().value() == top) {
    p->send(total, root.value());
  } else if (root.value() != top && c.rank() == root) {
    p->wait();  // its part has left
    p->receive(recv, top);
  } else if (c.rank() == root) {
    p->copy(total, recv);
  }
  return p;
}

plan_ref plan_allreduce(const core::communicator& c, const void* send, buffer recv, op_ref o) {
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    if (send != in_place) {
      p->copy(like(send, recv), recv);
    }
    double_up(*p, c, recv);
  }
  return p;
}

plan_ref plan_scan(const core::communicator& c, const void* send, buffer recv, op_ref o) {
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    prefix(*p, c, like(send == in_place ? recv.base : send, recv), recv, true);
  }
  return p;
}

plan_ref plan_exscan(const core::communicator& c, const void* send, buffer recv, op_ref o) {
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    prefix(*p, c, like(send == in_place ? recv.base : send, recv), recv, false);
  }
  return p;
}

plan_ref plan_reduce_scatter(const core::communicator& c, const void* send, void* recv,
                             std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                             op_ref o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(c.size()));
  std::vector<std::ptrdiff_t> starts(counts.size());
  for (std::size_t r = 1; r < counts.size(); ++r) {
    starts[r] = starts[r - 1] + counts[r - 1];
  }
  const auto own = static_cast<std::size_t>(counts[c.rank().index()]);
  return reduce_blocks(
      c, send, {recv, own, &type}, [&](int r) { return starts[static_cast<std::size_t>(r)]; },
      [&](int r) { return static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]); },
      std::move(o));
}

plan_ref plan_reduce_scatter_block(const core::communicator& c, const void* send, buffer recv,
                                   op_ref o) {
  return reduce_blocks(
      c, send, recv, [&](int r) { return static_cast<std::ptrdiff_t>(recv.count) * r; },
      [&](int) { return recv.count; }, std::move(o));
}

}  // namespace sinew::coll
