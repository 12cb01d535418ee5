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

#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::coll {

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
[[nodiscard]] plan_ref plan_of(const core::communicator& c, const even_call& call);

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

// What follows makes plans, for this rank of `c`. They throw std::bad_alloc.

[[nodiscard]] plan_ref plan_barrier(const core::communicator& c);
[[nodiscard]] plan_ref plan_bcast(const core::communicator& c, buffer data, comm_rank root);
[[nodiscard]] plan_ref plan_reduce(const core::communicator& c, const void* send, buffer recv,
                                   op_ref o, comm_rank root);
[[nodiscard]] plan_ref plan_allreduce(const core::communicator& c, const void* send, buffer recv,
                                      op_ref o);
[[nodiscard]] plan_ref plan_scan(const core::communicator& c, const void* send, buffer recv,
                                 op_ref o);
[[nodiscard]] plan_ref plan_exscan(const core::communicator& c, const void* send, buffer recv,
                                   op_ref o);
[[nodiscard]] plan_ref plan_reduce_scatter(const core::communicator& c, const void* send,
                                           void* recv, std::span<const std::ptrdiff_t> counts,
                                           const layout::datatype& type, op_ref o);
[[nodiscard]] plan_ref plan_reduce_scatter_block(const core::communicator& c, const void* send,
                                                 buffer recv, op_ref o);
[[nodiscard]] plan_ref plan_gather(const core::communicator& c, buffer send, buffer recv,
                                   comm_rank root);
[[nodiscard]] plan_ref plan_gatherv(const core::communicator& c, buffer send, parts recv,
                                    comm_rank root);
[[nodiscard]] plan_ref plan_scatter(const core::communicator& c, buffer send, buffer recv,
                                    comm_rank root);
[[nodiscard]] plan_ref plan_scatterv(const core::communicator& c, parts send, buffer recv,
                                     comm_rank root);
[[nodiscard]] plan_ref plan_allgather(const core::communicator& c, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_allgatherv(const core::communicator& c, buffer send, parts recv);
[[nodiscard]] plan_ref plan_alltoall(const core::communicator& c, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_alltoallv(const core::communicator& c, parts send, parts recv);
[[nodiscard]] plan_ref plan_alltoallw(const core::communicator& c, parts_w send, parts_w recv);

[[nodiscard]] plan_ref plan_neighbour_allgather(const neighbours& n, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_neighbour_allgatherv(const neighbours& n, buffer send, parts recv);
[[nodiscard]] plan_ref plan_neighbour_alltoall(const neighbours& n, buffer send, buffer recv);
[[nodiscard]] plan_ref plan_neighbour_alltoallv(const neighbours& n, parts send, parts recv);
[[nodiscard]] plan_ref plan_neighbour_alltoallw(const neighbours& n, parts_w send, parts_w recv);

}  // namespace sinew::coll
