// Made by abi/mpi/generate; do not edit.
#include "abi/mpi/face.hpp"
#include "abi/mpi/generated/impl.hpp"

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscan");
    return impl::Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscan"),
    gnu::visibility("default")]] int MPI_Iscan(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscan_c");
    return impl::Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscan_c"),
    gnu::visibility("default")]] int MPI_Iscan_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscatter");
    return impl::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscatter"),
    gnu::visibility("default")]] int MPI_Iscatter(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscatter_c");
    return impl::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscatter_c"),
    gnu::visibility("default")]] int MPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscatterv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Iscatterv(sendbuf, sendcounts_wide.data(), displs_wide.data(), sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscatterv"),
    gnu::visibility("default")]] int MPI_Iscatterv(const void* sendbuf, const int sendcounts[],
    const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
    int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iscatterv_c");
    return impl::Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iscatterv_c"),
    gnu::visibility("default")]] int MPI_Iscatterv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Isend");
    return impl::Isend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isend"), gnu::visibility("default")]] int MPI_Isend(const void* buf,
    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Isend_c");
    return impl::Isend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isend_c"),
    gnu::visibility("default")]] int MPI_Isend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Isendrecv");
    return impl::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isendrecv"),
    gnu::visibility("default")]] int MPI_Isendrecv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request);

int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
    int recvtag, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Isendrecv_c");
    return impl::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isendrecv_c"),
    gnu::visibility("default")]] int MPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request);

