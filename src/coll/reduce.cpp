// Reduce and allreduce. Operators need not commute: unless an algorithm says so, every partial
// result covers consecutive ranks, and the lower ranks' result is always the left operand.
//
// Short vectors go by recursive doubling or a tree, long ones by recursive halving and doubling,
// and the ranks above a power of two are folded in and out: Rabenseifner, Optimization of
// collective reduction operations, 2004; Thakur, Rabenseifner and Gropp 2005 (see bcast.cpp).
#include <utility>

#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

int power_of_two_below(int n) noexcept {
  int p = 1;
  while (2 * p <= n) {
    p *= 2;
  }
  return p;
}

/// Ranks folded to a power of two: of the first 2 * rest ranks the even ones hand their data to
/// their odd neighbours and sit out. The order of the ranks is kept.
struct fold {
  int core;  ///< ranks that take part
  int rest;
  int rank;  ///< this rank's number among them, -1 if it sits out

  fold(int rank_now, int n) noexcept
      : core(power_of_two_below(n)),
        rest(n - core),
        rank(rank_now >= 2 * rest ? rank_now - rest
             : rank_now % 2 != 0  ? rank_now / 2
                                  : -1) {
    SINEW_ENSURE(rank < core && rest < core);
    SINEW_ENSURE(rank < 0 || real(rank) == rank_now);
  }
  [[nodiscard]] int real(int folded) const noexcept {
    SINEW_EXPECT(folded >= 0 && folded < core);
    return folded < rest ? 2 * folded + 1 : folded + rest;
  }
};

/// Two buffers in turn: `current` holds this rank's result so far, `other` receives.
struct pair_of_buffers {
  std::byte* current;
  std::byte* other;

  /// `other` holds the result of higher ranks.
  void take_higher(const op& o, std::size_t count, const layout::datatype& type) {
    if (o.commutative) {
      return take_lower(o, count, type);
    }
    o.apply(current, other, count, type);
    std::swap(current, other);
  }
  void take_lower(const op& o, std::size_t count, const layout::datatype& type) {
    o.apply(other, current, count, type);
  }
};

/// Hands the data of those that sit out to their neighbours. False: this rank sits out.
bool fold_in(collective_messages& t, const fold& f, pair_of_buffers& b, std::size_t count,
             const layout::datatype& type, const op& o) {
  if (t.rank() >= 2 * f.rest) {
    return true;
  }
  if (f.rank < 0) {
    t.send(part(b.current, 0, count, type), t.rank() + 1);
    return false;
  }
  t.recv(part(b.other, 0, count, type), t.rank() - 1);
  b.take_lower(o, count, type);
  return true;
}

void fold_out(collective_messages& t, const fold& f, const buffer& result) {
  if (t.rank() >= 2 * f.rest) {
    return;
  }
  if (f.rank < 0) {
    t.recv(result, t.rank() + 1);
  } else {
    t.send(result, t.rank() - 1);
  }
}

/// log2(n) exchanges of everything.
void doubling(collective_messages& t, const buffer& result, const op& o) {
  const scratch spare(result.count, *result.type);
  const fold f(t.rank(), t.size());
  pair_of_buffers b{static_cast<std::byte*>(result.base), spare.base()};
  if (fold_in(t, f, b, result.count, *result.type, o)) {
    for (int mask = 1; mask < f.core; mask *= 2) {
      const int peer = f.rank ^ mask;
      t.exchange(part(b.current, 0, result.count, *result.type), f.real(peer),
                 part(b.other, 0, result.count, *result.type), f.real(peer));
      if (peer < f.rank) {
        b.take_lower(o, result.count, *result.type);
      } else {
        b.take_higher(o, result.count, *result.type);
      }
    }
    if (b.current != result.base) {
      t.note(copy(part(b.current, 0, result.count, *result.type), result));
    }
  }
  fold_out(t, f, result);
}

/// `count` instances cut into as many pieces as ranks take part.
struct division {
  const layout::datatype& type;
  std::size_t count;
  int pieces;
  [[nodiscard]] std::size_t start(int i) const noexcept {
    SINEW_EXPECT(i >= 0 && i <= pieces);
    return count / static_cast<std::size_t>(pieces) * static_cast<std::size_t>(i) +
           count % static_cast<std::size_t>(pieces) * static_cast<std::size_t>(i) /
               static_cast<std::size_t>(pieces);
  }
  [[nodiscard]] buffer of(const void* base, int first, int last) const noexcept {
    return part(base, static_cast<std::ptrdiff_t>(start(first)), start(last) - start(first), type);
  }
};

