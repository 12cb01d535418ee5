// SPDX-License-Identifier: BSD-3-Clause
// Communicators and groups behind their handles.
#pragma once

#include <atomic>

#include "abi/mpi/attributes.hpp"
#include "abi/mpi/errors.hpp"
#include "abi/mpi/handles.hpp"
#include "abi/mpi/session.hpp"
#include "abi/mpi/world.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/coll/intercommunicators.hpp"
#include "sinew/core/communicator.hpp"

namespace sinew::mpi {

struct info_object;
struct buffered_sends;
struct topology;
class routed;

/// Assertions of the program about a communicator's messages (MPI-5.0 section 7.4.4). A wildcard
/// that contradicts one is an error. `allow_overtaking` is accepted and has no effect.
struct promises {
  bool no_any_tag = false;
  bool no_any_source = false;
  bool exact_length = false;
  bool allow_overtaking = false;
};

struct group_object : object {
  static constexpr kind tag = kind::group;
  group_object(core::group g, session_object* s)
      : object(tag), members(std::move(g)), session(keep(s)) {}
  ~group_object() { drop(session); }
  core::group members;
  session_object* session;  ///< that it comes from; null: from MPI_Init's world
};

struct comm_object : object {
  static constexpr kind tag = kind::comm;
  explicit comm_object(coll::communicator_ref c);
  explicit comm_object(coll::intercommunicator_ref two_groups);
  ~comm_object();

  coll::communicator_ref owned;
  core::communicator* comm;  ///< owned.get(): one load less on the hot path
  MPI_Comm handle;
  MPI_Win window = MPI_WIN_NULL;  ///< whose own it is; then `errors` is the window's handler
  MPI_File file = MPI_FILE_NULL;  ///< likewise
  errhandler_object* errors;
  promises promised;
  buffered_sends* buffer = nullptr;        ///< MPI_Comm_attach_buffer
  bool freed = false;                      ///< only operations under way keep it
  std::atomic<int> probed = 0;             ///< messages matched by probes and not received yet
  std::unique_ptr<routed> routes;          ///< null: MPI_Alltoallv goes the usual way
  std::shared_ptr<const topology> places;  ///< null: the communicator has no topology
  /// Of an intercommunicator; null for others. Then `comm` has the remote group's ranks, and this
  /// rank's number in the local one.
  coll::intercommunicator_ref sides;
  session_object* session = nullptr;  ///< that it comes from; null: from MPI_Init's world
  std::uint64_t meetings = 0;         ///< blocking collectives that have ended, for the profile
  std::string memory_kinds;  ///< those of its buffers, if the program has said it; "" if not
  attributes attached;

