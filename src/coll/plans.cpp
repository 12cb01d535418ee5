// Plans that move data: barrier, bcast, gather, scatter, allgather, alltoall, and their kin among
// neighbours. All messages of the latter, and those with a root or between all, are under way at
// once; empty ones are not sent, since both sides know their size.
#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"
#include "coll/plans_by_levels.hpp"

namespace sinew::coll {
namespace {

using plan_ptr = std::shared_ptr<plan>;

/// in(r): where rank r's data go at the root.
template <class In>
plan_ref collect(position at, const buffer& mine, int root, const In& in) {
  SINEW_EXPECT(root >= 0 && root < at.size);
  auto p = std::make_shared<plan>();
  if (at.rank != root) {
    send_if_any(*p, mine, root);
    return p;
  }
  for (int i = 1; i < at.size; ++i) {
    const int r = (root + i) % at.size;
    receive_if_any(*p, in(r), r);
  }
  if (mine.base != in_place) {
    p->copy(mine, in(root));
  }
  return p;
}

/// out(r): what the root sends to rank r.
template <class Out>
plan_ref hand_out(position at, const buffer& mine, int root, const Out& out) {
  SINEW_EXPECT(root >= 0 && root < at.size);
  auto p = std::make_shared<plan>();
  if (at.rank != root) {
    receive_if_any(*p, mine, root);
    return p;
  }
  for (int i = 1; i < at.size; ++i) {
    const int r = (root + i) % at.size;
    send_if_any(*p, out(r), r);
  }
  if (mine.base != in_place) {
    p->copy(out(root), mine);
  }
  return p;
}

/// Everybody sends out(r) to r and receives in(r) from r. Each begins with its own neighbours, so
/// that nobody is everybody's first.
template <class Out, class In>
plan_ref exchange(position at, const Out& out, const In& in) {
  auto p = std::make_shared<plan>();
  const int n = at.size;
  for (int i = 1; i < n; ++i) {
    receive_if_any(*p, in((at.rank - i + n) % n), (at.rank - i + n) % n);
  }
  for (int i = 1; i < n; ++i) {
    send_if_any(*p, out((at.rank + i) % n), (at.rank + i) % n);
  }
  p->copy(out(at.rank), in(at.rank));
  return p;
}

/// recv: one block a rank, or parts; `whole` as in by_levels.
template <class Recv>
plan_ref to_all(position at, const buffer& send, const Recv& recv, std::byte* whole) {
  const auto in = [&](int r) { return block(recv, r); };
  const buffer own = in(at.rank);
  const buffer mine = send.base == in_place ? own : send;
  return at.nodes != nullptr ? by_levels::allgather(at, mine, own, in, whole)
                             : exchange(at, [&](int) { return mine; }, in);
}

/// What is sent lies where the partners' data go: it is set aside first.
template <class Slot>
plan_ref exchange_in_place(position at, const Slot& slot) {
  auto p = std::make_shared<plan>();
  std::vector<buffer> aside(static_cast<std::size_t>(at.size));
  for (int r = 0; r < at.size; ++r) {
    const buffer here = slot(r);
    if (r != at.rank && here.bytes() != 0) {
      aside[static_cast<std::size_t>(r)] = p->space(here.bytes());
      p->copy(here, aside[static_cast<std::size_t>(r)]);
    }
  }
  for (int r = 0; r < at.size; ++r) {
    if (aside[static_cast<std::size_t>(r)].type != nullptr) {
      p->receive(slot(r), r);
      p->send(aside[static_cast<std::size_t>(r)], r);
    }
  }
  return p;
}

/// out(i), in(i): the block for the i-th destination, from the i-th source.
template <class Out, class In>
plan_ref with_neighbours(const neighbours& n, const Out& out, const In& in) {
  auto p = std::make_shared<plan>();
  exchange_with_neighbours(*p, n, out, in);
  return p;
}

}  // namespace

/// Dissemination (Hensgen, Finkel and Manber 1988): ceil(log2 n) rounds.
plan_ref plan_barrier(position at) {
  if (at.nodes != nullptr) {
    return by_levels::barrier(at);
  }
  auto p = std::make_shared<plan>();
  const int n = at.size;
  for (int distance = 1; distance < n; distance *= 2) {
    p->receive(buffer::of_bytes(static_cast<void*>(nullptr), 0), (at.rank - distance + n) % n);
    p->send(buffer::of_bytes(static_cast<void*>(nullptr), 0), (at.rank + distance) % n);
    p->wait();
  }
  return p;
}

/// A binomial tree.
plan_ref plan_bcast(position at, buffer data, comm_rank root) {
  SINEW_EXPECT(root.below(at.size));
  auto p = std::make_shared<plan>();
  if (data.bytes() == 0) {
    return p;
  }
  if (at.nodes != nullptr) {
    return by_levels::bcast(at, data, root.value());
  }
  const int n = at.size;
  const int v = (at.rank - root.value() + n) % n;
  int mask = 1;
  while (mask < n && (v & mask) == 0) {
    mask *= 2;
  }
  if (v != 0) {
    p->receive(data, (v - mask + root.value()) % n);
    p->wait();
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (v + mask < n) {
      p->send(data, (v + mask + root.value()) % n);
    }
  }
  return p;
}

plan_ref plan_gather(position at, buffer send, buffer recv, comm_rank root) {
  const auto in = [&](int r) { return block(recv, r); };
  const std::size_t each = at.rank == root.value() ? recv.bytes() : send.bytes();
  return at.nodes != nullptr && levels::collects(each)
             ? by_levels::gather(at, send, in, root.value())
             : collect(at, send, root.value(), in);
}
plan_ref plan_gatherv(position at, buffer send, parts recv, comm_rank root) {
  return collect(at, send, root.value(), [&](int r) { return block(recv, r); });
}
plan_ref plan_scatter(position at, buffer send, buffer recv, comm_rank root) {
  const auto out = [&](int r) { return block(send, r); };
  const std::size_t each = at.rank == root.value() ? send.bytes() : recv.bytes();
  return at.nodes != nullptr && levels::collects(each)
             ? by_levels::scatter(at, recv, out, root.value())
             : hand_out(at, recv, root.value(), out);
}
plan_ref plan_scatterv(position at, parts send, buffer recv, comm_rank root) {
  return hand_out(at, recv, root.value(), [&](int r) { return block(send, r); });
}

plan_ref plan_allgather(position at, buffer send, buffer recv) {
  // Without gaps all blocks are one run of bytes.
  return to_all(at, send, recv, recv.type->dense() ? static_cast<std::byte*>(recv.base) : nullptr);
}
plan_ref plan_allgatherv(position at, buffer send, parts recv) {
  return to_all(at, send, recv, nullptr);
}

plan_ref plan_alltoall(position at, buffer send, buffer recv) {
  const auto in = [&](int r) { return block(recv, r); };
  const auto out = [&](int r) { return block(send.base == in_place ? recv : send, r); };
  if (at.nodes != nullptr && levels::forwards(recv.bytes()) && recv.bytes() != 0) {
    return by_levels::alltoall(at, out, in, recv.bytes());
  }
  return send.base == in_place ? exchange_in_place(at, in) : exchange(at, out, in);
}
plan_ref plan_alltoallv(position at, parts send, parts recv) {
  const auto in = [&](int r) { return block(recv, r); };
  return send.base == in_place ? exchange_in_place(at, in)
                               : exchange(at, [&](int r) { return block(send, r); }, in);
}
plan_ref plan_alltoallw(position at, parts_w send, parts_w recv) {
  const auto in = [&](int r) { return block(recv, r); };
  return send.base == in_place ? exchange_in_place(at, in)
                               : exchange(at, [&](int r) { return block(send, r); }, in);
}

plan_ref plan_neighbour_allgather(const neighbours& n, buffer send, buffer recv) {
  return with_neighbours(n, [&](int) { return send; }, [&](int i) { return block(recv, i); });
}
plan_ref plan_neighbour_allgatherv(const neighbours& n, buffer send, parts recv) {
  return with_neighbours(n, [&](int) { return send; }, [&](int i) { return block(recv, i); });
}
plan_ref plan_neighbour_alltoall(const neighbours& n, buffer send, buffer recv) {
  return with_neighbours(
      n, [&](int i) { return block(send, i); }, [&](int i) { return block(recv, i); });
}
plan_ref plan_neighbour_alltoallv(const neighbours& n, parts send, parts recv) {
  return with_neighbours(
      n, [&](int i) { return block(send, i); }, [&](int i) { return block(recv, i); });
}
plan_ref plan_neighbour_alltoallw(const neighbours& n, parts_w send, parts_w recv) {
  return with_neighbours(
      n, [&](int i) { return block(send, i); }, [&](int i) { return block(recv, i); });
}

}  // namespace sinew::coll