/// Recursive halving: each exchange halves what a rank is responsible for, until rank r of the
/// core holds piece r of the result in `mine`. The operator must commute.
void halve(collective_messages& t, const fold& f, const division& d, std::byte* mine,
           std::byte* theirs, const op& o) {
  SINEW_EXPECT(o.commutative);
  int first = 0;
  for (int mask = f.core / 2; mask > 0; mask /= 2) {
    const int peer = f.real(f.rank ^ mask);
    const bool upper = (f.rank & mask) != 0;
    const int keep = upper ? first + mask : first;
    const int give = upper ? first : first + mask;
    const buffer into = d.of(theirs, keep, keep + mask);
    t.exchange(d.of(mine, give, give + mask), peer, into, peer);
    const buffer kept = d.of(mine, keep, keep + mask);
    if (kept.count != 0) {
      o.apply(into.base, kept.base, kept.count, d.type);
    }
    first = keep;
  }
  SINEW_ENSURE(first == f.rank);
}

/// Halving, then the pieces are collected by doubling: every byte is sent and combined about once
/// per rank. The operator must commute.
void halving_doubling(collective_messages& t, const buffer& result, const op& o) {
  const scratch spare(result.count, *result.type);
  const fold f(t.rank(), t.size());
  const division d{*result.type, result.count, f.core};
  auto* mine = static_cast<std::byte*>(result.base);
  pair_of_buffers b{mine, spare.base()};
  if (fold_in(t, f, b, result.count, *result.type, o)) {
    halve(t, f, d, mine, spare.base(), o);
    for (int mask = 1; mask < f.core; mask *= 2) {
      const int first = f.rank & ~(mask - 1);
      const int theirs = first ^ mask;
      const int peer = f.real(f.rank ^ mask);
      t.exchange(d.of(mine, first, first + mask), peer, d.of(mine, theirs, theirs + mask), peer);
    }
  }
  fold_out(t, f, result);
}

/// Halving, then the root collects the pieces. The operator must commute.
void halving_collect(collective_messages& t, const void* input, void* result, std::size_t count,
                     const layout::datatype& type, const op& o, int root) {
  scratch own;
  if (t.rank() != root) {
    own.take(count, type);
  }
  auto* mine = t.rank() == root ? static_cast<std::byte*>(result) : own.base();
  if (input != mine) {
    t.note(copy(part(input, 0, count, type), part(mine, 0, count, type)));
  }
  const scratch spare(count, type);
  const fold f(t.rank(), t.size());
  const division d{type, count, f.core};
  pair_of_buffers b{mine, spare.base()};
  if (fold_in(t, f, b, count, type, o)) {
    halve(t, f, d, mine, spare.base(), o);
  }
  batch pieces(t);
  if (t.rank() != root) {
    if (f.rank < 0) {
      return;
    }
    const buffer piece = d.of(mine, f.rank, f.rank + 1);
    if (piece.count != 0) {
      pieces.send(piece, root);
    }
    return;
  }
  for (int i = 0; i < f.core; ++i) {
    const buffer piece = d.of(mine, i, i + 1);
    if (i != f.rank && piece.count != 0) {
      pieces.recv(piece, f.real(i));
    }
  }
}

bool divisible(const collective_messages& t, const buffer& b, const op& o) {
  return o.commutative && t.size() > 1 && b.count >= static_cast<std::size_t>(t.size()) &&
         b.bytes() >= static_cast<std::size_t>(tuning::long_reduce());
}

}  // namespace

