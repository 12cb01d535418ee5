// SPDX-License-Identifier: BSD-3-Clause
// Communicators made from communicators: the members agree on a context by a collective.
#pragma once

#include <exception>
#include <memory>

#include "sinew/base/error.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::coll {

using communicator_ref = std::shared_ptr<core::communicator>;

/// Thrown by what makes communicators of others: a rank that takes part has died, or they have been
/// revoked. Other ranks may have made theirs.
struct not_made : error {
  explicit not_made(fault f);
  fault why_not;
};

/// The first ones of a job: contexts 0 (all ranks) and 2 (this rank alone). Cold, not collective.
[[nodiscard]] communicator_ref world(p2p::engine& engine);
[[nodiscard]] communicator_ref self(p2p::engine& engine);
/// Another one of all ranks, those that are spawned later too, context 4, for what the library says
/// and agrees on without a communicator of the program's. Once per engine.
[[nodiscard]] communicator_ref job(p2p::engine& engine);

/// Collective over `at`. Cold.
[[nodiscard]] communicator_ref duplicate(participant at);

/// What start_duplicate() makes. The other fields are for reading once `over` is done.
struct new_communicator {
  completion over;
  communicator_ref made;       ///< null if it failed here
  std::exception_ptr problem;  ///< then: why
};
/// Collective over `of`, in the same order as its other collectives, but returns at once. It goes
/// on when anybody of this rank makes progress. Cold.
[[nodiscard]] std::shared_ptr<new_communicator> start_duplicate(p2p::engine& engine,
                                                                communicator_ref of);

/// Null where `color` is negative (MPI_UNDEFINED). `before`: a fault of what led to this call,
/// which then fails on all ranks.
[[nodiscard]] communicator_ref split(participant at, int color, int key,
                                     fault before = fault::none);
/// MPI_Comm_create: collective over `at`; null where this rank is not in `members`.
[[nodiscard]] communicator_ref create(participant at, const core::group& members);
/// MPI_Comm_create_group: collective over `members` only.
[[nodiscard]] communicator_ref create_group(participant at, const core::group& members,
                                            message_tag tag);

// For who agrees on a context by other means than messages. Cold; any thread.

/// Which of the contexts `from`, `from` + 2, ... are free on this rank, a bit each.
[[nodiscard]] std::uint32_t free_contexts(p2p::engine& engine, std::uint32_t from);
/// False if it is not free any more.
[[nodiscard]] bool take_context(p2p::engine& engine, context_id context);
void release_context(p2p::engine& engine, context_id context);
/// Over a context that all members have taken.
[[nodiscard]] communicator_ref make_agreed(p2p::engine& engine, context_id context,
                                           core::group members);

/// Whether some of `members` are ranks of other jobs. Cold.
[[nodiscard]] bool spans_jobs(p2p::engine& engine, const core::group& members) noexcept;

/// Of ranks that have no communicator together yet, some of them of other jobs (p2p::engine::
/// attach_meeting): to agree on one by, with this tag alone. Not collective. Cold.
class meeting {
 public:
  meeting(p2p::engine& engine, const core::group& members, message_tag tag);
  ~meeting();
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;
  [[nodiscard]] core::communicator& comm() noexcept { return comm_; }

 private:
  p2p::engine& engine_;
  core::communicator comm_;
};

/// Whether there are communicators with ranks that were not started together with this one. Cold.
[[nodiscard]] bool is_connected(p2p::engine& engine);

/// Ranks that share this node (MPI_COMM_TYPE_SHARED).
[[nodiscard]] communicator_ref split_node(participant at, int key);

}  // namespace sinew::coll
