// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/collective_calls.hpp"

#include <utility>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/op.hpp"
#include "abi/mpi/topology.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::mpi {
namespace {

using coll::blocks;
using coll::collective;

bool between_groups(const comm_object& c) noexcept { return c.sides != nullptr; }

void not_in_place_between(const comm_object& c, const void* base) {
  if (between_groups(c) && in_place(base)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed between groups");
  }
}

/// How many blocks the ranks on the other side have; among one group that is all ranks.
int partners(const comm_object& c) {
  return between_groups(c) ? c.sides->remote().size() : c.comm->size();
}

/// Of a call with a root.
struct role {
  comm_rank root;
  bool is_root;
  bool deals_with_root;  ///< it gives the root something, or gets something from it

  role(const comm_object& c, int rank) {
    if (!between_groups(c)) [[likely]] {
      check_root(c, rank);
      root = comm_rank{rank};
      is_root = c.comm->rank() == root;
      deals_with_root = true;
      return;
    }
    if (rank != MPI_ROOT && rank != MPI_PROC_NULL) {
      check_root(c, rank);
    }
    root = rank == MPI_ROOT        ? coll::root_is_here
           : rank == MPI_PROC_NULL ? coll::root_is_beside
                                   : comm_rank{rank};
    is_root = root == coll::root_is_here;
    deals_with_root = root >= 0;
  }
};

/// What a rank gives the root or gets from it: at the root of one group it may be in place.
blocks own_block(const comm_object& c, const role& r, const void* base, MPI_Count count,
                 MPI_Datatype type) {
  if (!r.deals_with_root) {
    return {};
  }
  return r.is_root && !between_groups(c) ? send_of(base, count, type)
                                         : receive_of(const_cast<void*>(base), count, type);
}

/// The blocks of all, at the root.
blocks all_blocks(const role& r, const void* base, MPI_Count count, MPI_Datatype type) {
  return r.is_root ? blocks(receive_of(const_cast<void*>(base), count, type)) : blocks();
}

blocks all_parts(const comm_object& c, const role& r, const void* base, const MPI_Count* counts,
                 const MPI_Aint* displacements, MPI_Datatype type) {
  if (!r.is_root) {
    return coll::parts{};
  }
  not_in_place_between(c, base);
  return parts_of(partners(c), base, counts, displacements, type);
}

/// What is given to all, which may be in place in one group.
blocks given(const comm_object& c, const void* base, MPI_Count count, MPI_Datatype type) {
  return between_groups(c) ? receive_of(const_cast<void*>(base), count, type)
                           : send_of(base, count, type);
}

/// With a type for each block, which lives in `types`.
blocks typed_blocks(int n, const void* base, const MPI_Count* counts, const MPI_Aint* displacements,
                    const MPI_Datatype* handles, std::vector<const layout::datatype*>& types) {
  if (in_place(base)) {
    return coll::parts_w{base, nullptr, nullptr, nullptr};
  }
  if (n > 0) {
    check_out(counts, "counts");
    check_out(displacements, "displs");
    check_out(handles, "types");
  }
  types.reserve(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    check_count(counts[r]);
    types.push_back(&layout_of(handles[r], counts[r] == 0));
  }
  return coll::parts_w{base, counts, displacements, types.data()};
}

/// A reduction whose every rank needs a receive buffer.
described reduction(collective what, comm_object& c, const void* sendbuf, void* recvbuf,
                    MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  const p2p::buffer into = receive_of(recvbuf, count, datatype);
  not_in_place_between(c, sendbuf);
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  return {&c, {what, coll::operand(sendbuf), into, -1, shared_op(op, datatype, *into.type)}};
}

/// This rank's neighbours in the order of its blocks.
void add_neighbours(described& d) {
  const comm_object& c = *d.comm;
  if (c.places == nullptr) {
    fail(MPI_ERR_TOPOLOGY,
         "the communicator has no topology, so its ranks have no neighbours (MPI_Cart_create, "
         "MPI_Graph_create, MPI_Dist_graph_create)");
  }
  d.of = std::make_unique<described::lists>();
  d.call.topology = &d.of->topology;
  const topology& t = *c.places;
  const int rank = c.comm->rank().value();
  if (t.kind == MPI_CART) {
    d.of->ranks.reserve(2 * t.dims.size());
    for (int i = 0; i < static_cast<int>(t.dims.size()); ++i) {
      for (const int direction : {-1, 1}) {
        const int other = t.shifted(rank, i, direction);
        d.of->ranks.push_back(other == MPI_PROC_NULL ? -1 : other);
      }
    }
    d.of->topology = {d.of->ranks, d.of->ranks, true};
  } else if (t.kind == MPI_GRAPH) {
    const auto r = static_cast<std::size_t>(rank);
    SINEW_ASSERT(r < t.index.size());
    const auto begin = static_cast<std::size_t>(r == 0 ? 0 : t.index[r - 1]);
    SINEW_ASSERT(begin <= static_cast<std::size_t>(t.index[r]));
    const std::span<const int> edges(t.edges.data() + begin,
                                     static_cast<std::size_t>(t.index[r]) - begin);
    d.of->topology = {edges, edges};
  } else {
    d.of->topology = {t.sources, t.destinations};
  }
}

int sources(const described& d) { return static_cast<int>(d.of->topology.sources.size()); }
int destinations(const described& d) {
  return static_cast<int>(d.of->topology.destinations.size());
}

/// MPI_IN_PLACE has no meaning among neighbours.
void not_in_place(const void* base) {
  if (in_place(base)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed among neighbours");
  }
}

described among_neighbours(collective what, MPI_Comm comm) {
  described d{&comm_of(comm)};
  d.call.what = what;
  add_neighbours(d);
  return d;
}

}  // namespace

