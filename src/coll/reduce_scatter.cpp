// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by messages: rank r gets block r of the reduction.
#include <utility>
#include <vector>

#include "coll/algorithms.hpp"

namespace sinew::coll {
namespace {

/// The vector of a call, and where the blocks of the ranks lie in it, in instances.
class vector_of_blocks {
 public:
  vector_of_blocks(const position& at, const call& c)
      : blocks_(c.recv), starts_(static_cast<std::size_t>(at.size) + 1) {
    for (int r = 0; r < at.size; ++r) {
      const auto i = static_cast<std::size_t>(r);
      starts_[i + 1] = starts_[i] + static_cast<std::ptrdiff_t>(c.recv.count(r));
    }
  }
  [[nodiscard]] std::size_t total() const noexcept {
    return static_cast<std::size_t>(starts_.back());
  }
  /// Block r of the vector at `base`.
  [[nodiscard]] buffer of(const void* base, int r) const noexcept {
    return part(base, starts_[static_cast<std::size_t>(r)], blocks_.count(r), blocks_.type());
  }

 private:
  const blocks& blocks_;
  std::vector<std::ptrdiff_t> starts_;
};

buffer own_block(const position& at, const call& c) noexcept {
  return part(c.recv.base(), 0, c.recv.count(at.rank), c.recv.type());
}

}  // namespace

/// Rank 0 has the whole result in a temporary and hands out the blocks.
void reduce_scatter_root(plan& p, const position& at, const call& c) {
  const vector_of_blocks v(at, c);
  const buffer mine = own_block(at, c);
  const buffer whole =
      at.rank == 0 ? p.space(v.total(), *mine.type) : buffer{nullptr, v.total(), mine.type};
  make_reduce_tree(p, at, input_of(c), whole, 0, at.fan);
  p.wait();
  if (at.rank != 0) {
    return p.receive_if_any(mine, 0);
  }
  for (int r = 1; r < at.size; ++r) {
    p.room(1);
    p.send_if_any(v.of(whole.base, r), r);
  }
  p.copy(v.of(whole.base, 0), mine);
}

/// In step i each rank sends block rank + i to its owner and gets its own block from rank - i.
/// So the contributions of the lower ranks come in descending order, to be combined on the left
/// of this rank's own; then those of the higher ranks, also descending, gathered apart. (Pairwise
/// exchange: Thakur, Rabenseifner and Gropp 2005, see bcast.cpp.)
void reduce_scatter_pairwise(plan& p, const position& at, const call& c) {
  const int n = at.size;
  const vector_of_blocks v(at, c);
  const buffer mine = own_block(at, c);
  const void* const input = input_of(c);
  const buffer lower = p.space(mine.count, *mine.type);
  const buffer higher = p.space(mine.count, *mine.type);
  const buffer arriving = p.space(mine.count, *mine.type);
  bool any_higher = false;
  p.copy(v.of(input, at.rank), lower);
  for (int step = 1; step < n; ++step) {
    const int dest = (at.rank + step) % n;
    const int source = (at.rank - step + n) % n;
    const bool first_higher = source > at.rank && !any_higher && !p.operation().commutative;
    const buffer into = first_higher ? higher : arriving;
    p.exchange(v.of(input, dest), dest, into, source);
    if (first_higher) {
      any_higher = true;
    } else {
      p.combine(into, any_higher ? higher : lower);
    }
  }
  if (any_higher) {
    p.combine(lower, higher);
  }
  p.copy(any_higher ? higher : lower, mine);
}

/// Each rank gets its block from all at once, and combines them in their order.
void reduce_scatter_direct(plan& p, const position& at, const call& c) {
  const int n = at.size;
  const vector_of_blocks v(at, c);
  const buffer mine = own_block(at, c);
  const void* const input = input_of(c);
  std::vector<buffer> from(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    from[static_cast<std::size_t>(r)] = p.space(mine.count, *mine.type);
  }
  p.copy(v.of(input, at.rank), from[static_cast<std::size_t>(at.rank)]);
  exchange_all(
      p, at, [&](int r) { return v.of(input, r); },
      [&](int r) { return from[static_cast<std::size_t>(r)]; });
  p.wait();
  buffer sum = from.back();
  for (int r = n - 1; r > 0; --r) {
    p.combine(from[static_cast<std::size_t>(r - 1)], sum);
  }
  p.copy(sum, mine);
}

}  // namespace sinew::coll
