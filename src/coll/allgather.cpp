// Allgather: everybody gets everybody's block.
#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

/// After round k a rank holds, packed, the blocks of the 2^k ranks from its own upwards; the last
/// round brings what is still missing. ceil(log2 n) rounds for any n (Bruck, Ho, Kipnis, Upfal and
/// Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing
/// systems, 1997).
void store_and_forward(collective_messages& t, const buffer& mine, const buffer& recv) {
  const int n = t.size();
  const std::size_t each = recv.bytes();
  scratch packed(each * static_cast<std::size_t>(n));
  const auto blocks = [&](int first, int count) {
    return buffer::of_bytes(packed.base() + each * static_cast<std::size_t>(first),
                            each * static_cast<std::size_t>(count));
  };
  layout::pack(*mine.type, mine.count, mine.base, 0, {packed.base(), each});
  for (int held = 1; held < n; held *= 2) {
    const int count = 2 * held <= n ? held : n - held;
    SINEW_ASSERT(count > 0 && held + count <= n);
    t.exchange(blocks(0, count), (t.rank() - held + n) % n, blocks(held, count),
               (t.rank() + held) % n);
  }
  const auto unpack = [&](int first_held, int first_rank, int count) {
    const buffer from = blocks(first_held, count);
    layout::unpack(*recv.type, recv.count * static_cast<std::size_t>(count),
                   block(recv, first_rank).base, 0,
                   {static_cast<const std::byte*>(from.base), from.bytes()});
  };
  unpack(0, t.rank(), n - t.rank());
  if (t.rank() != 0) {
    unpack(n - t.rank(), 0, t.rank());
  }
}

/// One rank collects and tells everybody: two waits per rank instead of log2(n).
void through_one(collective_messages& t, const buffer& mine, const buffer& recv, int fan) {
  SINEW_EXPECT(t.size() > 1);
  if (t.rank() != 0) {
    t.send(mine, 0);
  } else {
    {
      batch b(t);
      for (int r = 1; r < t.size(); ++r) {
        b.recv(block(recv, r), r);
      }
    }
    if (mine.base != recv.base) {
      t.note(copy(mine, recv));
    }
  }
  bcast_tree(t, {recv.base, recv.count * static_cast<std::size_t>(t.size()), recv.type}, 0, fan);
}

template <class In>
fault allgather_over(node::team& t, const buffer& mine, const buffer& own, const In& in) {
  const bool fits =
      node::allgather(t, as_data(mine), node_lengths(t), [&](int r) { return as_data(in(r)); });
  const fault kept = mine.base == own.base ? fault::none : copy(mine, own);
  return fits ? kept : fault::truncated;
}

}  // namespace

fault allgather(participant at, const buffer& send, const buffer& recv) {
  collective_messages t(at, "MPI_Allgather");
  node::team* const team = team_for(at, recv.bytes());
  if (recv.bytes() == 0) {
    return fault::none;
  }
  const buffer own = block(recv, t.rank());
  const buffer mine = send.base == in_place ? own : send;
  if (team != nullptr) {
    return allgather_over(*team, mine, own, [&](int r) { return block(recv, r); });
  }
  if (levels* const l = levels_of(at)) {
    const layout::datatype& type = *recv.type;
    const bool whole = type.dense();  // then all blocks are one run of bytes
    return l->allgather(
        t, mine, own, [&](int r) { return block(recv, r); },
        whole ? static_cast<std::byte*>(recv.base) : nullptr);
  }
  const std::size_t all = recv.bytes() * static_cast<std::size_t>(t.size());
  const int fan = tuning::short_fan(t.runtime(), t.spans_jobs());
  if (t.size() > 2 && fan > 2 && all <= static_cast<std::size_t>(tuning::tree_bytes())) {
    through_one(t, mine, recv, fan);
  } else if (t.size() > 2 && all < static_cast<std::size_t>(tuning::long_allgather())) {
    if (mine.bytes() != recv.bytes()) {
      t.note(fault::truncated);
    }
    store_and_forward(t, mine, recv);
  } else {
    exchange_all(t, [&](int) { return mine; }, [&](int r) { return block(recv, r); });
    if (mine.base != own.base) {
      t.note(copy(mine, own));
    }
  }
  return t.outcome();
}

fault allgatherv(participant at, const buffer& send, parts recv) {
  collective_messages t(at, "MPI_Allgatherv");
  const buffer own = block(recv, t.rank());
  const buffer mine = send.base == in_place ? own : send;
  if (node::team* const team = team_of(at)) {
    return allgather_over(*team, mine, own, [&](int r) { return block(recv, r); });
  }
  if (levels* const l = levels_of(at)) {
    return l->allgather(t, mine, own, [&](int r) { return block(recv, r); }, nullptr);
  }
  exchange_all(t, [&](int) { return mine; }, [&](int r) { return block(recv, r); });
  if (mine.base != own.base) {
    t.note(copy(mine, own));
  }
  return t.outcome();
}

}  // namespace sinew::coll