  /// What the collectives take place in: of an intercommunicator both groups.
  [[nodiscard]] const coll::communicator_ref& together() const noexcept {
    return sides == nullptr ? owned : sides->all();
  }
  [[nodiscard]] const core::group& local_group() const noexcept {
    return sides == nullptr ? comm->members() : sides->local();
  }
};

/// MPI_COMM_WORLD or MPI_COMM_SELF, by the value of the handle.
[[nodiscard]] constexpr bool is_initial_comm(std::uintptr_t value) noexcept {
  static_assert(abi::handle_comm_self == abi::handle_comm_world + 1);
  return value - abi::handle_comm_world < 2;
}
[[nodiscard]] inline comm_object& initial_comm(std::uintptr_t value) noexcept {
  SINEW_EXPECT(is_initial_comm(value));
  SINEW_ASSERT(process.comms[value - abi::handle_comm_null] != nullptr);
  return *process.comms[value - abi::handle_comm_null];
}

/// Throws MPI_ERR_COMM and says what is wrong with the handle. Cold.
[[noreturn, gnu::cold]] void bad_comm(MPI_Comm handle);

/// What comm_of() answers for another handle than that of a usable communicator: one that is
/// revoked, to the calls that are allowed there. Throws for all else. Cold.
[[nodiscard, gnu::cold]] comm_object& revoked_comm(MPI_Comm handle);
/// Later calls find that it is revoked without sending anything. Cold.
void mark_revoked(comm_object& c) noexcept;

/// Hot.
[[nodiscard]] inline comm_object& comm_of(MPI_Comm handle) {
  const std::uintptr_t v = value_of(handle);
  if (is_initial_comm(v)) [[likely]] {
    return initial_comm(v);
  }
  auto* found = resolve<comm_object>(handle);
  if (found == nullptr) [[unlikely]] {
    return revoked_comm(handle);
  }
  SINEW_ENSURE(found->comm != nullptr);
  return *found;
}

/// For calls that are local: also accepts the result of MPI_Comm_idup before its request has been
/// completed, since programs set its name and its error handler at once.
[[nodiscard, gnu::cold]] comm_object& unfinished_comm(MPI_Comm handle);
[[nodiscard]] inline comm_object& local_comm_of(MPI_Comm handle) {
  const std::uintptr_t v = value_of(handle);
  if (is_initial_comm(v)) [[likely]] {
    return initial_comm(v);
  }
  auto* found = resolve<comm_object>(handle);
  return found != nullptr ? *found : unfinished_comm(handle);
}

/// Throws MPI_ERR_COMM: the call makes no sense, or is not defined, between two groups. Cold.
[[noreturn, gnu::cold]] void not_between_groups();
/// Throws MPI_ERR_COMM if ranks of several jobs are in it: `what` needs their memory. Cold.
void check_one_job(const comm_object& c, const char* what);
[[nodiscard]] inline comm_object& intracomm_of(MPI_Comm handle) {
  comm_object& found = comm_of(handle);
  if (found.sides != nullptr) [[unlikely]] {
    not_between_groups();
  }
  return found;
}

/// Null instead of an error. Cold.
[[nodiscard]] comm_object* find_comm(MPI_Comm handle) noexcept;

/// Applies the hints of `info` that are supported (comm_info.cpp). Cold.
void apply_hints(comm_object& c, const info_object& info);

/// What collectives of one group take.
[[nodiscard]] inline coll::participant participant_of(comm_object& c) noexcept {
  SINEW_EXPECT(process.engine != nullptr);
  SINEW_EXPECT(c.comm != nullptr && c.sides == nullptr);
  return {*process.engine, *c.comm};
}

/// A handle for a new communicator with the error handler of `parent`; MPI_COMM_NULL for none.
[[nodiscard]] MPI_Comm adopt(coll::communicator_ref made, const comm_object& parent);
[[nodiscard]] MPI_Comm adopt(coll::intercommunicator_ref made, const comm_object& parent);

/// A communicator of the first `ranks` ranks of `c`, with a topology; MPI_COMM_NULL elsewhere.
[[nodiscard]] MPI_Comm place_first(comm_object& c, int ranks, topology places);

/// Gives the communicator up: at once, or when its last operation has ended.
void release_comm(comm_object* c);

[[nodiscard]] const core::group& group_of(MPI_Group handle);  ///< throws MPI_ERR_GROUP
/// The session that the group comes from, null for MPI_Init's world. Throws MPI_ERR_GROUP.
[[nodiscard]] session_object* session_of(MPI_Group handle);
[[nodiscard]] MPI_Group new_group(core::group members, session_object* session);

// Argument checks; they throw. Hot: one comparison when all is well.
[[noreturn, gnu::cold]] void bad_rank(const comm_object& c, int rank, const char* which);
[[noreturn, gnu::cold]] void bad_tag(int tag);
[[noreturn, gnu::cold]] void broken_promise(const comm_object& c, const char* wildcard);
[[noreturn, gnu::cold]] void bad_count(MPI_Count count);

inline void check_dest(const comm_object& c, int rank) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(c.comm->size()) && rank != MPI_PROC_NULL)
      [[unlikely]] {
    bad_rank(c, rank, "destination");
  }
}
inline void check_source(const comm_object& c, int rank) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(c.comm->size()) && rank != MPI_PROC_NULL)
      [[unlikely]] {
    if (rank != MPI_ANY_SOURCE) {
      bad_rank(c, rank, "source");
    }
    if (c.promised.no_any_source) {
      broken_promise(c, "source");
    }
  }
}
inline void check_root(const comm_object& c, int rank) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(c.comm->size())) [[unlikely]] {
    bad_rank(c, rank, "root");
  }
}
inline void check_tag(int tag) {
  if (tag < 0) [[unlikely]] {
    bad_tag(tag);
  }
}
inline void check_tag_or_any(const comm_object& c, int tag) {
  if (tag < 0) [[unlikely]] {
    if (tag != MPI_ANY_TAG) {
      bad_tag(tag);
    }
    if (c.promised.no_any_tag) {
      broken_promise(c, "tag");
    }
  }
}
inline void check_count(MPI_Count count) {
  if (count < 0) [[unlikely]] {
    bad_count(count);
  }
}

/// Throws MPI_ERR_ARG if an output argument is null.
inline void check_out(const void* argument, const char* name) {
  if (argument == nullptr) [[unlikely]] {
    fail(MPI_ERR_ARG, "the argument %s is null", name);
  }
}

}  // namespace sinew::mpi
