// Plans of collectives between two groups. Reductions are made in each group first, and its lowest
// rank hands the result over; everything else goes straight from group to group, and empty
// messages are not sent, since both sides know their size.
#include <numeric>
#include <vector>

#include "coll/collective_messages.hpp"
#include "coll/plan.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::coll::across {
namespace {

using plan_ptr = std::shared_ptr<plan>;

position local_ranks(const intercommunicator& i) { return {i.rank().value(), i.local().size()}; }

std::vector<int> local_peers(const intercommunicator& i) {
  std::vector<int> peers(static_cast<std::size_t>(i.local().size()));
  std::iota(peers.begin(), peers.end(), i.of_local(0));
  return peers;
}

void check_root([[maybe_unused]] const intercommunicator& i, [[maybe_unused]] comm_rank root) {
  SINEW_EXPECT(root >= root_is_beside && root.value() < i.remote().size());
}

/// What the local group's data give, in the returned buffer of its rank 0.
buffer reduce_locally(plan& p, const intercommunicator& i, const buffer& send, const op_ref& o) {
  const buffer total =
      i.rank() == 0 ? p.space(send.count, *send.type) : buffer{nullptr, send.count, send.type};
  p.append(plan_reduce(local_ranks(i), send.base, total, o, 0), local_peers(i));
  p.wait();
  return total;
}

/// The lowest ranks swap what their groups have; `theirs` is looked at there only.
void swap_totals(plan& p, const intercommunicator& i, const buffer& mine, const buffer& theirs) {
  if (i.rank() == 0) {
    receive_if_any(p, theirs, i.of_remote(0));
    send_if_any(p, mine, i.of_remote(0));
    p.wait();
  }
}

template <class In>
plan_ref collect(const intercommunicator& i, const buffer& mine, comm_rank root, const In& in) {
  check_root(i, root);
  auto p = std::make_shared<plan>();
  for (int r = 0; root == root_is_here && r < i.remote().size(); ++r) {
    receive_if_any(*p, in(r), i.of_remote(r));
  }
  if (root >= 0) {
    send_if_any(*p, mine, i.of_remote(root.value()));
  }
  return p;
}

template <class Out>
plan_ref hand_out(const intercommunicator& i, const buffer& mine, comm_rank root, const Out& out) {
  check_root(i, root);
  auto p = std::make_shared<plan>();
  for (int r = 0; root == root_is_here && r < i.remote().size(); ++r) {
    send_if_any(*p, out(r), i.of_remote(r));
  }
  if (root >= 0) {
    receive_if_any(*p, mine, i.of_remote(root.value()));
  }
  return p;
}

/// Everybody sends out(r) to r and receives in(r) from r of the remote group, beginning with
/// different ones.
template <class Out, class In>
plan_ref exchange(const intercommunicator& i, const Out& out, const In& in) {
  auto p = std::make_shared<plan>();
  const int n = i.remote().size();
  for (int k = 0; k < n; ++k) {
    const int r = (i.rank().value() + k) % n;
    receive_if_any(*p, in(r), i.of_remote(r));
  }
  for (int k = 0; k < n; ++k) {
    const int r = (i.rank().value() + k) % n;
    send_if_any(*p, out(r), i.of_remote(r));
  }
  return p;
}

}  // namespace

/// A tree of the root and the group that receives.
plan_ref bcast(const intercommunicator& i, buffer data, comm_rank root) {
  check_root(i, root);
  auto p = std::make_shared<plan>();
  if (root == root_is_beside) {
    return p;
  }
  const bool here = root == root_is_here;
  const int n = here ? i.remote().size() : i.local().size();
  std::vector<int> peers = {here ? i.of_local(i.rank().value()) : i.of_remote(root.value())};
  for (int r = 0; r < n; ++r) {
    peers.push_back(here ? i.of_remote(r) : i.of_local(r));
  }
  p->append(plan_bcast(position(here ? 0 : i.rank().value() + 1, n + 1), data, 0), peers);
  return p;
}

plan_ref reduce(const intercommunicator& i, buffer send, buffer recv, op_ref o, comm_rank root) {
  check_root(i, root);
  auto p = std::make_shared<plan>(o);
  if (root == root_is_here) {
    receive_if_any(*p, recv, i.of_remote(0));
  } else if (root >= 0) {
    const buffer total = reduce_locally(*p, i, send, o);
    if (i.rank() == 0) {
      send_if_any(*p, total, i.of_remote(root.value()));
    }
  }
  return p;
}

plan_ref allreduce(const intercommunicator& i, const void* send, buffer recv, op_ref o) {
  auto p = std::make_shared<plan>(o);
  const buffer mine{const_cast<void*>(send), recv.count, recv.type};
  swap_totals(*p, i, reduce_locally(*p, i, mine, o), recv);
  p->append(plan_bcast(local_ranks(i), recv, 0), local_peers(i));
  return p;
}

plan_ref reduce_scatter(const intercommunicator& i, const void* send, void* recv,
                        std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                        op_ref o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(i.local().size()));
  auto p = std::make_shared<plan>(o);
  std::vector<std::ptrdiff_t> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::ptrdiff_t{0});
  const auto sum = static_cast<std::size_t>(starts.back() + counts.back());
  const buffer mine{const_cast<void*>(send), sum, &type};
  const buffer theirs = i.rank() == 0 ? p->space(sum, type) : buffer{nullptr, sum, &type};
  swap_totals(*p, i, reduce_locally(*p, i, mine, o), theirs);
  const auto own = static_cast<std::size_t>(counts[i.rank().index()]);
  p->append(plan_scatterv(local_ranks(i), {theirs.base, counts.data(), starts.data(), &type},
                          {recv, own, &type}, 0),
            local_peers(i));
  return p;
}

plan_ref gather(const intercommunicator& i, buffer send, buffer recv, comm_rank root) {
  return collect(i, send, root, [&](int r) { return block(recv, r); });
}
plan_ref gather(const intercommunicator& i, buffer send, parts recv, comm_rank root) {
  return collect(i, send, root, [&](int r) { return block(recv, r); });
}
plan_ref scatter(const intercommunicator& i, buffer send, buffer recv, comm_rank root) {
  return hand_out(i, recv, root, [&](int r) { return block(send, r); });
}
plan_ref scatter(const intercommunicator& i, parts send, buffer recv, comm_rank root) {
  return hand_out(i, recv, root, [&](int r) { return block(send, r); });
}

plan_ref allgather(const intercommunicator& i, buffer send, buffer recv) {
  return exchange(i, [&](int) { return send; }, [&](int r) { return block(recv, r); });
}
plan_ref allgather(const intercommunicator& i, buffer send, parts recv) {
  return exchange(i, [&](int) { return send; }, [&](int r) { return block(recv, r); });
}
plan_ref alltoall(const intercommunicator& i, buffer send, buffer recv) {
  return exchange(i, [&](int r) { return block(send, r); }, [&](int r) { return block(recv, r); });
}
plan_ref alltoall(const intercommunicator& i, parts send, parts recv) {
  return exchange(i, [&](int r) { return block(send, r); }, [&](int r) { return block(recv, r); });
}
plan_ref alltoall(const intercommunicator& i, parts_w send, parts_w recv) {
  return exchange(i, [&](int r) { return block(send, r); }, [&](int r) { return block(recv, r); });
}

}  // namespace sinew::coll::across
