// Plans that combine data. Operators need not commute: a partial result covers consecutive ranks,
// and the lower ranks' result is always the left operand.
#include <utility>

#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"
#include "coll/plans_by_levels.hpp"

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
buffer reduce_to(plan& p, position at, const buffer& input, int top) {
  const int n = at.size;
  SINEW_EXPECT(top >= 0 && top < n);
  const int v = (at.rank - top + n) % n;
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
void double_up(plan& p, position at, const buffer& result) {
  const int n = at.size;
  const int rank = at.rank;
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
void prefix(plan& p, position at, const buffer& input, const buffer& result, bool inclusive) {
  turns b{p.space(input.count, *input.type), p.space(input.count, *input.type)};
  p.copy(input, b.current);
  if (inclusive) {
    p.copy(input, result);
  }
  bool empty = !inclusive;
  for (int mask = 1; mask < at.size; mask *= 2) {
    const int peer = at.rank ^ mask;
    if (peer >= at.size) {
      continue;
    }
    p.receive(b.other, peer);
    p.send(b.current, peer);
    p.wait();
    if (peer > at.rank) {
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
  SINEW_ENSURE(empty == (!inclusive && at.rank == 0));
}

/// Each rank gets its block from all, and combines them in their order.
template <class Start, class Count>
plan_ref reduce_blocks(position at, const void* send, const buffer& mine, const Start& start,
                       const Count& count, op_ref o) {
  auto p = std::make_shared<plan>(std::move(o));
  const int n = at.size;
  const layout::datatype& type = *mine.type;
  const void* input = send == in_place ? mine.base : send;
  std::vector<buffer> from(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    buffer& b = from[static_cast<std::size_t>(r)];
    b = p->space(mine.count, type);
    if (r == at.rank) {
      p->copy(part(input, start(r), mine.count, type), b);
    } else if (b.bytes() != 0) {
      p->receive(b, r);
    }
  }
  for (int i = 1; i < n; ++i) {
    const int r = (at.rank + i) % n;
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

plan_ref plan_reduce(position at, const void* send, buffer recv, op_ref o, comm_rank root) {
  SINEW_EXPECT(o != nullptr && root.below(at.size));
  if (at.nodes != nullptr && recv.count != 0 && by_levels::reduces(at, *o)) {
    return by_levels::reduce(at, send, recv, std::move(o), root.value());
  }
  const bool commutes = o->commutative;
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count == 0) {
    return p;
  }
  const buffer input = like(send == in_place ? recv.base : send, recv);
  const int top = commutes ? root.value() : 0;
  const buffer total = reduce_to(*p, at, input, top);
  if (root.value() != top && at.rank == top) {
    p->send(total, root.value());
  } else if (root.value() != top && at.rank == root.value()) {
    p->wait();  // its part has left
    p->receive(recv, top);
  } else if (at.rank == root.value()) {
    p->copy(total, recv);
  }
  return p;
}

plan_ref plan_allreduce(position at, const void* send, buffer recv, op_ref o) {
  if (at.nodes != nullptr && recv.count != 0 && by_levels::reduces(at, *o)) {
    return by_levels::allreduce(at, send, recv, std::move(o));
  }
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    if (send != in_place) {
      p->copy(like(send, recv), recv);
    }
    double_up(*p, at, recv);
  }
  return p;
}

plan_ref plan_scan(position at, const void* send, buffer recv, op_ref o) {
  if (at.nodes != nullptr && recv.count != 0 && by_levels::scans(at)) {
    return by_levels::prefix(at, send, recv, std::move(o), true);
  }
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    prefix(*p, at, like(send == in_place ? recv.base : send, recv), recv, true);
  }
  return p;
}

plan_ref plan_exscan(position at, const void* send, buffer recv, op_ref o) {
  if (at.nodes != nullptr && recv.count != 0 && by_levels::scans(at)) {
    return by_levels::prefix(at, send, recv, std::move(o), false);
  }
  auto p = std::make_shared<plan>(std::move(o));
  if (recv.count != 0) {
    prefix(*p, at, like(send == in_place ? recv.base : send, recv), recv, false);
  }
  return p;
}

plan_ref plan_reduce_scatter(position at, const void* send, void* recv,
                             std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                             op_ref o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(at.size));
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(at.rank)]);
  if (at.nodes != nullptr && by_levels::reduces(at, *o)) {
    return by_levels::reduce_scatter(at, send, {recv, own, &type}, counts, std::move(o));
  }
  std::vector<std::ptrdiff_t> starts(counts.size());
  for (std::size_t r = 1; r < counts.size(); ++r) {
    starts[r] = starts[r - 1] + counts[r - 1];
  }
  return reduce_blocks(
      at, send, {recv, own, &type}, [&](int r) { return starts[static_cast<std::size_t>(r)]; },
      [&](int r) { return static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]); },
      std::move(o));
}

plan_ref plan_reduce_scatter_block(position at, const void* send, buffer recv, op_ref o) {
  if (at.nodes != nullptr && by_levels::reduces(at, *o)) {
    const std::vector<std::ptrdiff_t> counts(static_cast<std::size_t>(at.size),
                                             static_cast<std::ptrdiff_t>(recv.count));
    return by_levels::reduce_scatter(at, send, recv, counts, std::move(o));
  }
  return reduce_blocks(
      at, send, recv, [&](int r) { return static_cast<std::ptrdiff_t>(recv.count) * r; },
      [&](int) { return recv.count; }, std::move(o));
}

}  // namespace sinew::coll
