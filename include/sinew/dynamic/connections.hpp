// SPDX-License-Identifier: BSD-3-Clause
// How two groups become connected: one rank of each, its leader, knows how to reach the other's.
#pragma once

#include <mutex>
#include <optional>

#include "sinew/boot/session.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::dynamic {

/// Collective over the group of `local`; `job`: all ranks of the job (coll::job). Throws failure if
/// the groups overlap.
[[nodiscard]] coll::intercommunicator_ref connected(coll::participant local, comm_rank leader,
                                                    const coll::leaders_link* link,
                                                    core::communicator& job);

/// At a leader that has found none: tells its group, whose connected() throws.
void tell_that_there_is_none(coll::participant local, core::communicator& job);

/// The same; the leader's link comes from find_link(), which may throw: then its group is told.
template <class FindLink>
[[nodiscard]] coll::intercommunicator_ref connected_by(coll::participant local, comm_rank leader,
                                                       const FindLink& find_link,
                                                       core::communicator& job) {
  std::optional<coll::leaders_link> link;
  if (local.comm.rank() == leader) {
    try {
      link.emplace(find_link());
    } catch (...) {
      tell_that_there_is_none(local, job);
      throw;
    }
  }
  return connected(local, leader, link ? &*link : nullptr, job);
}

/// Tells the launcher which ranks this one has to do with now. Any thread.
void tell_connections(p2p::engine& engine);

/// Counts ports and connections of this process, from 1. Any thread.
[[nodiscard]] int next_number() noexcept;
/// What leaders of one connection call it: different ones between two ranks differ, since the
/// caller's number does.
[[nodiscard]] message_tag tag_of_connection(int caller, int number) noexcept;

/// The session with the launcher, which is for one thread at a time: as long as `held` lives.
[[nodiscard]] boot::session& launcher_line(core::runtime& rt, std::unique_lock<std::mutex>& held);

}  // namespace sinew::dynamic