int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Isendrecv_replace");
    return impl::Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isendrecv_replace"),
    gnu::visibility("default")]] int MPI_Isendrecv_replace(void* buf, int count,
    MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
    int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Isendrecv_replace_c");
    return impl::Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Isendrecv_replace_c"),
    gnu::visibility("default")]] int MPI_Isendrecv_replace_c(void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Issend");
    return impl::Issend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Issend"),
    gnu::visibility("default")]] int MPI_Issend(const void* buf, int count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Issend_c");
    return impl::Issend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Issend_c"),
    gnu::visibility("default")]] int MPI_Issend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
    void* extra_state) {
  try {
    enter("MPI_Keyval_create");
    return impl::Keyval_create(copy_fn, delete_fn, keyval, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Keyval_create"),
    gnu::visibility("default")]] int MPI_Keyval_create(MPI_Copy_function* copy_fn,
    MPI_Delete_function* delete_fn, int* keyval, void* extra_state);

int PMPI_Keyval_free(int* keyval) {
  try {
    enter("MPI_Keyval_free");
    return impl::Keyval_free(keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Keyval_free"),
    gnu::visibility("default")]] int MPI_Keyval_free(int* keyval);

int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  try {
    enter("MPI_Lookup_name");
    return impl::Lookup_name(service_name, info, port_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Lookup_name"),
    gnu::visibility("default")]] int MPI_Lookup_name(const char* service_name, MPI_Info info,
    char* port_name);

MPI_Message PMPI_Message_fromint(int message) {
  return impl::Message_fromint(message);
}
[[gnu::weak, gnu::alias("PMPI_Message_fromint"),
    gnu::visibility("default")]] MPI_Message MPI_Message_fromint(int message);

int PMPI_Message_toint(MPI_Message message) {
  try {
    enter("MPI_Message_toint");
    return impl::Message_toint(message);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Message_toint"),
    gnu::visibility("default")]] int MPI_Message_toint(MPI_Message message);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  try {
    enter("MPI_Mprobe");
    return impl::Mprobe(source, tag, comm, message, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Mprobe"), gnu::visibility("default")]] int MPI_Mprobe(int source,
    int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);

int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Status* status) {
  try {
    enter("MPI_Mrecv");
    return impl::Mrecv(buf, count, datatype, message, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Mrecv"), gnu::visibility("default")]] int MPI_Mrecv(void* buf,
    int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status);

int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Status* status) {
  try {
    enter("MPI_Mrecv_c");
    return impl::Mrecv(buf, count, datatype, message, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Mrecv_c"), gnu::visibility("default")]] int MPI_Mrecv_c(void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status);

int PMPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_allgather");
    return impl::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgather"),
    gnu::visibility("default")]] int MPI_Neighbor_allgather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_allgather_c");
    return impl::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgather_c"),
    gnu::visibility("default")]] int MPI_Neighbor_allgather_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Neighbor_allgather_init");
    return impl::Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgather_init"),
    gnu::visibility("default")]] int MPI_Neighbor_allgather_init(const void* sendbuf,
    int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Neighbor_allgather_init_c");
    return impl::Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgather_init_c"),
    gnu::visibility("default")]] int MPI_Neighbor_allgather_init_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_allgatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> displs_wide(displs, in_degree(comm));
    return impl::Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgatherv"),
    gnu::visibility("default")]] int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_allgatherv_c");
    return impl::Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgatherv_c"),
    gnu::visibility("default")]] int MPI_Neighbor_allgatherv_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Neighbor_allgatherv_init");
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> displs_wide(displs, in_degree(comm));
    return impl::Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgatherv_init"),
    gnu::visibility("default")]] int MPI_Neighbor_allgatherv_init(const void* sendbuf,
    int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Neighbor_allgatherv_init_c");
    return impl::Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_allgatherv_init_c"),
    gnu::visibility("default")]] int MPI_Neighbor_allgatherv_init_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoall");
    return impl::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoall"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoall_c");
    return impl::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoall_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoall_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoall_init");
    return impl::Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoall_init"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoall_init_c");
    return impl::Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoall_init_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoall_init_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoallv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, in_degree(comm));
    return impl::Neighbor_alltoallv(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallv"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallv(const void* sendbuf,
    const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoallv_c");
    return impl::Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallv_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoallv_init");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, in_degree(comm));
    return impl::Neighbor_alltoallv_init(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallv_init"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallv_init(const void* sendbuf,
    const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoallv_init_c");
    return impl::Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallv_init_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallv_init_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoallw");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    return impl::Neighbor_alltoallw(sendbuf, sendcounts_wide.data(), sdispls, sendtypes, recvbuf, recvcounts_wide.data(), rdispls, recvtypes, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallw"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallw(const void* sendbuf,
    const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);

int PMPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm) {
  try {
    enter("MPI_Neighbor_alltoallw_c");
    return impl::Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallw_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallw_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);

int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoallw_init");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    return impl::Neighbor_alltoallw_init(sendbuf, sendcounts_wide.data(), sdispls, sendtypes, recvbuf, recvcounts_wide.data(), rdispls, recvtypes, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallw_init"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallw_init(const void* sendbuf,
    const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Neighbor_alltoallw_init_c");
    return impl::Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Neighbor_alltoallw_init_c"),
    gnu::visibility("default")]] int MPI_Neighbor_alltoallw_init_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Op_commutative(MPI_Op op, int* commute) {
  try {
    enter("MPI_Op_commutative");
    return impl::Op_commutative(op, commute);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Op_commutative"),
    gnu::visibility("default")]] int MPI_Op_commutative(MPI_Op op, int* commute);

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  try {
    enter("MPI_Op_create");
    return impl::Op_create(user_fn, commute, op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Op_create"),
    gnu::visibility("default")]] int MPI_Op_create(MPI_User_function* user_fn, int commute,
    MPI_Op* op);

int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  try {
    enter("MPI_Op_create_c");
    return impl::Op_create_c(user_fn, commute, op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Op_create_c"),
    gnu::visibility("default")]] int MPI_Op_create_c(MPI_User_function_c* user_fn, int commute,
    MPI_Op* op);

int PMPI_Op_free(MPI_Op* op) {
  try {
    enter("MPI_Op_free");
    return impl::Op_free(op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Op_free"), gnu::visibility("default")]] int MPI_Op_free(MPI_Op* op);

MPI_Op PMPI_Op_fromint(int op) {
  return impl::Op_fromint(op);
}
[[gnu::weak, gnu::alias("PMPI_Op_fromint"),
    gnu::visibility("default")]] MPI_Op MPI_Op_fromint(int op);

int PMPI_Op_toint(MPI_Op op) {
  try {
    enter("MPI_Op_toint");
    return impl::Op_toint(op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Op_toint"), gnu::visibility("default")]] int MPI_Op_toint(MPI_Op op);

int PMPI_Open_port(MPI_Info info, char* port_name) {
  try {
    enter("MPI_Open_port");
    return impl::Open_port(info, port_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Open_port"),
    gnu::visibility("default")]] int MPI_Open_port(MPI_Info info, char* port_name);

int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
    int* position, MPI_Comm comm) {
  try {
    enter("MPI_Pack");
    MPI_Count position_wide = read(position);
    const int code = impl::Pack(inbuf, incount, datatype, outbuf, outsize, &position_wide, comm);
    if (code == MPI_SUCCESS) {
      narrow(position_wide, position);
    }
    return code;
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack"), gnu::visibility("default")]] int MPI_Pack(const void* inbuf,
    int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position, MPI_Comm comm);

int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
    MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  try {
    enter("MPI_Pack_c");
    return impl::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_c"),
    gnu::visibility("default")]] int MPI_Pack_c(const void* inbuf, MPI_Count incount,
    MPI_Datatype datatype, void* outbuf, MPI_Count outsize, MPI_Count* position, MPI_Comm comm);

int PMPI_Pack_external(const char datarep[], const void* inbuf, int incount, MPI_Datatype datatype,
    void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  try {
    enter("MPI_Pack_external");
    return impl::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_external"),
    gnu::visibility("default")]] int MPI_Pack_external(const char datarep[], const void* inbuf,
    int incount, MPI_Datatype datatype, void* outbuf, MPI_Aint outsize, MPI_Aint* position);

int PMPI_Pack_external_c(const char datarep[], const void* inbuf, MPI_Count incount,
    MPI_Datatype datatype, void* outbuf, MPI_Count outsize, MPI_Count* position) {
  try {
    enter("MPI_Pack_external_c");
    return impl::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_external_c"),
    gnu::visibility("default")]] int MPI_Pack_external_c(const char datarep[], const void* inbuf,
    MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize, MPI_Count* position);

int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype,
    MPI_Aint* size) {
  try {
    enter("MPI_Pack_external_size");
    return impl::Pack_external_size(datarep, incount, datatype, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_external_size"),
    gnu::visibility("default")]] int MPI_Pack_external_size(const char datarep[], int incount,
    MPI_Datatype datatype, MPI_Aint* size);

int PMPI_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
    MPI_Count* size) {
  try {
    enter("MPI_Pack_external_size_c");
    return impl::Pack_external_size(datarep, incount, datatype, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_external_size_c"),
    gnu::visibility("default")]] int MPI_Pack_external_size_c(const char datarep[],
    MPI_Count incount, MPI_Datatype datatype, MPI_Count* size);

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  try {
    enter("MPI_Pack_size");
    MPI_Count size_wide = 0;
    const int code = impl::Pack_size(incount, datatype, comm, &size_wide);
    if (code == MPI_SUCCESS) {
      narrow(size_wide, size);
    }
    return code;
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_size"),
    gnu::visibility("default")]] int MPI_Pack_size(int incount, MPI_Datatype datatype,
    MPI_Comm comm, int* size);

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  try {
    enter("MPI_Pack_size_c");
    return impl::Pack_size(incount, datatype, comm, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Pack_size_c"),
    gnu::visibility("default")]] int MPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype,
    MPI_Comm comm, MPI_Count* size);

int PMPI_Parrived(MPI_Request request, int partition, int* flag) {
  try {
    enter("MPI_Parrived");
    return impl::Parrived(request, partition, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Parrived"),
    gnu::visibility("default")]] int MPI_Parrived(MPI_Request request, int partition, int* flag);

int PMPI_Pcontrol([[maybe_unused]] const int level, ...) { return MPI_SUCCESS; }
[[gnu::weak, gnu::alias("PMPI_Pcontrol"), gnu::visibility("default")]] int MPI_Pcontrol(const int level, ...);

int PMPI_Pready(int partition, MPI_Request request) {
  try {
    enter("MPI_Pready");
    return impl::Pready(partition, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pready"), gnu::visibility("default")]] int MPI_Pready(int partition,
    MPI_Request request);

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  try {
    enter("MPI_Pready_list");
    return impl::Pready_list(length, array_of_partitions, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pready_list"),
    gnu::visibility("default")]] int MPI_Pready_list(int length, const int array_of_partitions[],
    MPI_Request request);

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  try {
    enter("MPI_Pready_range");
    return impl::Pready_range(partition_low, partition_high, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Pready_range"),
    gnu::visibility("default")]] int MPI_Pready_range(int partition_low, int partition_high,
    MPI_Request request);

int PMPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Precv_init");
    return impl::Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Precv_init"),
    gnu::visibility("default")]] int MPI_Precv_init(void* buf, int partitions, MPI_Count count,
    MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
    int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Precv_init_c");
    return impl::Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Precv_init_c"),
    gnu::visibility("default")]] int MPI_Precv_init_c(void* buf, int partitions, MPI_Count count,
    MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  try {
    enter("MPI_Probe");
    return impl::Probe(source, tag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Probe"), gnu::visibility("default")]] int MPI_Probe(int source,
    int tag, MPI_Comm comm, MPI_Status* status);

int PMPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Psend_init");
    return impl::Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Psend_init"),
    gnu::visibility("default")]] int MPI_Psend_init(const void* buf, int partitions,
    MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Psend_init_c");
    return impl::Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Psend_init_c"),
    gnu::visibility("default")]] int MPI_Psend_init_c(const void* buf, int partitions,
    MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  try {
    enter("MPI_Publish_name");
    return impl::Publish_name(service_name, info, port_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Publish_name"),
    gnu::visibility("default")]] int MPI_Publish_name(const char* service_name, MPI_Info info,
    const char* port_name);

int PMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Win win) {
  try {
    enter("MPI_Put");
    return impl::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Put"),
    gnu::visibility("default")]] int MPI_Put(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Win win);

int PMPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win) {
  try {
    enter("MPI_Put_c");
    return impl::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Put_c"),
    gnu::visibility("default")]] int MPI_Put_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win);

int PMPI_Query_thread(int* provided) {
  try {
    enter("MPI_Query_thread");
    return impl::Query_thread(provided);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Query_thread"),
    gnu::visibility("default")]] int MPI_Query_thread(int* provided);

int PMPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Raccumulate");
    return impl::Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Raccumulate"),
    gnu::visibility("default")]] int MPI_Raccumulate(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);

int PMPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Raccumulate_c");
    return impl::Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Raccumulate_c"),
    gnu::visibility("default")]] int MPI_Raccumulate_c(const void* origin_addr,
    MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request* request);

int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status* status) {
  try {
    enter("MPI_Recv");
    return impl::Recv(buf, count, datatype, source, tag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Recv"), gnu::visibility("default")]] int MPI_Recv(void* buf,
    int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status);

int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Status* status) {
  try {
    enter("MPI_Recv_c");
    return impl::Recv(buf, count, datatype, source, tag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Recv_c"), gnu::visibility("default")]] int MPI_Recv_c(void* buf,
    MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status);

int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Recv_init");
    return impl::Recv_init(buf, count, datatype, source, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Recv_init"),
    gnu::visibility("default")]] int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype,
    int source, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Recv_init_c");
    return impl::Recv_init(buf, count, datatype, source, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Recv_init_c"),
    gnu::visibility("default")]] int MPI_Recv_init_c(void* buf, MPI_Count count,
    MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm) {
  try {
    enter("MPI_Reduce");
    return impl::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce"),
    gnu::visibility("default")]] int MPI_Reduce(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);

int PMPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm) {
  try {
    enter("MPI_Reduce_c");
    return impl::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_c"),
    gnu::visibility("default")]] int MPI_Reduce_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);

