// Inclusive and exclusive prefix reductions, by recursive doubling; the order of ranks is kept.
// (Simultaneous binomial trees: Sanders and Traff, Parallel prefix (scan) algorithms for MPI,
// 2006.)
#include <utility>
#include <vector>

#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
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

/// By levels, if the ranks of each node follow each other: prefixes are of ranks in order.
levels* levels_in_order(participant at, const layout::datatype& type, const op& o) {
  levels* const l = team_of(at) == nullptr ? levels_of(at) : nullptr;
  return l != nullptr && l->map().consecutive() && l->reduces(type, o) ? l : nullptr;
}

}  // namespace

// Inside each node; then between the nodes' last ranks, who know the totals of their nodes; then
// what the lower nodes have together goes before each prefix of a node.
fault levels::prefix(collective_messages& t, const void* input, const buffer& recv, const op& o,
                     with_own own) {
  SINEW_EXPECT(map_.consecutive() && recv.count != 0);
  const std::size_t count = recv.count;
  const layout::datatype& type = *recv.type;
  const int last = static_cast<int>(map_.mine().size()) - 1;
  const scratch total(member_ == last ? count : 0, type);
  const scratch below(count, type);
  const buffer lower = part(below.base(), 0, count, type);
  if (member_ == last) {
    t.note(copy(part(input, 0, count, type), part(total.base(), 0, count, type)));
  }
  if (team_ != nullptr) {
    collective_messages inside(at_, map_.mine(), member_, t.tag());
    own == with_own::yes ? inclusive(inside, recv, o) : exclusive(inside, input, recv, o);
    t.note(inside.outcome());
  }
  if (member_ == last) {
    if (team_ != nullptr && own == with_own::yes) {
      t.note(copy(recv, part(total.base(), 0, count, type)));
    } else if (team_ != nullptr) {
      o.apply(recv.base, total.base(), count, type);
    }
    std::vector<int> lasts;
    for (int k = 1; k < map_.nodes(); ++k) {
      lasts.push_back(map_.first()[static_cast<std::size_t>(k)] - 1);
    }
    lasts.push_back(map_.ranks() - 1);
    collective_messages between(at_, lasts, map_.here(), t.tag());
    exclusive(between, total.base(), lower, o);
    t.note(between.outcome());
  }
  if (map_.here() == 0) {
    return t.outcome();
  }
  if (team_ != nullptr) {
    t.note(fault_unless(node::bcast(*team_, as_data(lower), last, node_lengths(*team_))));
  }
  if (own == with_own::no && member_ == 0) {
    t.note(copy(lower, recv));
  } else {
    o.apply(lower.base, recv.base, count, type);
  }
  return t.outcome();
}

fault scan(participant at, const void* send, const buffer& recv, const op& o) {
  collective_messages t(at, "MPI_Scan");
  if (recv.count == 0) {
    return fault::none;
  }
  if (send != in_place) {
    t.note(copy(part(send, 0, recv.count, *recv.type), recv));
  }
  if (t.size() == 1) {
    return t.outcome();
  }
  if (levels* const l = levels_in_order(at, *recv.type, o); l != nullptr) {
    return l->prefix(t, recv.base, recv, o, levels::with_own::yes);
  }
  inclusive(t, recv, o);
  return t.outcome();
}

fault exscan(participant at, const void* send, const buffer& recv, const op& o) {
  collective_messages t(at, "MPI_Exscan");
  if (recv.count == 0 || t.size() == 1) {
    return fault::none;
  }
  const void* const input = send == in_place ? recv.base : send;
  if (levels* const l = levels_in_order(at, *recv.type, o); l != nullptr) {
    return l->prefix(t, input, recv, o, levels::with_own::no);
  }
  exclusive(t, input, recv, o);
  return t.outcome();
}

}  // namespace sinew::coll
