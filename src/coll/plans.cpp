// Plans that move data: barrier, bcast, gather, scatter, allgather, alltoall, and their kin among
// neighbours. All messages of the latter, and those with a root or between all, are under way at
// once; empty ones are not sent, since both sides know their size.
#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"

namespace sinew::coll {
namespace {

using plan_ptr = std::shared_ptr<plan>;

/// in(r): where rank r's data go at the root.
template <class In>
plan_ref collect(const core::communicator& c, const buffer& mine, int root, const In& in) {
  SINEW_EXPECT(root >= 0 && root < c.size());
  auto p = std::make_shared<plan>();
  if (c.rank().value() != root) {
    send_if_any(*p, mine, root);
    return p;
  }
  for (int i = 1; i < c.size(); ++i) {
    const int r = (root + i) % c.size();
    receive_if_any(*p, in(r), r);
  }
  if (mine.base != in_place) {
    p->copy(mine, in(root));
  }
  return p;
}

/// out(r): what the root sends to rank r.
template <class Out>
plan_ref hand_out(const core::communicator& c, const buffer& mine, int root, const Out& out) {
  SINEW_EXPECT(root >= 0 && root < c.size());
  auto p = std::make_shared<plan>();
  if (c.rank().value() != root) {
    receive_if_any(*p, mine, root);
    return p;
  }
  for (int i = 1; i < c.size(); ++i) {
    const int r = (root + i) % c.size();
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
plan_ref exchange(const core::communicator& c, const Out& out, const In& in) {
  auto p = std::make_shared<plan>();
  const int n = c.size();
  for (int i = 1; i < n; ++i) {
    receive_if_any(*p, in((c.rank().value() - i + n) % n), (c.rank().value() - i + n) % n);
  }
  for (int i = 1; i < n; ++i) {
    send_if_any(*p, out((c.rank().value() + i) % n), (c.rank().value() + i) % n);
  }
  p->copy(out(c.rank().value()), in(c.rank().value()));
  return p;
}

/// What is sent lies where the partners' data go: it is set aside first.
template <class Slot>
plan_ref exchange_in_place(const core::communicator& c, const Slot& slot) {
  auto p = std::make_shared<plan>();
  std::vector<buffer> aside(static_cast<std::size_t>(c.size()));
  for (int r = 0; r < c.size(); ++r) {
    const buffer here = slot(r);
    if (r != c.rank().value() && here.bytes() != 0) {
      aside[static_cast<std::size_t>(r)] = p->space(here.bytes());
      p->copy(here, aside[static_cast<std::size_t>(r)]);
    }
  }
  for (int r = 0; r < c.size(); ++r) {
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
plan_ref plan_barrier(const core::communicator& c) {
  auto p = std::make_shared<plan>();
  const int n = c.size();
  for (int distance = 1; distance < n; distance *= 2) {
    p->receive(buffer::of_bytes(static_cast<void*>(nullptr), 0),
               (c.rank().value() - distance + n) % n);
    p->send(buffer::of_bytes(static_cast<void*>(nullptr), 0), (c.rank().value() + distance) % n);
    p->wait();
  }
  return p;
}

/// A binomial tree.
plan_ref plan_bcast(const core::communicator& c, buffer data, comm_rank root) {
  SINEW_EXPECT(root.below(c.size()));
  auto p = std::make_shared<plan>();
  if (data.bytes() == 0) {
    return p;
  }
  const int n = c.size();
  const int v = (c.rank().value() - root.value() + n) % n;
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

plan_ref plan_gather(const core::communicator& c, buffer send, buffer recv, comm_rank root) {
  return collect(c, send, root.value(), [&](int r) { return block(recv, r); });
}
plan_ref plan_gatherv(const core::communicator& c, buffer send, parts recv, comm_rank root) {
  return collect(c, send, root.value(), [&](int r) { return block(recv, r); });
}
plan_ref plan_scatter(const core::communicator& c, buffer send, buffer recv, comm_rank root) {
  return hand_out(c, recv, root.value(), [&](int r) { return block(send, r); });
}
plan_ref plan_scatterv(const core::communicator& c, parts send, buffer recv, comm_rank root) {
  return hand_out(c, recv, root.value(), [&](int r) { return block(send, r); });
}

plan_ref plan_allgather(const core::communicator& c, buffer send, buffer recv) {
  const buffer mine = send.base == in_place ? block(recv, c.rank().value()) : send;
  return exchange(c, [&](int) { return mine; }, [&](int r) { return block(recv, r); });
}
plan_ref plan_allgatherv(const core::communicator& c, buffer send, parts recv) {
  const buffer mine = send.base == in_place ? block(recv, c.rank().value()) : send;
  return exchange(c, [&](int) { return mine; }, [&](int r) { return block(recv, r); });
}

plan_ref plan_alltoall(const core::communicator& c, buffer send, buffer recv) {
  const auto in = [&](int r) { return block(recv, r); };
  return send.base == in_place ? exchange_in_place(c, in)
                               : exchange(c, [&](int r) { return block(send, r); }, in);
}
plan_ref plan_alltoallv(const core::communicator& c, parts send, parts recv) {
  const auto in = [&](int r) { return block(recv, r); };
  return send.base == in_place ? exchange_in_place(c, in)
                               : exchange(c, [&](int r) { return block(send, r); }, in);
}
plan_ref plan_alltoallw(const core::communicator& c, parts_w send, parts_w recv) {
  const auto in = [&](int r) { return block(recv, r); };
  return send.base == in_place ? exchange_in_place(c, in)
                               : exchange(c, [&](int r) { return block(send, r); }, in);
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
