// Blocking collectives over p2p, correct for any rank count and non-commutative operators.
// Called by one thread per communicator at a time; suspends the caller; warm. Arguments are
// trusted (bindings check them). They run in p2p::collectives_of(comm) and never meet the user's
// messages. All return the first fault met; a fault (a message longer than its buffer) does not
// keep a rank from sending what the others wait for. They throw std::bad_alloc if there is no
// memory for temporaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sinew/coll/op.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::coll {

/// The send argument that says "my data is already in the receive buffer" (MPI_IN_PLACE).
inline const void* const in_place = reinterpret_cast<const void*>(std::uintptr_t{1});

/// A buffer per rank: counts and displacements in units of the type's extent (the v-variants).
struct parts {
  const void* base;
  const std::ptrdiff_t* counts;
  const std::ptrdiff_t* displacements;
  const layout::datatype* type;
};
/// The w-variants: displacements in bytes, a type per rank.
struct parts_w {
  const void* base;
  const std::ptrdiff_t* counts;
  const std::ptrdiff_t* displacements;
  const layout::datatype* const* types;
};

using p2p::buffer;
using p2p::fault;

/// What every call needs: the engine that moves the messages, and the communicator.
struct participant {
  p2p::engine& engine;
  core::communicator& comm;
};

fault barrier(participant at);
fault bcast(participant at, const buffer& data, comm_rank root);
/// `send.base` may be in_place where MPI allows it; then its count and type are not looked at.
fault reduce(participant at, const void* send, const buffer& recv, const op& o, comm_rank root);
fault allreduce(participant at, const void* send, const buffer& recv, const op& o);
fault scan(participant at, const void* send, const buffer& recv, const op& o);
fault exscan(participant at, const void* send, const buffer& recv, const op& o);
/// reduce_scatter: counts per rank, in elements of recv type; recv.count is this rank's own.
fault reduce_scatter(participant at, const void* send, void* recv,
                     std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                     const op& o);
/// The same with recv.count for every rank.
fault reduce_scatter_block(participant at, const void* send, const buffer& recv, const op& o);
fault gather(participant at, const buffer& send, const buffer& recv,
             comm_rank root);  ///< recv.count is per rank
fault scatter(participant at, const buffer& send, const buffer& recv,
              comm_rank root);  ///< send.count is per rank
fault allgather(participant at, const buffer& send, const buffer& recv);
fault alltoall(participant at, const buffer& send, const buffer& recv);
fault gatherv(participant at, const buffer& send, parts recv, comm_rank root);
fault scatterv(participant at, parts send, const buffer& recv, comm_rank root);
fault allgatherv(participant at, const buffer& send, parts recv);
fault alltoallv(participant at, parts send, parts recv);
fault alltoallw(participant at, parts_w send, parts_w recv);

/// A rank's neighbours, in the order of its buffers' blocks; negative: none there (MPI_PROC_NULL).
struct neighbours {
  std::span<const int> sources;
  std::span<const int> destinations;
  /// Blocks of a Cartesian topology lie in pairs, one for each direction of a dimension: what is
  /// sent up arrives from below, also where both neighbours are one rank.
  bool cartesian = false;
};
/// The same block to all, a block from each. All ranks of the communicator call it.
fault neighbour_allgather(participant at, const neighbours& n, const buffer& send,
                          const buffer& recv);
fault neighbour_allgatherv(participant at, const neighbours& n, const buffer& send, parts recv);
/// A block to each, a block from each.
fault neighbour_alltoall(participant at, const neighbours& n, const buffer& send,
                         const buffer& recv);
fault neighbour_alltoallv(participant at, const neighbours& n, parts send, parts recv);
fault neighbour_alltoallw(participant at, const neighbours& n, parts_w send, parts_w recv);

}  // namespace sinew::coll