int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_init");
    return impl::Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_init"),
    gnu::visibility("default")]] int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_init_c");
    return impl::Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_init_c"),
    gnu::visibility("default")]] int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype,
    MPI_Op op) {
  try {
    enter("MPI_Reduce_local");
    return impl::Reduce_local(inbuf, inoutbuf, count, datatype, op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_local"),
    gnu::visibility("default")]] int MPI_Reduce_local(const void* inbuf, void* inoutbuf, int count,
    MPI_Datatype datatype, MPI_Op op);

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op) {
  try {
    enter("MPI_Reduce_local_c");
    return impl::Reduce_local(inbuf, inoutbuf, count, datatype, op);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_local_c"),
    gnu::visibility("default")]] int MPI_Reduce_local_c(const void* inbuf, void* inoutbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op);

int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Reduce_scatter");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    return impl::Reduce_scatter(sendbuf, recvbuf, recvcounts_wide.data(), datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter"),
    gnu::visibility("default")]] int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf,
    const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Reduce_scatter_c");
    return impl::Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_c"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf,
    const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Reduce_scatter_block");
    return impl::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_block"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf,
    int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Reduce_scatter_block_c");
    return impl::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_block_c"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_scatter_block_init");
    return impl::Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_block_init"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_block_init(const void* sendbuf,
    void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_scatter_block_init_c");
    return impl::Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_block_init_c"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_block_init_c(const void* sendbuf,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_scatter_init");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    return impl::Reduce_scatter_init(sendbuf, recvbuf, recvcounts_wide.data(), datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_init"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf,
    const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Reduce_scatter_init_c");
    return impl::Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Reduce_scatter_init_c"),
    gnu::visibility("default")]] int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf,
    const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
    MPI_Datarep_conversion_function* write_conversion_fn,
    MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  try {
    enter("MPI_Register_datarep");
    return impl::Register_datarep(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Register_datarep"),
    gnu::visibility("default")]] int MPI_Register_datarep(const char* datarep,
    MPI_Datarep_conversion_function* read_conversion_fn,
    MPI_Datarep_conversion_function* write_conversion_fn,
    MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state);