described calls::Barrier(MPI_Comm comm) { return {&comm_of(comm)}; }

described calls::Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                       MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  const bool has_data = r.is_root || r.deals_with_root;
  return {&c,
          {collective::bcast,
           {},
           has_data ? blocks(receive_of(buffer, count, datatype)) : blocks(),
           r.root}};
}

described calls::Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  if (between_groups(c)) {
    const bool is_part = r.is_root || r.deals_with_root;
    return {&c,
            {collective::reduce, own_block(c, r, sendbuf, count, datatype),
             all_blocks(r, recvbuf, count, datatype), r.root,
             is_part ? shared_op(op, datatype, layout_of(datatype)) : nullptr}};
  }
  if (in_place(sendbuf) && !r.is_root) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
  }
  check_count(count);
  const p2p::buffer into =
      r.is_root ? receive_of(recvbuf, count, datatype)
                : p2p::buffer{nullptr, static_cast<std::size_t>(count), &layout_of(datatype)};
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  return {&c,
          {collective::reduce, coll::operand(sendbuf), into, r.root,
           shared_op(op, datatype, *into.type)}};
}

described calls::Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(collective::allreduce, comm_of(comm), sendbuf, recvbuf, count, datatype, op);
}

described calls::Scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm) {
  return reduction(collective::scan, intracomm_of(comm), sendbuf, recvbuf, count, datatype, op);
}

described calls::Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  return reduction(collective::exscan, intracomm_of(comm), sendbuf, recvbuf, count, datatype, op);
}

described calls::Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(collective::reduce_scatter, comm_of(comm), sendbuf, recvbuf, recvcount, datatype,
                   op);
}

described calls::Reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  check_out(recvcounts, "recvcounts");
  const int size = c.local_group().size();
  for (int r = 0; r < size; ++r) {
    check_count(recvcounts[r]);
  }
  const comm_rank own = between_groups(c) ? c.sides->rank() : c.comm->rank();
  // In place the data of all ranks is in recvbuf, which is then null only if there is none.
  const p2p::buffer into = receive_of(recvbuf, recvcounts[own.index()], datatype);
  not_in_place_between(c, sendbuf);
  return {&c,
          {collective::reduce_scatter, coll::operand(sendbuf),
           coll::parts{recvbuf, recvcounts, nullptr, into.type}, -1,
           shared_op(op, datatype, *into.type)}};
}

described calls::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  const blocks into = all_blocks(r, recvbuf, recvcount, recvtype);
  return {&c, {collective::gather, own_block(c, r, sendbuf, sendcount, sendtype), into, r.root}};
}

