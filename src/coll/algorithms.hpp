// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm carries a collective out: one table of rows, and one way to choose among them.
// docs/internals/collectives.md says how to add one: a maker of plans in a file, and a row.
#pragma once

#include <cstddef>
#include <span>

#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"

namespace sinew::coll {

/// What decides. All ranks of a call know it alike, so they choose alike.
struct facts {
  collective what = collective::barrier;
  int ranks = 1;
  std::size_t bytes = 0;     ///< of a block or a vector; of reduce_scatter: of all blocks together
  bool alike = true;         ///< all blocks have that many
  bool in_place = false;     ///< what is sent lies where it is received
  bool commutes = true;      ///< the operator
  bool divisible = false;    ///< a vector with an element for each rank
  bool in_call = true;       ///< blocking: the caller waits until it is over
  bool memory = false;       ///< the ranks share a node's memory, and it suits such blocks
  bool nodes = false;        ///< the ranks are on several nodes, and some share one
  bool node_memory = false;  ///< and those that share one have its memory
  bool consecutive = true;   ///< the ranks of each node follow each other
  int fan = 2;               ///< of trees that carry short messages; more than 2: crowded
};

using maker = void(plan& p, const position& at, const call& c);

struct algorithm {
  collective what;
  const char* name;  ///< in SINEW_COLL_<COLLECTIVE>
  const char* says;  ///< of `sinew info collectives`
  bool (*can)(const facts& f) = [](const facts&) { return true; };
  bool (*is_best)(const facts& f) = [](const facts&) { return true; };  ///< of those from here on
  maker* make = nullptr;
  /// Instead of a plan, in blocking calls only.
  fault (*run)(collective_messages& t, const position& at, const call& c) = nullptr;
};

/// The rows of a collective, the first that can and is best being chosen; the last always is.
[[nodiscard]] std::span<const algorithm> algorithms_of(collective what) noexcept;
/// That, or the first that the setting of the collective names and that can. Warm.
[[nodiscard]] const algorithm& choose(const facts& f) noexcept;
/// Whether that setting leaves a call to memory that all ranks share. Warm.
[[nodiscard]] bool takes_memory(collective what) noexcept;
/// "allreduce", as in settings and tools.
[[nodiscard]] const char* text_of(collective what) noexcept;

[[nodiscard]] facts facts_of(const position& at, const call& c, bool in_call) noexcept;
/// Whether the call moves and combines nothing, on all ranks.
[[nodiscard]] bool is_empty(const position& at, const call& c) noexcept;
/// Appends the steps of a call, by messages or by levels.
maker make;

// The makers, by the file that they are in.

maker barrier_tree, barrier_dissemination;                                  // barrier.cpp
maker bcast_tree, bcast_scatter_allgather;                                  // bcast.cpp
maker reduce_tree, reduce_halving;                                          // reduce.cpp
maker allreduce_tree, allreduce_doubling, allreduce_halving;                // allreduce.cpp
maker allreduce_ring;                                                       // allreduce_ring.cpp
maker reduce_pieces, allreduce_pieces, reduce_scatter_pieces;               // pieces.cpp
maker scan_doubling;                                                        // scan.cpp
maker reduce_scatter_root, reduce_scatter_pairwise, reduce_scatter_direct;  // reduce_scatter.cpp
maker gather_direct, scatter_direct;                                        // gather.cpp
maker allgather_root, allgather_bruck, allgather_direct;                    // allgather.cpp
maker alltoall_bruck, alltoall_direct, alltoall_in_place;                   // alltoall.cpp
maker neighbours_direct;                                                    // neighbours.cpp
maker barrier_levels, bcast_levels, reduce_levels, allreduce_levels, scan_levels,
    reduce_scatter_levels, gather_levels, scatter_levels, allgather_levels, alltoall_levels,
    alltoall_near;  // by_levels.cpp

// Over the memory of the node that all ranks are on (over_node.cpp), and a gather or scatter of any
// blocks by levels (bundles.cpp).
fault over_memory(collective_messages& t, const position& at, const call& c);
fault gather_bundles(collective_messages& t, const position& at, const call& c);

/// Carries out what the table chooses, in place.
fault run_chosen(collective_messages& t, const position& here, const call& c);

// Parts of several of them.

/// A tree of radix `fan`; `data` has everywhere the same number of bytes, perhaps none.
void make_bcast_tree(plan& p, const position& at, const buffer& data, int root, int fan);
/// input (in the order of ranks) into `result` at root, where alone it is looked at; `input` may be
/// `result`. A tree of radix `fan`.
void make_reduce_tree(plan& p, const position& at, const void* input, const buffer& result,
                      int root, int fan);
/// Everybody sends out(r) to r and receives in(r) from r, itself excepted. In step i the partners
/// are rank + i and rank - i, so that nobody is everybody's first. No deadlock where a window of
/// them is under way: a rank waits only for steps that it has started both halves of, and the
/// earliest unfinished step of all ranks can always finish. (The shifted order is that of pairwise
/// exchange: Thakur, Rabenseifner and Gropp 2005.)
template <class Out, class In>
void exchange_all(plan& p, const position& at, const Out& out, const In& in) {
  const int n = at.size;
  for (int i = 1; i < n; ++i) {
    const int dest = (at.rank + i) % n;
    const int source = (at.rank - i + n) % n;
    p.room(2);
    p.receive_if_any(in(source), source);
    p.send_if_any(out(dest), dest);
  }
}

/// The operand of a rank in a reduction.
[[nodiscard]] inline const void* input_of(const call& c) noexcept {
  return c.send.in_place() ? c.recv.base() : c.send.base();
}
[[nodiscard]] inline buffer like(const void* base, const buffer& b) noexcept {
  return {const_cast<void*>(base), b.count, b.type};
}
[[nodiscard]] inline buffer nothing() noexcept {
  return buffer::of_bytes(static_cast<void*>(nullptr), 0);
}

/// Two buffers in turn: `current` holds the result so far, `other` receives.
struct turns {
  buffer current;
  buffer other;

  void take_lower(plan& p) const { p.combine(other, current); }
  void take_higher(plan& p) {
    if (p.operation().commutative) {
      return take_lower(p);
    }
    p.combine(current, other);
    std::swap(current, other);
  }
};

/// Ranks folded to a power of two: of the first 2 * rest ranks the even ones hand their data to
/// their odd neighbours and sit out. The order of the ranks is kept.
struct fold {
  int core;  ///< ranks that take part
  int rest;
  int rank;  ///< this rank's number among them, -1 if it sits out

  explicit fold(const position& at) noexcept;
  [[nodiscard]] int real(int folded) const noexcept {
    SINEW_EXPECT(folded >= 0 && folded < core);
    return folded < rest ? 2 * folded + 1 : folded + rest;
  }
  /// Hands the data of those that sit out to their neighbours. False: this rank sits out.
  bool in(plan& p, const position& at, turns& b) const;
  void out(plan& p, const position& at, const buffer& result) const;
};

}  // namespace sinew::coll
