// How two groups meet: one rank of each, its leader, knows how to reach the other's.
#pragma once

#include <mutex>
#include <optional>

#include "abi/mpi/comm.hpp"
#include "sinew/base/error.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::mpi {

/// Collective over the group of `local`; throws MPI_ERR_GROUP if the groups overlap.
[[nodiscard]] coll::intercommunicator_ref connected(coll::participant local, comm_rank leader,
                                                    const coll::leaders_link* link);

/// The same; the leader's link comes from find_link(), which may throw: then its group is told.
template <class FindLink>
[[nodiscard]] coll::intercommunicator_ref connected_by(coll::participant local, comm_rank leader,
                                                       const FindLink& find_link) {
  std::optional<coll::leaders_link> link;
  if (local.comm.rank() == leader) {
    try {
      link.emplace(find_link());
    } catch (...) {
      try {
        (void)connected(local, leader, nullptr);
      } catch (const sinew::error&) {  // as it must; the reason follows
      }
      throw;
    }
  }
  return connected(local, leader, link ? &*link : nullptr);
}

/// Counts ports and connections of this rank, from 1. Any thread.
[[nodiscard]] int next_number();
/// What leaders of one connection call it: different ones between two ranks differ, since the
/// caller's number does.
[[nodiscard]] message_tag tag_of_connection(int caller, int number);

/// The session with the launcher, which is for one thread at a time: as long as `held` lives.
[[nodiscard]] boot::session& launcher_line(std::unique_lock<std::mutex>& held);

/// Before anything else: makes process.parent in a rank that was spawned. Collective over the ranks
/// that were spawned together.
void find_parent();

/// Throws MPI_ERR_RANK.
void check_leader(int leader, int size, const char* which);

}  // namespace sinew::mpi