void reduce_tree(collective_messages& t, const void* input, void* result, std::size_t count,
                 const layout::datatype& type, const op& o, int root, int fan) {
  SINEW_EXPECT(root >= 0 && root < t.size() && fan >= 2);
  const int n = t.size();
  // Rotating the ranks would break the order of an operator that does not commute.
  const int top = o.commutative ? root : 0;
  const int v = (t.rank() - top + n) % n;
  const auto real = [&](int relative) { return (relative + top) % n; };
  // `sofar` is this rank's input until the first child's data lie in one of two buffers; then they
  // take turns. At the root the user's buffer is one of them, unless it holds the input.
  scratch space[2];
  std::byte* free_buffers[2] = {nullptr, nullptr};
  const bool at_top = t.rank() == root && v == 0;
  if (at_top && input != result) {
    free_buffers[0] = static_cast<std::byte*>(result);
  }
  const auto* sofar = static_cast<const std::byte*>(input);
  int turn = 0;
  int mask = 1;
  for (; mask < n && (v / mask) % fan == 0; mask *= fan) {
    for (int d = 1; d < fan && v + d * mask < n; ++d) {
      if (free_buffers[turn] == nullptr) {
        space[turn].take(count, type);
        free_buffers[turn] = space[turn].base();
      }
      const buffer into = part(free_buffers[turn], 0, count, type);
      t.recv(into, real(v + d * mask));
      o.apply(sofar, into.base, count, type);
      sofar = static_cast<const std::byte*>(into.base);
      turn = 1 - turn;
      if (at_top && input == result && free_buffers[turn] == nullptr) {
        free_buffers[turn] = static_cast<std::byte*>(result);  // its input has been combined
      }
    }
  }
  if (v != 0) {
    t.send(part(sofar, 0, count, type), real(v - (v / mask) % fan * mask));
  } else if (top != root) {
    t.send(part(sofar, 0, count, type), root);
  } else if (sofar != result) {
    t.note(copy(part(sofar, 0, count, type), part(result, 0, count, type)));
  }
  if (t.rank() == root && top != root) {
    t.recv(part(result, 0, count, type), top);
  }
}

void reduce_any(collective_messages& t, const void* input, const buffer& result, const op& o,
                int root) {
  if (divisible(t, result, o)) {
    halving_collect(t, input, result.base, result.count, *result.type, o, root);
  } else {
    const bool small = result.bytes() <= static_cast<std::size_t>(tuning::tree_bytes());
    const int fan = small ? tuning::short_fan(t.runtime(), t.spans_jobs()) : 2;
    reduce_tree(t, input, result.base, result.count, *result.type, o, root, fan);
  }
}

void allreduce_any(collective_messages& t, const void* input, const buffer& result, const op& o) {
  const int fan = tuning::short_fan(t.runtime(), t.spans_jobs());
  if (fan > 2 && result.bytes() <= static_cast<std::size_t>(tuning::tree_bytes())) {
    reduce_tree(t, input, result.base, result.count, *result.type, o, 0, fan);
    return bcast_tree(t, result, 0, fan);
  }
  if (input != result.base) {
    t.note(copy(part(input, 0, result.count, *result.type), result));
  }
  if (divisible(t, result, o)) {
    halving_doubling(t, result, o);
  } else {
    doubling(t, result, o);
  }
}

fault reduce(participant at, const void* send, const buffer& recv, const op& o, comm_rank root) {
  collective_messages t(at, "MPI_Reduce", root);
  node::team* const team = team_of(at);
  if (recv.count == 0) {
    return fault::none;
  }
  const void* input = send == in_place ? recv.base : send;
  if (t.size() == 1) {
    return input == recv.base ? fault::none : copy(part(input, 0, recv.count, *recv.type), recv);
  }
  if (team != nullptr && reduces(t.size(), *recv.type)) {
    return node_reduce(*team, input, recv, o, root.value());
  }
  if (levels* const l = levels_of(at); l != nullptr && l->reduces(*recv.type, o)) {
    return l->reduce(t, input, recv, o, root.value());
  }
  reduce_any(t, input, recv, o, root.value());
  return t.outcome();
}

fault allreduce(participant at, const void* send, const buffer& recv, const op& o) {
  collective_messages t(at, "MPI_Allreduce");
  node::team* const team = team_of(at);
  if (recv.count == 0) {
    return fault::none;
  }
  const void* input = send == in_place ? recv.base : send;
  if (t.size() == 1) {
    return input == recv.base ? fault::none : copy(part(input, 0, recv.count, *recv.type), recv);
  }
  if (team != nullptr && reduces(t.size(), *recv.type)) {
    return node_allreduce(*team, input, recv, o);
  }
  if (levels* const l = levels_of(at); l != nullptr && l->reduces(*recv.type, o)) {
    return l->allreduce(t, input, recv, o);
  }
  allreduce_any(t, input, recv, o);
  return t.outcome();
}

}  // namespace sinew::coll
