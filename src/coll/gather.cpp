// Gather and scatter: the root deals with every rank directly, many at a time.
#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

/// in(r): where rank r's data go at the root.
template <class In>
void collect(participant at, node::team* team, collective_messages& t, const buffer& mine, int root,
             const In& in) {
  SINEW_EXPECT(root >= 0 && (mine.base != in_place || t.rank() == root));
  if (team != nullptr) {
    const auto own = [&] {
      if (mine.base != in_place) {
        t.note(copy(mine, in(root)));
      }
    };
    t.note(fault_unless(node::gather(
        *team, as_data(mine), root, node_lengths(*team, movement::gather),
        [&](int r) { return as_data(in(r)); }, own)));
    return;
  }
  if (levels* const l = levels_of(at)) {
    (void)l->gather(t, mine, in, root);
    return;
  }
  if (t.rank() != root) {
    if (mine.bytes() != 0) {
      t.send(mine, root);
    }
    return;
  }
  {
    batch b(t);
    for (int i = 1; i < t.size(); ++i) {
      const int r = (root + i) % t.size();
      const buffer into = in(r);
      if (into.bytes() != 0) {
        b.recv(into, r);
      }
    }
  }
  if (mine.base != in_place) {
    t.note(copy(mine, in(root)));
  }
}

/// out(r): what the root sends to rank r.
template <class Out>
void hand_out(participant at, node::team* team, collective_messages& t, const buffer& mine,
              int root, const Out& out) {
  SINEW_EXPECT(root >= 0 && (mine.base != in_place || t.rank() == root));
  if (team != nullptr) {
    const auto own = [&] {
      if (mine.base != in_place) {
        t.note(copy(out(root), mine));
      }
    };
    t.note(fault_unless(node::scatter(
        *team, as_data(mine), root, node_lengths(*team, movement::scatter),
        [&](int r) { return as_data(out(r)); }, own)));
    return;
  }
  if (levels* const l = levels_of(at)) {
    (void)l->scatter(t, mine, out, root);
    return;
  }
  if (t.rank() != root) {
    if (mine.bytes() != 0) {
      t.recv(mine, root);
    }
    return;
  }
  {
    batch b(t);
    for (int i = 1; i < t.size(); ++i) {
      const int r = (root + i) % t.size();
      const buffer from = out(r);
      if (from.bytes() != 0) {
        b.send(from, r);
      }
    }
  }
  if (mine.base != in_place) {
    t.note(copy(out(root), mine));
  }
}

}  // namespace

fault gather(participant at, const buffer& send, const buffer& recv, comm_rank root) {
  collective_messages t(at, "MPI_Gather", root);
  const std::size_t each = (at.comm.rank() == root ? recv : send).bytes();
  collect(at, team_for(at, each, movement::gather), t, send, root.value(),
          [&](int r) { return block(recv, r); });
  return t.outcome();
}

fault gatherv(participant at, const buffer& send, parts recv, comm_rank root) {
  collective_messages t(at, "MPI_Gatherv", root);
  collect(at, team_of(at), t, send, root.value(), [&](int r) { return block(recv, r); });
  return t.outcome();
}

fault scatter(participant at, const buffer& send, const buffer& recv, comm_rank root) {
  collective_messages t(at, "MPI_Scatter", root);
  const std::size_t each = (at.comm.rank() == root ? send : recv).bytes();
  hand_out(at, team_for(at, each, movement::scatter), t, recv, root.value(),
           [&](int r) { return block(send, r); });
  return t.outcome();
}

fault scatterv(participant at, parts send, const buffer& recv, comm_rank root) {
  collective_messages t(at, "MPI_Scatterv", root);
  hand_out(at, team_of(at), t, recv, root.value(), [&](int r) { return block(send, r); });
  return t.outcome();
}

}  // namespace sinew::coll
