// Communicators made from communicators: the members agree on a context by a collective.
#pragma once

#include <exception>
#include <memory>

#include "sinew/coll/collectives.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::coll {

using communicator_ref = std::shared_ptr<core::communicator>;

/// The first ones of a job: contexts 0 (all ranks) and 2 (this rank alone). Cold, not collective.
[[nodiscard]] communicator_ref world(p2p::engine& engine);
[[nodiscard]] communicator_ref self(p2p::engine& engine);

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

/// Null where `color` is negative (MPI_UNDEFINED).
[[nodiscard]] communicator_ref split(participant at, int color, int key);
/// MPI_Comm_create: collective over `at`; null where this rank is not in `members`.
[[nodiscard]] communicator_ref create(participant at, const core::group& members);
/// MPI_Comm_create_group: collective over `members` only.
[[nodiscard]] communicator_ref create_group(participant at, const core::group& members, int tag);

/// Ranks that share this node (MPI_COMM_TYPE_SHARED).
[[nodiscard]] communicator_ref split_node(participant at, int key);

}  // namespace sinew::coll
