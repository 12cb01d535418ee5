// Reduce-scatter: rank r gets block r of the reduction.
#include <numeric>

#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

/// Where the blocks of the full vector begin and how long they are, in instances.
struct equal_blocks {
  std::size_t each;
  [[nodiscard]] std::ptrdiff_t start(int r) const { return static_cast<std::ptrdiff_t>(each) * r; }
  [[nodiscard]] std::size_t count(int) const { return each; }
};

struct listed_blocks {
  std::span<const std::ptrdiff_t> counts;
  [[nodiscard]] std::ptrdiff_t start(int r) const {
    return std::accumulate(counts.begin(), counts.begin() + r, std::ptrdiff_t{0});
  }
  [[nodiscard]] std::size_t count(int r) const {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]);
  }
};

/// Rank 0 has the whole result in a temporary and hands out the blocks.
template <class Blocks>
void by_root(collective_messages& t, const void* input, const buffer& mine, const Blocks& blocks,
             std::size_t total, const op& o) {
  const layout::datatype& type = *mine.type;
  scratch whole;
  if (t.rank() == 0) {
    whole.take(total, type);
  }
  reduce_tree(t, input, whole.base(), total, type, o, 0,
              tuning::short_fan(t.runtime(), t.spans_jobs()));
  if (t.rank() != 0) {
    if (mine.count != 0) {
      t.recv(mine, 0);
    }
    return;
  }
  batch b(t);
  std::ptrdiff_t start = static_cast<std::ptrdiff_t>(blocks.count(0));
  for (int r = 1; r < t.size(); ++r) {
    if (blocks.count(r) != 0) {
      b.send(part(whole.base(), start, blocks.count(r), type), r);
    }
    start += static_cast<std::ptrdiff_t>(blocks.count(r));
  }
  SINEW_ENSURE(static_cast<std::size_t>(start) == total);
  t.note(copy(part(whole.base(), 0, mine.count, type), mine));
}

/// In step i each rank sends block rank + i to its owner and gets its own block from rank - i.
/// So the contributions of the lower ranks come in descending order, to be combined on the left
/// of this rank's own; then those of the higher ranks, also descending, gathered apart. (Pairwise
/// exchange: Thakur, Rabenseifner and Gropp 2005, see bcast.cpp.)
template <class Blocks>
void pairwise(collective_messages& t, const void* input, const buffer& mine, const Blocks& blocks,
              const op& o) {
  const int n = t.size();
  const layout::datatype& type = *mine.type;
  const std::size_t count = mine.count;
  SINEW_EXPECT(count == blocks.count(t.rank()));
  const scratch low(count, type);
  const scratch high(count, type);
  const scratch arriving(count, type);
  const buffer lower = part(low.base(), 0, count, type);
  bool any_higher = false;
  t.note(copy(part(input, blocks.start(t.rank()), count, type), lower));
  for (int step = 1; step < n; ++step) {
    const int dest = (t.rank() + step) % n;
    const int source = (t.rank() - step + n) % n;
    const bool first_higher = source > t.rank() && !any_higher && !o.commutative;
    const buffer into = part(first_higher ? high.base() : arriving.base(), 0, count, type);
    t.exchange(part(input, blocks.start(dest), blocks.count(dest), type), dest, into, source);
    if (first_higher) {
      any_higher = true;
    } else if (count != 0) {
      o.apply(into.base, any_higher ? high.base() : lower.base, count, type);
    }
  }
  if (any_higher && count != 0) {
    o.apply(lower.base, high.base(), count, type);
  }
  t.note(copy(any_higher ? part(high.base(), 0, count, type) : lower, mine));
}

template <class Blocks>
void by_messages(collective_messages& t, const void* input, const buffer& mine,
                 const Blocks& blocks, std::size_t total, const op& o) {
  if (t.size() > 2 && total * mine.type->size() <= static_cast<std::size_t>(tuning::tree_bytes())) {
    by_root(t, input, mine, blocks, total, o);
  } else {
    pairwise(t, input, mine, blocks, o);
  }
}

template <class Blocks>
fault reduce_blocks(participant at, const char* name, const void* send, const buffer& mine,
                    const Blocks& blocks, const op& o) {
  collective_messages t(at, name);
  node::team* const team = team_of(at);
  const auto total = static_cast<std::size_t>(blocks.start(t.size()));
  if (total == 0) {
    return fault::none;
  }
  const void* input = send == in_place ? mine.base : send;
  if (t.size() == 1) {
    return input == mine.base ? fault::none : copy(part(input, 0, total, *mine.type), mine);
  }
  if (team != nullptr && reduces(t.size(), *mine.type)) {
    std::vector<std::size_t> starts(static_cast<std::size_t>(t.size()) + 1);
    for (int r = 0; r < t.size(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      starts[i + 1] = starts[i] + blocks.count(r);
    }
    return node_reduce_scatter(*team, input, mine, starts, o);
  }
  if (levels* const l = levels_of(at); l != nullptr && l->reduces(*mine.type, o)) {
    return l->reduce_scatter(t, input, mine, [&](int r) { return blocks.count(r); }, o);
  }
  by_messages(t, input, mine, blocks, total, o);
  return t.outcome();
}

}  // namespace

void reduce_scatter_any(collective_messages& t, const void* input, const buffer& mine,
                        std::span<const std::ptrdiff_t> counts, const op& o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(t.size()));
  const listed_blocks blocks{counts};
  by_messages(t, input, mine, blocks, static_cast<std::size_t>(blocks.start(t.size())), o);
}

fault reduce_scatter(participant at, const void* send, void* recv,
                     std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                     const op& o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(at.comm.size()));
  const listed_blocks blocks{counts};
  return reduce_blocks(at, "MPI_Reduce_scatter", send,
                       {recv, blocks.count(at.comm.rank().value()), &type}, blocks, o);
}

fault reduce_scatter_block(participant at, const void* send, const buffer& recv, const op& o) {
  return reduce_blocks(at, "MPI_Reduce_scatter_block", send, recv, equal_blocks{recv.count}, o);
}

}  // namespace sinew::coll
