// SPDX-License-Identifier: BSD-3-Clause
// Collectives between two groups. Reductions are made in each group first, and its lowest rank
// hands the result over; everything else goes straight from group to group, and empty messages are
// not sent, since both sides know their size.
#include <numeric>
#include <vector>

#include "coll/algorithms.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::coll {
namespace {

/// The steps of one rank of an intercommunicator.
class across {
 public:
  across(plan& p, const intercommunicator& i) : p_(p), i_(i) {
    locals_.resize(static_cast<std::size_t>(i.local().size()));
    std::iota(locals_.begin(), locals_.end(), i.of_local(0));
  }

  void add(const call& c) {
    SINEW_EXPECT(c.root >= root_is_beside && c.root.value() < remotes());
    switch (c.what) {
      case collective::bcast:
        return bcast(c);
      case collective::reduce:
        return reduce(c);
      case collective::allreduce:
        return allreduce(c);
      case collective::reduce_scatter:
        return reduce_scatter(c);
      case collective::gather:
        return with_root(c, c.send, c.recv, true);
      case collective::scatter:
        return with_root(c, c.recv, c.send, false);
      case collective::allgather:
        return exchange([&](int) { return c.send.each(); }, c.recv);
      default:
        SINEW_EXPECT(c.what == collective::alltoall);
        return exchange(c.send, c.recv);
    }
  }

 private:
  [[nodiscard]] int remotes() const noexcept { return i_.remote().size(); }
  [[nodiscard]] position local() const { return {i_.rank().value(), i_.local().size()}; }
  void make_locally(const call& c) {
    const plan::among group(p_, locals_);
    make(p_, local(), c);
  }

  /// A tree of the root and the group that receives.
  void bcast(const call& c) {
    if (c.root == root_is_beside) {
      return;
    }
    const bool here = c.root == root_is_here;
    const int n = here ? remotes() : i_.local().size();
    std::vector<int> peers = {here ? i_.of_local(i_.rank().value()) : i_.of_remote(c.root.value())};
    for (int r = 0; r < n; ++r) {
      peers.push_back(here ? i_.of_remote(r) : i_.of_local(r));
    }
    const plan::among tree(p_, peers);
    make(p_, position(here ? 0 : i_.rank().value() + 1, n + 1), {collective::bcast, {}, c.recv, 0});
  }

  /// What the local group's data give, in the returned buffer of its rank 0.
  buffer reduce_locally(const buffer& vector, const op_ref& o) {
    const buffer total =
        i_.rank() == 0 ? p_.space(vector.count, *vector.type) : like(nullptr, vector);
    make_locally({collective::reduce, operand(vector.base), total, 0, o});
    p_.wait();
    return total;
  }
  /// The lowest ranks swap what their groups have; `theirs` is looked at there only.
  void swap_totals(const buffer& mine, const buffer& theirs) {
    if (i_.rank() == 0) {
      p_.receive_if_any(theirs, i_.of_remote(0));
      p_.send_if_any(mine, i_.of_remote(0));
      p_.wait();
    }
  }
  /// `send` is looked at where the root is remote, `recv` at the root.
  void reduce(const call& c) {
    if (c.root == root_is_here) {
      p_.receive_if_any(c.recv.each(), i_.of_remote(0));
    } else if (c.root >= 0) {
      const buffer total = reduce_locally(c.send.each(), c.o);
      if (i_.rank() == 0) {
        p_.send_if_any(total, i_.of_remote(c.root.value()));
      }
    }
  }
  /// Each group gets what the other one's data give.
  void allreduce(const call& c) {
    const buffer result = c.recv.each();
    swap_totals(reduce_locally(like(c.send.base(), result), c.o), result);
    make_locally({collective::bcast, {}, result, 0});
  }
  /// A block for each rank of the local group.
  void reduce_scatter(const call& c) {
    const auto n = static_cast<std::size_t>(i_.local().size());
    std::vector<std::ptrdiff_t> counts(n);
    std::vector<std::ptrdiff_t> starts(n);
    std::ptrdiff_t sum = 0;
    for (std::size_t r = 0; r < n; ++r) {
      counts[r] = static_cast<std::ptrdiff_t>(c.recv.count(static_cast<int>(r)));
      starts[r] = sum;
      sum += counts[r];
    }
    const layout::datatype& type = c.recv.type();
    const auto all = static_cast<std::size_t>(sum);
    const buffer theirs = i_.rank() == 0 ? p_.space(all, type) : buffer{nullptr, all, &type};
    swap_totals(reduce_locally(part(c.send.base(), 0, all, type), c.o), theirs);
    const buffer mine = part(c.recv.base(), 0, c.recv.count(i_.rank().value()), type);
    make_locally(
        {collective::scatter, parts{theirs.base, counts.data(), starts.data(), &type}, mine, 0});
  }

  /// A gather's blocks come to the root, a scatter's leave it.
  void with_root(const call& c, const blocks& mine, const blocks& all, bool to_root) {
    for (int r = 0; c.root == root_is_here && r < remotes(); ++r) {
      to_root ? p_.receive_if_any(all(r), i_.of_remote(r))
              : p_.send_if_any(all(r), i_.of_remote(r));
    }
    if (c.root >= 0) {
      const int root = i_.of_remote(c.root.value());
      to_root ? p_.send_if_any(mine.each(), root) : p_.receive_if_any(mine.each(), root);
    }
  }

  /// Everybody sends out(r) to r and receives in(r) from r of the remote group, beginning with
  /// different ones.
  template <class Out>
  void exchange(const Out& out, const blocks& in) {
    const int n = remotes();
    for (int k = 0; k < n; ++k) {
      const int r = (i_.rank().value() + k) % n;
      p_.receive_if_any(in(r), i_.of_remote(r));
    }
    for (int k = 0; k < n; ++k) {
      const int r = (i_.rank().value() + k) % n;
      p_.send_if_any(out(r), i_.of_remote(r));
    }
  }

  plan& p_;
  const intercommunicator& i_;
  std::vector<int> locals_;
};

}  // namespace

plan_ref plan_across(const intercommunicator& i, const call& c) {
  auto p = std::make_shared<plan>();
  if (c.o != nullptr) {
    p->use(c.o);
  }
  across(*p, i).add(c);
  return p;
}

}  // namespace sinew::coll