int PMPI_Register_datarep_c(const char* datarep,
    MPI_Datarep_conversion_function_c* read_conversion_fn,
    MPI_Datarep_conversion_function_c* write_conversion_fn,
    MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  try {
    enter("MPI_Register_datarep_c");
    return impl::Register_datarep_c(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Register_datarep_c"),
    gnu::visibility("default")]] int MPI_Register_datarep_c(const char* datarep,
    MPI_Datarep_conversion_function_c* read_conversion_fn,
    MPI_Datarep_conversion_function_c* write_conversion_fn,
    MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state);

int PMPI_Remove_error_class(int errorclass) {
  try {
    note("MPI_Remove_error_class");
    return impl::Remove_error_class(errorclass);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Remove_error_class"),
    gnu::visibility("default")]] int MPI_Remove_error_class(int errorclass);

int PMPI_Remove_error_code(int errorcode) {
  try {
    note("MPI_Remove_error_code");
    return impl::Remove_error_code(errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Remove_error_code"),
    gnu::visibility("default")]] int MPI_Remove_error_code(int errorcode);

int PMPI_Remove_error_string(int errorcode) {
  try {
    note("MPI_Remove_error_string");
    return impl::Remove_error_string(errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Remove_error_string"),
    gnu::visibility("default")]] int MPI_Remove_error_string(int errorcode);

int PMPI_Request_free(MPI_Request* request) {
  try {
    enter("MPI_Request_free");
    return impl::Request_free(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_free"),
    gnu::visibility("default")]] int MPI_Request_free(MPI_Request* request);

MPI_Request PMPI_Request_fromint(int request) {
  return impl::Request_fromint(request);
}
[[gnu::weak, gnu::alias("PMPI_Request_fromint"),
    gnu::visibility("default")]] MPI_Request MPI_Request_fromint(int request);

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  try {
    enter("MPI_Request_get_status");
    return impl::Request_get_status(request, flag, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_get_status"),
    gnu::visibility("default")]] int MPI_Request_get_status(MPI_Request request, int* flag,
    MPI_Status* status);

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
    MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Request_get_status_all");
    return impl::Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_get_status_all"),
    gnu::visibility("default")]] int MPI_Request_get_status_all(int count,
    const MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses);

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* index,
    int* flag, MPI_Status* status) {
  try {
    enter("MPI_Request_get_status_any");
    return impl::Request_get_status_any(count, array_of_requests, index, flag, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_get_status_any"),
    gnu::visibility("default")]] int MPI_Request_get_status_any(int count,
    const MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status);

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
    int array_of_indices[], MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Request_get_status_some");
    return impl::Request_get_status_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_get_status_some"),
    gnu::visibility("default")]] int MPI_Request_get_status_some(int incount,
    const MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
    MPI_Status* array_of_statuses);

int PMPI_Request_toint(MPI_Request request) {
  try {
    enter("MPI_Request_toint");
    return impl::Request_toint(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Request_toint"),
    gnu::visibility("default")]] int MPI_Request_toint(MPI_Request request);

int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
    MPI_Request* request) {
  try {
    enter("MPI_Rget");
    return impl::Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rget"), gnu::visibility("default")]] int MPI_Rget(void* origin_addr,
    int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);

int PMPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Rget_c");
    return impl::Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rget_c"),
    gnu::visibility("default")]] int MPI_Rget_c(void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);

int PMPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request* request) {
  try {
    enter("MPI_Rget_accumulate");
    return impl::Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rget_accumulate"),
    gnu::visibility("default")]] int MPI_Rget_accumulate(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, void* result_addr, int result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);

int PMPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Rget_accumulate_c");
    return impl::Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rget_accumulate_c"),
    gnu::visibility("default")]] int MPI_Rget_accumulate_c(const void* origin_addr,
    MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
    MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request* request);

int PMPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Rput");
    return impl::Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rput"),
    gnu::visibility("default")]] int MPI_Rput(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);

int PMPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request* request) {
  try {
    enter("MPI_Rput_c");
    return impl::Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Rput_c"),
    gnu::visibility("default")]] int MPI_Rput_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);

int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Rsend");
    return impl::Rsend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Rsend"), gnu::visibility("default")]] int MPI_Rsend(const void* buf,
    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Rsend_c");
    return impl::Rsend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Rsend_c"),
    gnu::visibility("default")]] int MPI_Rsend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Rsend_init");
    return impl::Rsend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Rsend_init"),
    gnu::visibility("default")]] int MPI_Rsend_init(const void* buf, int count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Rsend_init_c");
    return impl::Rsend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Rsend_init_c"),
    gnu::visibility("default")]] int MPI_Rsend_init_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm) {
  try {
    enter("MPI_Scan");
    return impl::Scan(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scan"),
    gnu::visibility("default")]] int MPI_Scan(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Scan_c");
    return impl::Scan(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scan_c"),
    gnu::visibility("default")]] int MPI_Scan_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Scan_init");
    return impl::Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scan_init"),
    gnu::visibility("default")]] int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Scan_init_c");
    return impl::Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scan_init_c"),
    gnu::visibility("default")]] int MPI_Scan_init_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Scatter");
    return impl::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatter"),
    gnu::visibility("default")]] int MPI_Scatter(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);

int PMPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Scatter_c");
    return impl::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatter_c"),
    gnu::visibility("default")]] int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);

int PMPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Scatter_init");
    return impl::Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatter_init"),
    gnu::visibility("default")]] int MPI_Scatter_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Scatter_init_c");
    return impl::Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatter_init_c"),
    gnu::visibility("default")]] int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  try {
    enter("MPI_Scatterv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Scatterv(sendbuf, sendcounts_wide.data(), displs_wide.data(), sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatterv"),
    gnu::visibility("default")]] int MPI_Scatterv(const void* sendbuf, const int sendcounts[],
    const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
    int root, MPI_Comm comm);

int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  try {
    enter("MPI_Scatterv_c");
    return impl::Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatterv_c"),
    gnu::visibility("default")]] int MPI_Scatterv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

int PMPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Scatterv_init");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Scatterv_init(sendbuf, sendcounts_wide.data(), displs_wide.data(), sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatterv_init"),
    gnu::visibility("default")]] int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[],
    const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
    int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Scatterv_init_c");
    return impl::Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Scatterv_init_c"),
    gnu::visibility("default")]] int MPI_Scatterv_init_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  try {
    enter("MPI_Send");
    return impl::Send(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Send"), gnu::visibility("default")]] int MPI_Send(const void* buf,
    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Send_c");
    return impl::Send(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Send_c"),
    gnu::visibility("default")]] int MPI_Send_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Send_init");
    return impl::Send_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Send_init"),
    gnu::visibility("default")]] int MPI_Send_init(const void* buf, int count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Send_init_c");
    return impl::Send_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Send_init_c"),
    gnu::visibility("default")]] int MPI_Send_init_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status* status) {
  try {
    enter("MPI_Sendrecv");
    return impl::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Sendrecv"),
    gnu::visibility("default")]] int MPI_Sendrecv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, int recvcount,
    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status);

int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
    int recvtag, MPI_Comm comm, MPI_Status* status) {
  try {
    enter("MPI_Sendrecv_c");
    return impl::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Sendrecv_c"),
    gnu::visibility("default")]] int MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status);

int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  try {
    enter("MPI_Sendrecv_replace");
    return impl::Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Sendrecv_replace"),
    gnu::visibility("default")]] int MPI_Sendrecv_replace(void* buf, int count,
    MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
    MPI_Status* status);

int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
    int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  try {
    enter("MPI_Sendrecv_replace_c");
    return impl::Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Sendrecv_replace_c"),
    gnu::visibility("default")]] int MPI_Sendrecv_replace_c(void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
    MPI_Status* status);

int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size) {
  try {
    enter("MPI_Session_attach_buffer");
    return impl::Session_attach_buffer(session, buffer, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_attach_buffer"),
    gnu::visibility("default")]] int MPI_Session_attach_buffer(MPI_Session session, void* buffer,
    int size);

int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size) {
  try {
    enter("MPI_Session_attach_buffer_c");
    return impl::Session_attach_buffer(session, buffer, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_attach_buffer_c"),
    gnu::visibility("default")]] int MPI_Session_attach_buffer_c(MPI_Session session, void* buffer,
    MPI_Count size);

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode) {
  try {
    note("MPI_Session_call_errhandler");
    return impl::Session_call_errhandler(session, errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_call_errhandler"),
    gnu::visibility("default")]] int MPI_Session_call_errhandler(MPI_Session session,
    int errorcode);

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
    MPI_Errhandler* errhandler) {
  try {
    note("MPI_Session_create_errhandler");
    return impl::Session_create_errhandler(session_errhandler_fn, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_create_errhandler"),
    gnu::visibility("default")]] int MPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn, MPI_Errhandler* errhandler);

int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
  try {
    enter("MPI_Session_detach_buffer");
    MPI_Count size_wide = 0;
    const int code = impl::Session_detach_buffer(session, buffer_addr, &size_wide);
    if (code == MPI_SUCCESS) {
      narrow(size_wide, size);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_detach_buffer"),
    gnu::visibility("default")]] int MPI_Session_detach_buffer(MPI_Session session,
    void* buffer_addr, int* size);

int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  try {
    enter("MPI_Session_detach_buffer_c");
    return impl::Session_detach_buffer(session, buffer_addr, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_detach_buffer_c"),
    gnu::visibility("default")]] int MPI_Session_detach_buffer_c(MPI_Session session,
    void* buffer_addr, MPI_Count* size);

int PMPI_Session_finalize(MPI_Session* session) {
  try {
    enter("MPI_Session_finalize");
    return impl::Session_finalize(session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_finalize"),
    gnu::visibility("default")]] int MPI_Session_finalize(MPI_Session* session);

int PMPI_Session_flush_buffer(MPI_Session session) {
  try {
    enter("MPI_Session_flush_buffer");
    return impl::Session_flush_buffer(session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_flush_buffer"),
    gnu::visibility("default")]] int MPI_Session_flush_buffer(MPI_Session session);

MPI_Session PMPI_Session_fromint(int session) {
  return impl::Session_fromint(session);
}
[[gnu::weak, gnu::alias("PMPI_Session_fromint"),
    gnu::visibility("default")]] MPI_Session MPI_Session_fromint(int session);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  try {
    enter("MPI_Session_get_errhandler");
    return impl::Session_get_errhandler(session, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_get_errhandler"),
    gnu::visibility("default")]] int MPI_Session_get_errhandler(MPI_Session session,
    MPI_Errhandler* errhandler);

int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used) {
  try {
    enter("MPI_Session_get_info");
    return impl::Session_get_info(session, info_used);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_get_info"),
    gnu::visibility("default")]] int MPI_Session_get_info(MPI_Session session, MPI_Info* info_used);

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len,
    char* pset_name) {
  try {
    enter("MPI_Session_get_nth_pset");
    return impl::Session_get_nth_pset(session, info, n, pset_len, pset_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_get_nth_pset"),
    gnu::visibility("default")]] int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info,
    int n, int* pset_len, char* pset_name);

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  try {
    enter("MPI_Session_get_num_psets");
    return impl::Session_get_num_psets(session, info, npset_names);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_get_num_psets"),
    gnu::visibility("default")]] int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info,
    int* npset_names);

