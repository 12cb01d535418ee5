// Nonblocking, persistent and neighbour collectives. A plan says what one rank sends, receives,
// copies and combines, in order; it is made from the call's arguments without any communication,
// and it is carried out, once or often, by whoever makes progress on this rank (MPI-5.0 sections
// 6.12, 6.13, 8.6).
//
// Arguments are trusted (bindings check them) and as in collectives.hpp; `in_place` may stand
// where MPI allows it. Plans share in the ownership of datatypes and operators; the user's buffers
// must last while one is carried out. Warm.
#pragma once

#include <exception>
#include <memory>
#include <span>

#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::coll {

class node_map;
class plan;
using plan_ref = std::shared_ptr<const plan>;
using op_ref = std::shared_ptr<const op>;

/// A plan that is being carried out. The other fields are for reading once `over` is done.
struct ongoing {
  completion over;
  bool looked_for = false;  ///< words in memory say when it is over, not messages
  fault outcome = fault::none;
  std::exception_ptr problem;  ///< there was no memory to go on
};

/// Whose part a plan is: the rank, the number of ranks, and the nodes they are on, by which the
/// plan goes then: by messages between leaders, and inside nodes. position_of() makes those of
/// communicators.
struct position {
  int rank;
  int size;
  const node_map* nodes = nullptr;  ///< read while the plan is made; null: all ranks alike
  position(int r, int n, const node_map* on = nullptr) noexcept : rank(r), size(n), nodes(on) {
    SINEW_EXPECT(rank >= 0 && rank < size);
  }
  /// Wherever the ranks are, by messages between all of them.
  explicit position(const core::communicator& c) noexcept : position(c.rank().value(), c.size()) {}
};
/// This rank's in `at.comm`, by nodes where its ranks lie on several and some share one. The same
/// answer on all ranks. Throws std::bad_alloc.
[[nodiscard]] position position_of(participant at);

/// The tag of the next nonblocking collective of `comm`, and of the next persistent one: all ranks
/// begin them in one order. Called by one thread per communicator at a time.
[[nodiscard]] message_tag nonblocking_tag(core::communicator& comm) noexcept;
[[nodiscard]] message_tag persistent_tag(core::communicator& comm) noexcept;

/// Begins to carry out a plan made for `over`, and returns at once. A plan may be under way once
/// at a time. Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<ongoing> start(p2p::engine& engine, communicator_ref over,
                                             plan_ref what, message_tag tag);

/// A collective of one group whose blocks are alike on all ranks, by the arguments of the function
/// plan_... of its name.
struct even_call {
  enum class kind : std::uint8_t {
    barrier,
    bcast,   ///< its data: `recv`
    reduce,  ///< these two: `send` has a base only
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall
  };
  kind what = kind::barrier;
  buffer send{};
  buffer recv{};
  comm_rank root = -1;
  op_ref o{};
};
[[nodiscard]] plan_ref plan_of(position at, const even_call& call);

/// What begin() has done.
struct begun {
  bool done = false;                ///< false: nothing; it goes by a plan, on all ranks
  std::shared_ptr<ongoing> runs{};  ///< null: it is over, without fault
};
/// Begins a short one without a plan where the ranks share memory that their blocking collectives
/// have set up: all ranks get the same answer, since all call their collectives in one order.
/// Throws std::bad_alloc, and has begun nothing then. Hot.
[[nodiscard]] begun begin(p2p::engine& engine, const communicator_ref& over, const even_call& call);

/// Returns when it is over. Suspends. Hot.
void wait(p2p::engine& engine, ongoing& o);

// What follows makes plans, for the rank at this position. They throw std::bad_alloc.

[[nodiscard]] plan_ref plan_barrier(position at);
[[nodiscard]] plan_ref plan_bcast(position at, buffer data, comm_rank root);
[[nodiscard]] plan_ref plan_reduce(position at, const void* send, buffer recv, op_ref o,
                                   comm_rank root);
[[nodiscard]] plan_ref plan_allreduce(position at, const void* send, buffer recv, op_ref o);
[[nodiscard]] plan_ref plan_scan(position at, const void* send, buffer recv, op_ref o);
[[nodiscard]] plan_ref plan_exscan(position at, const void* send, buffer recv, op_ref o);
[[nodiscard]] plan_ref plan_reduce_scatter(position at, const void* send, void* recv,
                                           std::span<const std::ptrdiff_t> counts,
                                           const layout::datatype& type, op_ref o);
[[nodiscard]] plan_ref plan_reduce_scatter_block(position at, const void* send, buffer recv,
                                                 op_ref o);
[[nodiscard]] plan_ref plan_gather(position at, buffer send, buffer recv, comm_rank root);
[[nodiscard]] plan_ref plan_gatherv(position at, buffer send, parts recv, comm_rank root);
[[nodiscard]] plan_ref plan_scatter(position at, buffer send, buffer recv, comm_rank root);
[[nodiscard]] plan_ref plan_scatterv(position at, parts send, buffer recv, comm_rank root);
[[nodiscard]] plan_ref plan_allgather(position at, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_allgatherv(position at, buffer send, parts recv);
[[nodiscard]] plan_ref plan_alltoall(position at, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_alltoallv(position at, parts send, parts recv);
[[nodiscard]] plan_ref plan_alltoallw(position at, parts_w send, parts_w recv);

[[nodiscard]] plan_ref plan_neighbour_allgather(const neighbours& n, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_neighbour_allgatherv(const neighbours& n, buffer send, parts recv);
[[nodiscard]] plan_ref plan_neighbour_alltoall(const neighbours& n, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_neighbour_alltoallv(const neighbours& n, parts send, parts recv);
[[nodiscard]] plan_ref plan_neighbour_alltoallw(const neighbours& n, parts_w send, parts_w recv);

}  // namespace sinew::coll
