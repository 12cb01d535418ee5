// Collectives of intercommunicators (MPI-5.0 section 6.2.2) as plans: what all three forms of a
// collective take where their communicator has two groups. Arguments are those of MPI's calls, and
// are checked here. Warm.
#pragma once

#include "abi/mpi/nonblocking.hpp"

namespace sinew::mpi::across {

[[nodiscard]] prepared barrier(comm_object& c);
[[nodiscard]] prepared bcast(comm_object& c, void* buffer, MPI_Count count, MPI_Datatype datatype,
                             int root);
[[nodiscard]] prepared reduce(comm_object& c, const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, int root);
[[nodiscard]] prepared allreduce(comm_object& c, const void* sendbuf, void* recvbuf,
                                 MPI_Count count, MPI_Datatype datatype, MPI_Op op);
[[nodiscard]] prepared reduce_scatter(comm_object& c, const void* sendbuf, void* recvbuf,
                                      const MPI_Count recvcounts[], MPI_Datatype datatype,
                                      MPI_Op op);
[[nodiscard]] prepared reduce_scatter_block(comm_object& c, const void* sendbuf, void* recvbuf,
                                            MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op);
[[nodiscard]] prepared gather(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                              MPI_Datatype recvtype, int root);
[[nodiscard]] prepared gatherv(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                               MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint displs[], MPI_Datatype recvtype, int root);
[[nodiscard]] prepared scatter(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                               MPI_Datatype recvtype, int root);
[[nodiscard]] prepared scatterv(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, int root);
[[nodiscard]] prepared allgather(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                                 MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype recvtype);
[[nodiscard]] prepared allgatherv(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                                  MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint displs[],
                                  MPI_Datatype recvtype);
[[nodiscard]] prepared alltoall(comm_object& c, const void* sendbuf, MPI_Count sendcount,
                                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype recvtype);
[[nodiscard]] prepared alltoallv(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                 MPI_Datatype recvtype);
[[nodiscard]] prepared alltoallw(comm_object& c, const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]);

}  // namespace sinew::mpi::across
