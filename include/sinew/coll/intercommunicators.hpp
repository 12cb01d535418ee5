// SPDX-License-Identifier: BSD-3-Clause
// Communicators between two groups that have no rank in common (MPI-5.0 section 7.6). A rank
// sends to the remote group's ranks, and a collective moves data from each group to the other.
//
// Underneath is one usual communicator of both groups, one group's ranks first: it has the context
// and carries the collectives. Messages use a second view of it, whose members are the remote
// group and whose rank is this rank's in the local one.
#pragma once

#include <memory>

#include "sinew/coll/communicators.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll {

class intercommunicator {
 public:
  /// `all`: the `first` ranks of one group, then those of the other. Not collective. Cold.
  intercommunicator(p2p::engine& engine, communicator_ref all, int first);

  /// For messages. It keeps all() alive.
  [[nodiscard]] const communicator_ref& across() const noexcept { return across_; }
  /// For collectives.
  [[nodiscard]] const communicator_ref& all() const noexcept { return all_; }
  [[nodiscard]] const core::group& local() const noexcept { return local_; }
  [[nodiscard]] const core::group& remote() const noexcept { return across_->members(); }
  [[nodiscard]] comm_rank rank() const noexcept { return across_->rank(); }
  /// How many ranks of all() are the first group's, and whether that is the local one.
  [[nodiscard]] int first_size() const noexcept { return first_; }
  [[nodiscard]] bool in_first() const noexcept { return all_->rank().value() < first_; }
  /// Rank in all() of a rank of the local or the remote group.
  [[nodiscard]] int of_local(int r) const noexcept { return in_first() ? r : first_ + r; }
  [[nodiscard]] int of_remote(int r) const noexcept { return in_first() ? first_ + r : r; }

 private:
  communicator_ref all_;
  int first_;
  core::group local_;
  communicator_ref across_;
};
using intercommunicator_ref = std::shared_ptr<const intercommunicator>;

/// How a group's leader reaches the other group's.
struct leaders_link {
  core::communicator& peer;
  comm_rank remote_leader;  ///< rank in `peer`
  message_tag tag;
};
/// MPI_Intercomm_create: collective over `local`, whose rank `leader` alone gives a link. Null on
/// all ranks of both groups if the groups overlap. Throws sinew::error on all ranks of `local` if
/// the leader gives none. `job`: that of all ranks, of communicators.hpp. Cold.
[[nodiscard]] intercommunicator_ref connect(participant local, comm_rank leader,
                                            const leaders_link* link, core::communicator& job);
/// Collective over all(). Cold.
[[nodiscard]] intercommunicator_ref duplicate(p2p::engine& engine, const intercommunicator& i);
/// Null where `color` is negative, or no rank of the remote group has it. Ranks of a group are in
/// the order of their keys. Collective over all(). Cold.
[[nodiscard]] intercommunicator_ref split(p2p::engine& engine, const intercommunicator& i,
                                          int color, int key);
/// MPI_Intercomm_merge: the ranks of the group that says `high` come last. Collective. Cold.
[[nodiscard]] communicator_ref merge(p2p::engine& engine, const intercommunicator& i, bool high);

/// The root of a collective: a rank of the remote group, or one of these in the root's own group.
inline constexpr comm_rank root_is_here = -1;    ///< this rank is it (MPI_ROOT)
inline constexpr comm_rank root_is_beside = -2;  ///< another rank of the group is (MPI_PROC_NULL)

/// The plan of a collective between the groups, to be carried out over all(); the barrier is
/// all()'s own. Its root is a rank of the remote group or one of these; what goes with a root is
/// looked at as MPI says, `send` of a reduction being a vector. What nonblocking.hpp says holds;
/// nothing is in_place. Throws std::bad_alloc.
[[nodiscard]] plan_ref plan_across(const intercommunicator& i, const call& c);

}  // namespace sinew::coll
