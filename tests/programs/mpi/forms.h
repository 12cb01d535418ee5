/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives by their other forms: with FORM 1 MPI_X becomes MPI_IX and a wait, with
 * FORM 2 MPI_X_init, started, completed and freed; those run twice that do no harm to data in
 * place. Included before the program's own text. */
#ifndef SINEW_TESTS_FORMS_H
#define SINEW_TESTS_FORMS_H

#include <mpi.h>

static inline int ended(int code, MPI_Request* request) {
  int flag = 0;
  MPI_Status status;
  for (int i = 0; i < 3 && code == MPI_SUCCESS && !flag; ++i) {
    code = MPI_Test(request, &flag, &status);
  }
  return code != MPI_SUCCESS || flag ? code : MPI_Wait(request, &status);
}

static inline int started(int code, MPI_Request* request, int twice) {
  for (int i = 0; i <= twice && code == MPI_SUCCESS; ++i) {
    code = MPI_Start(request);
    if (code == MPI_SUCCESS) code = ended(code, request);
  }
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
  return code;
}

static inline int form_Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ibarrier(comm, &request), &request);
#else
  return started(MPI_Barrier_init(comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Barrier form_Barrier

static inline int form_Bcast(void* buffer, int count, MPI_Datatype datatype, int root,
    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ibcast(buffer, count, datatype, root, comm, &request), &request);
#else
  return started(MPI_Bcast_init(buffer, count, datatype, root, comm, MPI_INFO_NULL, &request),
    &request, 1);
#endif
}
#define MPI_Bcast form_Bcast

static inline int form_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, &request), &request);
#else
  return started(MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, MPI_INFO_NULL,
    &request), &request, 0);
#endif
}
#define MPI_Reduce form_Reduce

static inline int form_Allreduce(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &request), &request);
#else
  return started(MPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL,
    &request), &request, 0);
#endif
}
#define MPI_Allreduce form_Allreduce

static inline int form_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, &request), &request);
#else
  return started(MPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL,
    &request), &request, 0);
#endif
}
#define MPI_Scan form_Scan

static inline int form_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, &request), &request);
#else
  return started(MPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, MPI_INFO_NULL,
    &request), &request, 0);
#endif
}
#define MPI_Exscan form_Exscan

static inline int form_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &request),
    &request);
#else
  return started(MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm,
    MPI_INFO_NULL, &request), &request, 0);
#endif
}
#define MPI_Reduce_scatter form_Reduce_scatter

static inline int form_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm,
    &request), &request);
#else
  return started(MPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm,
    MPI_INFO_NULL, &request), &request, 0);
#endif
}
#define MPI_Reduce_scatter_block form_Reduce_scatter_block

static inline int form_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
    &request), &request);
#else
  return started(MPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
    comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Gather form_Gather

static inline int form_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
    root, comm, &request), &request);
#else
  return started(MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
    recvtype, root, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Gatherv form_Gatherv

static inline int form_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
    &request), &request);
#else
  return started(MPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
    comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Scatter form_Scatter

static inline int form_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
    root, comm, &request), &request);
#else
  return started(MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
    recvtype, root, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Scatterv form_Scatterv

static inline int form_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
    &request), &request);
#else
  return started(MPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
    comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Allgather form_Allgather

static inline int form_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
    comm, &request), &request);
#else
  return started(MPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
    recvtype, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Allgatherv form_Allgatherv

static inline int form_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
    &request), &request);
#else
  return started(MPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
    comm, MPI_INFO_NULL, &request), &request, 0);
#endif
}
#define MPI_Alltoall form_Alltoall

static inline int form_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
    recvtype, comm, &request), &request);
#else
  return started(MPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
    rdispls, recvtype, comm, MPI_INFO_NULL, &request), &request, 0);
#endif
}
#define MPI_Alltoallv form_Alltoallv

static inline int form_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
    rdispls, recvtypes, comm, &request), &request);
#else
  return started(MPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
    rdispls, recvtypes, comm, MPI_INFO_NULL, &request), &request, 0);
#endif
}
#define MPI_Alltoallw form_Alltoallw

static inline int form_Neighbor_allgather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
    comm, &request), &request);
#else
  return started(MPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
    recvtype, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Neighbor_allgather form_Neighbor_allgather

static inline int form_Neighbor_allgatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
    recvtype, comm, &request), &request);
#else
  return started(MPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
    displs, recvtype, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Neighbor_allgatherv form_Neighbor_allgatherv

static inline int form_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
    comm, &request), &request);
#else
  return started(MPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
    recvtype, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Neighbor_alltoall form_Neighbor_alltoall

static inline int form_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[],
    const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
    rdispls, recvtype, comm, &request), &request);
#else
  return started(MPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
    recvcounts, rdispls, recvtype, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Neighbor_alltoallv form_Neighbor_alltoallv

static inline int form_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
#if FORM == 1
  return ended(MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
    recvcounts, rdispls, recvtypes, comm, &request), &request);
#else
  return started(MPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
    recvcounts, rdispls, recvtypes, comm, MPI_INFO_NULL, &request), &request, 1);
#endif
}
#define MPI_Neighbor_alltoallw form_Neighbor_alltoallw

#endif
