#include "abi/mpi/intercollectives.hpp"

#include <span>
#include <vector>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/op.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::mpi::across {
namespace {

using coll::root_is_here;

const coll::intercommunicator& sides_of(const comm_object& c) {
  SINEW_EXPECT(c.sides != nullptr);
  return *c.sides;
}

/// MPI_ROOT, MPI_PROC_NULL or a rank of the remote group, as coll has it.
comm_rank root_of(const comm_object& c, int root) {
  if (root == MPI_ROOT) {
    return coll::root_is_here;
  }
  if (root == MPI_PROC_NULL) {
    return coll::root_is_beside;
  }
  check_root(c, root);
  SINEW_ENSURE(root >= 0 && root < sides_of(c).remote().size());
  return comm_rank{root};
}

/// For reports: a root's rank is told where it is one.
int told(comm_rank root) { return root >= 0 ? root.value() : -1; }

/// A buffer that is not looked at on this rank if `used` is false.
p2p::buffer data_if(bool used, const void* base, MPI_Count count, MPI_Datatype type) {
  return used ? receive_of(const_cast<void*>(base), count, type) : p2p::buffer{};
}

coll::parts parts_if(bool used, const comm_object& c, const void* base, const MPI_Count* counts,
                     const MPI_Aint* displacements, MPI_Datatype type) {
  if (used && in_place(base)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed between groups");
  }
  return used ? parts_of(sides_of(c).remote().size(), base, counts, displacements, type)
              : coll::parts{};
}

}  // namespace

prepared barrier(comm_object& c) {
  return {&c, coll::plan_barrier(coll::position_of({*process.engine, *sides_of(c).all()})),
          "MPI_Barrier"};
}

prepared bcast(comm_object& c, void* buffer, MPI_Count count, MPI_Datatype datatype, int root) {
  const comm_rank from = root_of(c, root);
  const p2p::buffer data = data_if(from != coll::root_is_beside, buffer, count, datatype);
  return {&c, coll::across::bcast(sides_of(c), data, from), "MPI_Bcast", told(from)};
}

prepared reduce(comm_object& c, const void* sendbuf, void* recvbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, int root) {
  const comm_rank to = root_of(c, root);
  const p2p::buffer from = data_if(to >= 0, sendbuf, count, datatype);
  const p2p::buffer into = data_if(to == root_is_here, recvbuf, count, datatype);
  coll::op_ref o =
      to == coll::root_is_beside ? nullptr : shared_op(op, datatype, layout_of(datatype));
  return {&c, coll::across::reduce(sides_of(c), from, into, std::move(o), to), "MPI_Reduce",
          told(to)};
}

prepared allreduce(comm_object& c, const void* sendbuf, void* recvbuf, MPI_Count count,
                   MPI_Datatype datatype, MPI_Op op) {
  const p2p::buffer into = receive_of(recvbuf, count, datatype);
  (void)receive_of(const_cast<void*>(sendbuf), count, datatype);
  return {&c,
          coll::across::allreduce(sides_of(c), sendbuf, into, shared_op(op, datatype, *into.type)),
          "MPI_Allreduce"};
}

prepared reduce_scatter(comm_object& c, const void* sendbuf, void* recvbuf,
                        const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op) {
  check_out(recvcounts, "recvcounts");
  const auto size = static_cast<std::size_t>(sides_of(c).local().size());
  for (std::size_t r = 0; r < size; ++r) {
    check_count(recvcounts[r]);
  }
  const auto own = sides_of(c).rank().index();
  const p2p::buffer into = receive_of(recvbuf, recvcounts[own], datatype);
  if (in_place(sendbuf)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed between groups");
  }
  return {&c,
          coll::across::reduce_scatter(sides_of(c), sendbuf, recvbuf, std::span(recvcounts, size),
                                       *into.type, shared_op(op, datatype, *into.type)),
          "MPI_Reduce_scatter"};
}

prepared reduce_scatter_block(comm_object& c, const void* sendbuf, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op) {
  check_count(recvcount);
  const std::vector<MPI_Count> all(static_cast<std::size_t>(sides_of(c).local().size()), recvcount);
  prepared made = reduce_scatter(c, sendbuf, recvbuf, all.data(), datatype, op);
  made.name = "MPI_Reduce_scatter_block";
  return made;
}

prepared gather(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  const comm_rank to = root_of(c, root);
  const p2p::buffer from = data_if(to >= 0, sendbuf, sendcount, sendtype);
  const p2p::buffer into = data_if(to == root_is_here, recvbuf, recvcount, recvtype);
  return {&c, coll::across::gather(sides_of(c), from, into, to), "MPI_Gather", told(to)};
}

prepared gatherv(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                 MPI_Datatype recvtype, int root) {
  const comm_rank to = root_of(c, root);
  const p2p::buffer from = data_if(to >= 0, sendbuf, sendcount, sendtype);
  const coll::parts into = parts_if(to == root_is_here, c, recvbuf, recvcounts, displs, recvtype);
  return {&c, coll::across::gather(sides_of(c), from, into, to), "MPI_Gatherv", told(to)};
}

prepared scatter(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  const comm_rank of = root_of(c, root);
  const p2p::buffer from = data_if(of == root_is_here, sendbuf, sendcount, sendtype);
  const p2p::buffer into = data_if(of >= 0, recvbuf, recvcount, recvtype);
  return {&c, coll::across::scatter(sides_of(c), from, into, of), "MPI_Scatter", told(of)};
}

prepared scatterv(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                  const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  const comm_rank of = root_of(c, root);
  const coll::parts from = parts_if(of == root_is_here, c, sendbuf, sendcounts, displs, sendtype);
  const p2p::buffer into = data_if(of >= 0, recvbuf, recvcount, recvtype);
  return {&c, coll::across::scatter(sides_of(c), from, into, of), "MPI_Scatterv", told(of)};
}

prepared allgather(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  return {&c,
          coll::across::allgather(sides_of(c), data_if(true, sendbuf, sendcount, sendtype),
                                  receive_of(recvbuf, recvcount, recvtype)),
          "MPI_Allgather"};
}

prepared allgatherv(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                    MPI_Datatype recvtype) {
  return {&c,
          coll::across::allgather(sides_of(c), data_if(true, sendbuf, sendcount, sendtype),
                                  parts_if(true, c, recvbuf, recvcounts, displs, recvtype)),
          "MPI_Allgatherv"};
}

prepared alltoall(comm_object& c, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  return {&c,
          coll::across::alltoall(sides_of(c), data_if(true, sendbuf, sendcount, sendtype),
                                 receive_of(recvbuf, recvcount, recvtype)),
          "MPI_Alltoall"};
}

prepared alltoallv(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype) {
  return {
      &c,
      coll::across::alltoall(sides_of(c), parts_if(true, c, sendbuf, sendcounts, sdispls, sendtype),
                             parts_if(true, c, recvbuf, recvcounts, rdispls, recvtype)),
      "MPI_Alltoallv"};
}

prepared alltoallw(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                   const MPI_Datatype recvtypes[]) {
  if (in_place(sendbuf) || in_place(recvbuf)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed between groups");
  }
  const int n = sides_of(c).remote().size();
  const typed_parts from(n, sendbuf, sendcounts, sdispls, sendtypes);
  const typed_parts into(n, recvbuf, recvcounts, rdispls, recvtypes);
  return {&c, coll::across::alltoall(sides_of(c), coll::parts_w(from), coll::parts_w(into)),
          "MPI_Alltoallw"};
}

}  // namespace sinew::mpi::across
