// MPI-5.0 chapter 6: blocking collectives. Where the standard makes an argument significant at the
// root only, the other ranks' values are not checked.
#include "sinew/coll/collectives.hpp"

#include <span>
#include <vector>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/intercollectives.hpp"
#include "abi/mpi/op.hpp"
#include "abi/mpi/routed.hpp"
#include "c/mpi-ext.h"

namespace sinew::mpi {
namespace {

/// Reductions whose every rank needs a receive buffer.
template <class Collective>
int reduction(Collective run, const void* sendbuf, void* recvbuf, MPI_Count count,
              MPI_Datatype datatype, MPI_Op op, comm_object& c) {
  const p2p::buffer into = receive_of(recvbuf, count, datatype);
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  const bound_op o(op, datatype, *into.type);
  return end(c, run(participant_of(c), sendbuf, into, o));
}

}  // namespace

int end(comm_object& c, p2p::fault f) {
  switch (f) {
    case p2p::fault::none:
      return MPI_SUCCESS;
    case p2p::fault::truncated:
      fail_on(&c, MPI_ERR_TRUNCATE,
              "a rank sent more data than its partner expected: counts or datatypes differ");
    case p2p::fault::no_memory:
      fail_on(&c, MPI_ERR_NO_MEM, "there is no memory left for a message");
    case p2p::fault::peer_failed:
    case p2p::fault::peer_failed_pending:
      fail_on(&c, MPIX_ERR_PROC_FAILED, "a rank of the communicator has died");
    case p2p::fault::revoked:
      fail_on(&c, MPIX_ERR_REVOKED, "the communicator has been revoked (MPIX_Comm_revoke)");
    default:
      fail_on(&c, MPI_ERR_INTERN, "a message was cancelled");
  }
}

int impl::Barrier(MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::barrier(c));
  }
  return end(c, coll::barrier(participant_of(c)));
}

int impl::Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::bcast(c, buffer, count, datatype, root));
  }
  check_root(c, root);
  return end(c,
             coll::bcast(participant_of(c), receive_of(buffer, count, datatype), comm_rank{root}));
}

int impl::Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::reduce(c, sendbuf, recvbuf, count, datatype, op, root));
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  if (in_place(sendbuf) && !at_root) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
  }
  check_count(count);
  const p2p::buffer into =
      at_root ? receive_of(recvbuf, count, datatype)
              : p2p::buffer{nullptr, static_cast<std::size_t>(count), &layout_of(datatype)};
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  const bound_op o(op, datatype, *into.type);
  return end(c, coll::reduce(participant_of(c), sendbuf, into, o, comm_rank{root}));
}

int impl::Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::allreduce(c, sendbuf, recvbuf, count, datatype, op));
  }
  return reduction(coll::allreduce, sendbuf, recvbuf, count, datatype, op, c);
}

int impl::Scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op, MPI_Comm comm) {
  return reduction(coll::scan, sendbuf, recvbuf, count, datatype, op, intracomm_of(comm));
}

int impl::Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm) {
  return reduction(coll::exscan, sendbuf, recvbuf, count, datatype, op, intracomm_of(comm));
}

int impl::Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::reduce_scatter_block(c, sendbuf, recvbuf, recvcount, datatype, op));
  }
  return reduction(coll::reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, c);
}

int impl::Reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::reduce_scatter(c, sendbuf, recvbuf, recvcounts, datatype, op));
  }
  check_out(recvcounts, "recvcounts");
  const auto size = static_cast<std::size_t>(c.comm->size());
  for (std::size_t r = 0; r < size; ++r) {
    check_count(recvcounts[r]);
  }
  const auto own = c.comm->rank().index();
  // In place the data of all ranks is in recvbuf, which is then null only if there is none.
  const p2p::buffer into = receive_of(recvbuf, recvcounts[own], datatype);
  const bound_op o(op, datatype, *into.type);
  return end(c, coll::reduce_scatter(participant_of(c), sendbuf, recvbuf, {recvcounts, size},
                                     *into.type, o));
}

int impl::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::gather(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const p2p::buffer into = at_root ? receive_of(recvbuf, recvcount, recvtype) : p2p::buffer{};
  const p2p::buffer from = at_root ? send_of(sendbuf, sendcount, sendtype)
                                   : receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  return end(c, coll::gather(participant_of(c), from, into, comm_rank{root}));
}

int impl::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::gatherv(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                          displs, recvtype, root));
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const coll::parts into =
      at_root ? parts_of(c.comm->size(), recvbuf, recvcounts, displs, recvtype) : coll::parts{};
  const p2p::buffer from = at_root ? send_of(sendbuf, sendcount, sendtype)
                                   : receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  return end(c, coll::gatherv(participant_of(c), from, into, comm_rank{root}));
}

int impl::Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::scatter(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const p2p::buffer from =
      at_root ? receive_of(const_cast<void*>(sendbuf), sendcount, sendtype) : p2p::buffer{};
  const p2p::buffer into =
      at_root ? send_of(recvbuf, recvcount, recvtype) : receive_of(recvbuf, recvcount, recvtype);
  return end(c, coll::scatter(participant_of(c), from, into, comm_rank{root}));
}

int impl::Scatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::scatterv(c, sendbuf, sendcounts, displs, sendtype, recvbuf,
                                           recvcount, recvtype, root));
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const coll::parts from =
      at_root ? parts_of(c.comm->size(), sendbuf, sendcounts, displs, sendtype) : coll::parts{};
  const p2p::buffer into =
      at_root ? send_of(recvbuf, recvcount, recvtype) : receive_of(recvbuf, recvcount, recvtype);
  return end(c, coll::scatterv(participant_of(c), from, into, comm_rank{root}));
}

int impl::Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::allgather(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
  }
  return end(c, coll::allgather(participant_of(c), send_of(sendbuf, sendcount, sendtype),
                                receive_of(recvbuf, recvcount, recvtype)));
}

int impl::Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::allgatherv(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
  }
  return end(c, coll::allgatherv(participant_of(c), send_of(sendbuf, sendcount, sendtype),
                                 parts_of(c.comm->size(), recvbuf, recvcounts, displs, recvtype)));
}

int impl::Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(
        across::alltoall(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
  }
  return end(c, coll::alltoall(participant_of(c), send_of(sendbuf, sendcount, sendtype),
                               receive_of(recvbuf, recvcount, recvtype)));
}

int impl::Alltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::alltoallv(c, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                            recvcounts, rdispls, recvtype));
  }
  const coll::parts from = in_place(sendbuf)
                               ? coll::parts{sendbuf, nullptr, nullptr, nullptr}
                               : parts_of(c.comm->size(), sendbuf, sendcounts, sdispls, sendtype);
  const coll::parts into = parts_of(c.comm->size(), recvbuf, recvcounts, rdispls, recvtype);
  if (c.routes != nullptr && c.routes->alltoallv(participant_of(c), from, into)) {
    return MPI_SUCCESS;
  }
  return end(c, coll::alltoallv(participant_of(c), from, into));
}

int impl::Alltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) [[unlikely]] {
    return start_and_wait(across::alltoallw(c, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                            recvcounts, rdispls, recvtypes));
  }
  const typed_parts from(c.comm->size(), sendbuf, sendcounts, sdispls, sendtypes);
  const typed_parts into(c.comm->size(), recvbuf, recvcounts, rdispls, recvtypes);
  return end(c, coll::alltoallw(participant_of(c), from, into));
}

}  // namespace sinew::mpi