int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  try {
    enter("MPI_Session_get_pset_info");
    return impl::Session_get_pset_info(session, pset_name, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_get_pset_info"),
    gnu::visibility("default")]] int MPI_Session_get_pset_info(MPI_Session session,
    const char* pset_name, MPI_Info* info);

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  try {
    enter("MPI_Session_iflush_buffer");
    return impl::Session_iflush_buffer(session, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_iflush_buffer"),
    gnu::visibility("default")]] int MPI_Session_iflush_buffer(MPI_Session session,
    MPI_Request* request);

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  try {
    note("MPI_Session_init");
    return impl::Session_init(info, errhandler, session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_init"),
    gnu::visibility("default")]] int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
    MPI_Session* session);

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  try {
    enter("MPI_Session_set_errhandler");
    return impl::Session_set_errhandler(session, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_set_errhandler"),
    gnu::visibility("default")]] int MPI_Session_set_errhandler(MPI_Session session,
    MPI_Errhandler errhandler);

int PMPI_Session_toint(MPI_Session session) {
  try {
    enter("MPI_Session_toint");
    return impl::Session_toint(session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Session_toint"),
    gnu::visibility("default")]] int MPI_Session_toint(MPI_Session session);

int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Ssend");
    return impl::Ssend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ssend"), gnu::visibility("default")]] int MPI_Ssend(const void* buf,
    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Ssend_c");
    return impl::Ssend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ssend_c"),
    gnu::visibility("default")]] int MPI_Ssend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ssend_init");
    return impl::Ssend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ssend_init"),
    gnu::visibility("default")]] int MPI_Ssend_init(const void* buf, int count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ssend_init_c");
    return impl::Ssend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ssend_init_c"),
    gnu::visibility("default")]] int MPI_Ssend_init_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Start(MPI_Request* request) {
  try {
    enter("MPI_Start");
    return impl::Start(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Start"),
    gnu::visibility("default")]] int MPI_Start(MPI_Request* request);

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  try {
    enter("MPI_Startall");
    return impl::Startall(count, array_of_requests);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Startall"), gnu::visibility("default")]] int MPI_Startall(int count,
    MPI_Request array_of_requests[]);

int PMPI_Status_get_error(const MPI_Status* status, int* err) {
  try {
    enter("MPI_Status_get_error");
    return impl::Status_get_error(status, err);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_get_error"),
    gnu::visibility("default")]] int MPI_Status_get_error(const MPI_Status* status, int* err);

int PMPI_Status_get_source(const MPI_Status* status, int* source) {
  try {
    enter("MPI_Status_get_source");
    return impl::Status_get_source(status, source);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_get_source"),
    gnu::visibility("default")]] int MPI_Status_get_source(const MPI_Status* status, int* source);

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
  try {
    enter("MPI_Status_get_tag");
    return impl::Status_get_tag(status, tag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_get_tag"),
    gnu::visibility("default")]] int MPI_Status_get_tag(const MPI_Status* status, int* tag);

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  try {
    enter("MPI_Status_set_cancelled");
    return impl::Status_set_cancelled(status, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_cancelled"),
    gnu::visibility("default")]] int MPI_Status_set_cancelled(MPI_Status* status, int flag);

int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  try {
    enter("MPI_Status_set_elements");
    return impl::Status_set_elements(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_elements"),
    gnu::visibility("default")]] int MPI_Status_set_elements(MPI_Status* status,
    MPI_Datatype datatype, int count);

int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  try {
    enter("MPI_Status_set_elements_c");
    return impl::Status_set_elements(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_elements_c"),
    gnu::visibility("default")]] int MPI_Status_set_elements_c(MPI_Status* status,
    MPI_Datatype datatype, MPI_Count count);

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  try {
    enter("MPI_Status_set_elements_x");
    return impl::Status_set_elements_x(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_elements_x"),
    gnu::visibility("default")]] int MPI_Status_set_elements_x(MPI_Status* status,
    MPI_Datatype datatype, MPI_Count count);

int PMPI_Status_set_error(MPI_Status* status, int err) {
  try {
    enter("MPI_Status_set_error");
    return impl::Status_set_error(status, err);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_error"),
    gnu::visibility("default")]] int MPI_Status_set_error(MPI_Status* status, int err);

int PMPI_Status_set_source(MPI_Status* status, int source) {
  try {
    enter("MPI_Status_set_source");
    return impl::Status_set_source(status, source);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_source"),
    gnu::visibility("default")]] int MPI_Status_set_source(MPI_Status* status, int source);

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
  try {
    enter("MPI_Status_set_tag");
    return impl::Status_set_tag(status, tag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Status_set_tag"),
    gnu::visibility("default")]] int MPI_Status_set_tag(MPI_Status* status, int tag);

int PMPI_T_category_changed(int* update_number) {
  try {
    note("MPI_T_category_changed");
    return impl::T_category_changed(update_number);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_changed"),
    gnu::visibility("default")]] int MPI_T_category_changed(int* update_number);

int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
  try {
    note("MPI_T_category_get_categories");
    return impl::T_category_get_categories(cat_index, len, indices);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_categories"),
    gnu::visibility("default")]] int MPI_T_category_get_categories(int cat_index, int len,
    int indices[]);

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
  try {
    note("MPI_T_category_get_cvars");
    return impl::T_category_get_cvars(cat_index, len, indices);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_cvars"),
    gnu::visibility("default")]] int MPI_T_category_get_cvars(int cat_index, int len,
    int indices[]);