described calls::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  const blocks into = all_parts(c, r, recvbuf, recvcounts, displs, recvtype);
  return {&c, {collective::gather, own_block(c, r, sendbuf, sendcount, sendtype), into, r.root}};
}

described calls::Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  const blocks from = all_blocks(r, sendbuf, sendcount, sendtype);
  return {&c, {collective::scatter, from, own_block(c, r, recvbuf, recvcount, recvtype), r.root}};
}

described calls::Scatterv(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const role r(c, root);
  const blocks from = all_parts(c, r, sendbuf, sendcounts, displs, sendtype);
  return {&c, {collective::scatter, from, own_block(c, r, recvbuf, recvcount, recvtype), r.root}};
}

described calls::Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  return {&c,
          {collective::allgather, given(c, sendbuf, sendcount, sendtype),
           receive_of(recvbuf, recvcount, recvtype)}};
}

described calls::Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                            MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  not_in_place_between(c, recvbuf);
  return {&c,
          {collective::allgather, given(c, sendbuf, sendcount, sendtype),
           parts_of(partners(c), recvbuf, recvcounts, displs, recvtype)}};
}

described calls::Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                          MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  return {&c,
          {collective::alltoall, given(c, sendbuf, sendcount, sendtype),
           receive_of(recvbuf, recvcount, recvtype)}};
}

described calls::Alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  not_in_place_between(c, sendbuf);
  not_in_place_between(c, recvbuf);
  const int n = partners(c);
  const coll::parts from = in_place(sendbuf) ? coll::parts{sendbuf, nullptr, nullptr, nullptr}
                                             : parts_of(n, sendbuf, sendcounts, sdispls, sendtype);
  return {&c, {collective::alltoall, from, parts_of(n, recvbuf, recvcounts, rdispls, recvtype)}};
}

described calls::Alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           const MPI_Datatype recvtypes[], MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  not_in_place_between(c, sendbuf);
  not_in_place_between(c, recvbuf);
  described d{&c, {}, std::make_unique<described::lists>()};
  const int n = partners(c);
  d.call.what = collective::alltoall;
  d.call.send = typed_blocks(n, sendbuf, sendcounts, sdispls, sendtypes, d.of->send_types);
  d.call.recv = typed_blocks(n, recvbuf, recvcounts, rdispls, recvtypes, d.of->recv_types);
  return d;
}

described calls::Neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm) {
  described d = among_neighbours(collective::neighbour_allgather, comm);
  d.call.send = receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  d.call.recv = receive_of(recvbuf, recvcount, recvtype);
  return d;
}

described calls::Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint displs[],
                                     MPI_Datatype recvtype, MPI_Comm comm) {
  described d = among_neighbours(collective::neighbour_allgather, comm);
  not_in_place(recvbuf);
  d.call.send = receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  d.call.recv = parts_of(sources(d), recvbuf, recvcounts, displs, recvtype);
  return d;
}

described calls::Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm) {
  described d = among_neighbours(collective::neighbour_alltoall, comm);
  d.call.send = receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  d.call.recv = receive_of(recvbuf, recvcount, recvtype);
  return d;
}

described calls::Neighbor_alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                    MPI_Datatype recvtype, MPI_Comm comm) {
  described d = among_neighbours(collective::neighbour_alltoall, comm);
  not_in_place(sendbuf);
  not_in_place(recvbuf);
  d.call.send = parts_of(destinations(d), sendbuf, sendcounts, sdispls, sendtype);
  d.call.recv = parts_of(sources(d), recvbuf, recvcounts, rdispls, recvtype);
  return d;
}

described calls::Neighbor_alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                    MPI_Comm comm) {
  described d = among_neighbours(collective::neighbour_alltoall, comm);
  not_in_place(sendbuf);
  not_in_place(recvbuf);
  d.call.send =
      typed_blocks(destinations(d), sendbuf, sendcounts, sdispls, sendtypes, d.of->send_types);
  d.call.recv = typed_blocks(sources(d), recvbuf, recvcounts, rdispls, recvtypes, d.of->recv_types);
  return d;
}

}  // namespace sinew::mpi
