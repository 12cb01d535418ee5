// Inclusive and exclusive prefix reductions, by recursive doubling; the order of ranks is kept.
// (Simultaneous binomial trees: Sanders and Traff, Parallel prefix (scan) algorithms for MPI,
// 2006.)
#include <utility>

#include "coll/collective_messages.hpp"
#include "coll/scratch.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

/// After the round with distance `mask` a rank knows the total of its group of 2 * mask ranks
/// (as far as they exist: a rank of an incomplete group never sends to a higher group) and the
/// prefix within it. `prefix` is inclusive; it starts as the input.
void inclusive(collective_messages& t, const buffer& prefix, const op& o) {
  SINEW_EXPECT(t.size() > 1 && prefix.count != 0);
  const std::size_t count = prefix.count;
  const layout::datatype& type = *prefix.type;
  const scratch a(count, type);
  const scratch b(count, type);
  std::byte* total = a.base();
  std::byte* theirs = b.base();
  t.note(copy(prefix, part(total, 0, count, type)));
  for (int mask = 1; mask < t.size(); mask *= 2) {
    const int peer = t.rank() ^ mask;
    if (peer >= t.size()) {
      continue;
    }
    t.exchange(part(total, 0, count, type), peer, part(theirs, 0, count, type), peer);
    if (peer < t.rank()) {
      o.apply(theirs, prefix.base, count, type);
      o.apply(theirs, total, count, type);
    } else {
      o.apply(total, theirs, count, type);
      std::swap(total, theirs);
    }
  }
}

/// The same, but the prefix starts empty: the first lower total is copied into it.
void exclusive(collective_messages& t, const void* input, const buffer& prefix, const op& o) {
  const std::size_t count = prefix.count;
  const layout::datatype& type = *prefix.type;
  const scratch a(count, type);
  const scratch b(count, type);
  std::byte* total = a.base();
  std::byte* theirs = b.base();
  t.note(copy(part(input, 0, count, type), part(total, 0, count, type)));
  bool empty = true;
  for (int mask = 1; mask < t.size(); mask *= 2) {
    const int peer = t.rank() ^ mask;
    if (peer >= t.size()) {
      continue;
    }
    t.exchange(part(total, 0, count, type), peer, part(theirs, 0, count, type), peer);
    if (peer > t.rank()) {
      o.apply(total, theirs, count, type);
      std::swap(total, theirs);
      continue;
    }
    if (empty) {
      t.note(copy(part(theirs, 0, count, type), prefix));
      empty = false;
    } else {
      o.apply(theirs, prefix.base, count, type);
    }
    o.apply(theirs, total, count, type);
  }
  SINEW_ENSURE(empty == (t.rank() == 0));
}

}  // namespace

fault scan(participant at, const void* send, buffer recv, const op& o) {
  collective_messages t(at, "MPI_Scan");
  if (recv.count == 0) {
    return fault::none;
  }
  if (send != in_place) {
    t.note(copy(part(send, 0, recv.count, *recv.type), recv));
  }
  if (t.size() > 1) {
    inclusive(t, recv, o);
  }
  return t.outcome();
}

fault exscan(participant at, const void* send, buffer recv, const op& o) {
  collective_messages t(at, "MPI_Exscan");
  if (recv.count == 0 || t.size() == 1) {
    return fault::none;
  }
  exclusive(t, send == in_place ? recv.base : send, recv, o);
  return t.outcome();
}

}  // namespace sinew::coll