int PMPI_T_category_get_events(int cat_index, int len, int indices[]) {
  try {
    note("MPI_T_category_get_events");
    return impl::T_category_get_events(cat_index, len, indices);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_events"),
    gnu::visibility("default")]] int MPI_T_category_get_events(int cat_index, int len,
    int indices[]);

int PMPI_T_category_get_index(const char* name, int* cat_index) {
  try {
    note("MPI_T_category_get_index");
    return impl::T_category_get_index(name, cat_index);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_index"),
    gnu::visibility("default")]] int MPI_T_category_get_index(const char* name, int* cat_index);

int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
    int* num_cvars, int* num_pvars, int* num_categories) {
  try {
    note("MPI_T_category_get_info");
    return impl::T_category_get_info(cat_index, name, name_len, desc, desc_len, num_cvars, num_pvars, num_categories);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_info"),
    gnu::visibility("default")]] int MPI_T_category_get_info(int cat_index, char* name,
    int* name_len, char* desc, int* desc_len, int* num_cvars, int* num_pvars, int* num_categories);

int PMPI_T_category_get_num(int* num_cat) {
  try {
    note("MPI_T_category_get_num");
    return impl::T_category_get_num(num_cat);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_num"),
    gnu::visibility("default")]] int MPI_T_category_get_num(int* num_cat);

int PMPI_T_category_get_num_events(int cat_index, int* num_events) {
  try {
    note("MPI_T_category_get_num_events");
    return impl::T_category_get_num_events(cat_index, num_events);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_num_events"),
    gnu::visibility("default")]] int MPI_T_category_get_num_events(int cat_index, int* num_events);

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
  try {
    note("MPI_T_category_get_pvars");
    return impl::T_category_get_pvars(cat_index, len, indices);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_category_get_pvars"),
    gnu::visibility("default")]] int MPI_T_category_get_pvars(int cat_index, int len,
    int indices[]);

int PMPI_T_cvar_get_index(const char* name, int* cvar_index) {
  try {
    note("MPI_T_cvar_get_index");
    return impl::T_cvar_get_index(name, cvar_index);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_get_index"),
    gnu::visibility("default")]] int MPI_T_cvar_get_index(const char* name, int* cvar_index);

int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity,
    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
    int* scope) {
  try {
    note("MPI_T_cvar_get_info");
    return impl::T_cvar_get_info(cvar_index, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind, scope);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_get_info"),
    gnu::visibility("default")]] int MPI_T_cvar_get_info(int cvar_index, char* name, int* name_len,
    int* verbosity, MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
    int* bind, int* scope);

int PMPI_T_cvar_get_num(int* num_cvar) {
  try {
    note("MPI_T_cvar_get_num");
    return impl::T_cvar_get_num(num_cvar);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_get_num"),
    gnu::visibility("default")]] int MPI_T_cvar_get_num(int* num_cvar);

int PMPI_T_cvar_handle_alloc(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle,
    int* count) {
  try {
    note("MPI_T_cvar_handle_alloc");
    return impl::T_cvar_handle_alloc(cvar_index, obj_handle, handle, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_handle_alloc"),
    gnu::visibility("default")]] int MPI_T_cvar_handle_alloc(int cvar_index, void* obj_handle,
    MPI_T_cvar_handle* handle, int* count);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  try {
    note("MPI_T_cvar_handle_free");
    return impl::T_cvar_handle_free(handle);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_handle_free"),
    gnu::visibility("default")]] int MPI_T_cvar_handle_free(MPI_T_cvar_handle* handle);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  try {
    note("MPI_T_cvar_read");
    return impl::T_cvar_read(handle, buf);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_read"),
    gnu::visibility("default")]] int MPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  try {
    note("MPI_T_cvar_write");
    return impl::T_cvar_write(handle, buf);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_cvar_write"),
    gnu::visibility("default")]] int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf);

}
#pragma GCC visibility pop
