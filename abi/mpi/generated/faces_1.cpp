// Made by abi/mpi/generate; do not edit.
#include "abi/mpi/face.hpp"
#include "abi/mpi/generated/impl.hpp"

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
    int* is_set) {
  try {
    note("MPI_Abi_get_fortran_booleans");
    return impl::Abi_get_fortran_booleans(logical_size, logical_true, logical_false, is_set);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_get_fortran_booleans"),
    gnu::visibility("default")]] int MPI_Abi_get_fortran_booleans(int logical_size,
    void* logical_true, void* logical_false, int* is_set);

int PMPI_Abi_get_fortran_info(MPI_Info* info) {
  try {
    note("MPI_Abi_get_fortran_info");
    return impl::Abi_get_fortran_info(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_get_fortran_info"),
    gnu::visibility("default")]] int MPI_Abi_get_fortran_info(MPI_Info* info);

int PMPI_Abi_get_info(MPI_Info* info) {
  try {
    note("MPI_Abi_get_info");
    return impl::Abi_get_info(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_get_info"),
    gnu::visibility("default")]] int MPI_Abi_get_info(MPI_Info* info);

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
  try {
    note("MPI_Abi_get_version");
    return impl::Abi_get_version(abi_major, abi_minor);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_get_version"),
    gnu::visibility("default")]] int MPI_Abi_get_version(int* abi_major, int* abi_minor);

int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  try {
    note("MPI_Abi_set_fortran_booleans");
    return impl::Abi_set_fortran_booleans(logical_size, logical_true, logical_false);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_set_fortran_booleans"),
    gnu::visibility("default")]] int MPI_Abi_set_fortran_booleans(int logical_size,
    void* logical_true, void* logical_false);

int PMPI_Abi_set_fortran_info(MPI_Info info) {
  try {
    note("MPI_Abi_set_fortran_info");
    return impl::Abi_set_fortran_info(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Abi_set_fortran_info"),
    gnu::visibility("default")]] int MPI_Abi_set_fortran_info(MPI_Info info);

int PMPI_Abort(MPI_Comm comm, int errorcode) {
  try {
    enter("MPI_Abort");
    return impl::Abort(comm, errorcode);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Abort"), gnu::visibility("default")]] int MPI_Abort(MPI_Comm comm,
    int errorcode);

int PMPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win) {
  try {
    enter("MPI_Accumulate");
    return impl::Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Accumulate"),
    gnu::visibility("default")]] int MPI_Accumulate(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);

int PMPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  try {
    enter("MPI_Accumulate_c");
    return impl::Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Accumulate_c"),
    gnu::visibility("default")]] int MPI_Accumulate_c(const void* origin_addr,
    MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);

int PMPI_Add_error_class(int* errorclass) {
  try {
    note("MPI_Add_error_class");
    return impl::Add_error_class(errorclass);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Add_error_class"),
    gnu::visibility("default")]] int MPI_Add_error_class(int* errorclass);

int PMPI_Add_error_code(int errorclass, int* errorcode) {
  try {
    note("MPI_Add_error_code");
    return impl::Add_error_code(errorclass, errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Add_error_code"),
    gnu::visibility("default")]] int MPI_Add_error_code(int errorclass, int* errorcode);

int PMPI_Add_error_string(int errorcode, const char* string) {
  try {
    note("MPI_Add_error_string");
    return impl::Add_error_string(errorcode, string);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Add_error_string"),
    gnu::visibility("default")]] int MPI_Add_error_string(int errorcode, const char* string);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return impl::Aint_add(base, disp);
}
[[gnu::weak, gnu::alias("PMPI_Aint_add"),
    gnu::visibility("default")]] MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return impl::Aint_diff(addr1, addr2);
}
[[gnu::weak, gnu::alias("PMPI_Aint_diff"),
    gnu::visibility("default")]] MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);

int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Allgather");
    return impl::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgather"),
    gnu::visibility("default")]] int MPI_Allgather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Allgather_c");
    return impl::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgather_c"),
    gnu::visibility("default")]] int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm);

int PMPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Allgather_init");
    return impl::Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgather_init"),
    gnu::visibility("default")]] int MPI_Allgather_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Allgather_init_c");
    return impl::Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgather_init_c"),
    gnu::visibility("default")]] int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Allgatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> displs_wide(displs, members(comm));
    return impl::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgatherv"),
    gnu::visibility("default")]] int MPI_Allgatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm) {
  try {
    enter("MPI_Allgatherv_c");
    return impl::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgatherv_c"),
    gnu::visibility("default")]] int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Allgatherv_init");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> displs_wide(displs, members(comm));
    return impl::Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgatherv_init"),
    gnu::visibility("default")]] int MPI_Allgatherv_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Allgatherv_init_c");
    return impl::Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allgatherv_init_c"),
    gnu::visibility("default")]] int MPI_Allgatherv_init_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  try {
    enter("MPI_Alloc_mem");
    return impl::Alloc_mem(size, info, baseptr);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Alloc_mem"),
    gnu::visibility("default")]] int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr);

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm) {
  try {
    enter("MPI_Allreduce");
    return impl::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allreduce"),
    gnu::visibility("default")]] int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Allreduce_c");
    return impl::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allreduce_c"),
    gnu::visibility("default")]] int MPI_Allreduce_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Allreduce_init");
    return impl::Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allreduce_init"),
    gnu::visibility("default")]] int MPI_Allreduce_init(const void* sendbuf, void* recvbuf,
    int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Allreduce_init_c");
    return impl::Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Allreduce_init_c"),
    gnu::visibility("default")]] int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Alltoall");
    return impl::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoall"),
    gnu::visibility("default")]] int MPI_Alltoall(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Alltoall_c");
    return impl::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoall_c"),
    gnu::visibility("default")]] int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm);

int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Alltoall_init");
    return impl::Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoall_init"),
    gnu::visibility("default")]] int MPI_Alltoall_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Alltoall_init_c");
    return impl::Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoall_init_c"),
    gnu::visibility("default")]] int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Alltoallv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Alltoallv(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallv"),
    gnu::visibility("default")]] int MPI_Alltoallv(const void* sendbuf, const int sendcounts[],
    const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  try {
    enter("MPI_Alltoallv_c");
    return impl::Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallv_c"),
    gnu::visibility("default")]] int MPI_Alltoallv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Alltoallv_init");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Alltoallv_init(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallv_init"),
    gnu::visibility("default")]] int MPI_Alltoallv_init(const void* sendbuf,
    const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Alltoallv_init_c");
    return impl::Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallv_init_c"),
    gnu::visibility("default")]] int MPI_Alltoallv_init_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
  try {
    enter("MPI_Alltoallw");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Alltoallw(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtypes, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtypes, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallw"),
    gnu::visibility("default")]] int MPI_Alltoallw(const void* sendbuf, const int sendcounts[],
    const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  try {
    enter("MPI_Alltoallw_c");
    return impl::Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallw_c"),
    gnu::visibility("default")]] int MPI_Alltoallw_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);

int PMPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Alltoallw_init");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Alltoallw_init(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtypes, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtypes, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallw_init"),
    gnu::visibility("default")]] int MPI_Alltoallw_init(const void* sendbuf,
    const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
    MPI_Info info, MPI_Request* request);

int PMPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Alltoallw_init_c");
    return impl::Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Alltoallw_init_c"),
    gnu::visibility("default")]] int MPI_Alltoallw_init_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  try {
    enter("MPI_Attr_delete");
    return impl::Attr_delete(comm, keyval);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Attr_delete"),
    gnu::visibility("default")]] int MPI_Attr_delete(MPI_Comm comm, int keyval);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  try {
    enter("MPI_Attr_get");
    return impl::Attr_get(comm, keyval, attribute_val, flag);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Attr_get"),
    gnu::visibility("default")]] int MPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val,
    int* flag);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  try {
    enter("MPI_Attr_put");
    return impl::Attr_put(comm, keyval, attribute_val);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Attr_put"),
    gnu::visibility("default")]] int MPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val);

int PMPI_Barrier(MPI_Comm comm) {
  try {
    enter("MPI_Barrier");
    return impl::Barrier(comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Barrier"),
    gnu::visibility("default")]] int MPI_Barrier(MPI_Comm comm);

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Barrier_init");
    return impl::Barrier_init(comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Barrier_init"),
    gnu::visibility("default")]] int MPI_Barrier_init(MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Bcast");
    return impl::Bcast(buffer, count, datatype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bcast"), gnu::visibility("default")]] int MPI_Bcast(void* buffer,
    int count, MPI_Datatype datatype, int root, MPI_Comm comm);

int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Bcast_c");
    return impl::Bcast(buffer, count, datatype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bcast_c"), gnu::visibility("default")]] int MPI_Bcast_c(void* buffer,
    MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);

int PMPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Bcast_init");
    return impl::Bcast_init(buffer, count, datatype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bcast_init"),
    gnu::visibility("default")]] int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype,
    int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Bcast_init_c");
    return impl::Bcast_init(buffer, count, datatype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bcast_init_c"),
    gnu::visibility("default")]] int MPI_Bcast_init_c(void* buffer, MPI_Count count,
    MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Bsend");
    return impl::Bsend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bsend"), gnu::visibility("default")]] int MPI_Bsend(const void* buf,
    int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm) {
  try {
    enter("MPI_Bsend_c");
    return impl::Bsend(buf, count, datatype, dest, tag, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bsend_c"),
    gnu::visibility("default")]] int MPI_Bsend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Bsend_init");
    return impl::Bsend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bsend_init"),
    gnu::visibility("default")]] int MPI_Bsend_init(const void* buf, int count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Bsend_init_c");
    return impl::Bsend_init(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Bsend_init_c"),
    gnu::visibility("default")]] int MPI_Bsend_init_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Buffer_attach(void* buffer, int size) {
  try {
    enter("MPI_Buffer_attach");
    return impl::Buffer_attach(buffer, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_attach"),
    gnu::visibility("default")]] int MPI_Buffer_attach(void* buffer, int size);

int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
  try {
    enter("MPI_Buffer_attach_c");
    return impl::Buffer_attach(buffer, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_attach_c"),
    gnu::visibility("default")]] int MPI_Buffer_attach_c(void* buffer, MPI_Count size);

int PMPI_Buffer_detach(void* buffer_addr, int* size) {
  try {
    enter("MPI_Buffer_detach");
    MPI_Count size_wide = 0;
    const int code = impl::Buffer_detach(buffer_addr, &size_wide);
    if (code == MPI_SUCCESS) {
      narrow(size_wide, size);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_detach"),
    gnu::visibility("default")]] int MPI_Buffer_detach(void* buffer_addr, int* size);

int PMPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size) {
  try {
    enter("MPI_Buffer_detach_c");
    return impl::Buffer_detach(buffer_addr, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_detach_c"),
    gnu::visibility("default")]] int MPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size);

int PMPI_Buffer_flush(void) {
  try {
    enter("MPI_Buffer_flush");
    return impl::Buffer_flush();
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_flush"),
    gnu::visibility("default")]] int MPI_Buffer_flush(void);

int PMPI_Buffer_iflush(MPI_Request* request) {
  try {
    enter("MPI_Buffer_iflush");
    return impl::Buffer_iflush(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Buffer_iflush"),
    gnu::visibility("default")]] int MPI_Buffer_iflush(MPI_Request* request);

int PMPI_Cancel(MPI_Request* request) {
  try {
    enter("MPI_Cancel");
    return impl::Cancel(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Cancel"),
    gnu::visibility("default")]] int MPI_Cancel(MPI_Request* request);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  try {
    enter("MPI_Cart_coords");
    return impl::Cart_coords(comm, rank, maxdims, coords);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_coords"),
    gnu::visibility("default")]] int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims,
    int coords[]);

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
    int reorder, MPI_Comm* comm_cart) {
  try {
    enter("MPI_Cart_create");
    return impl::Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart);
  } catch (...) {
    return caught(comm_old);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_create"),
    gnu::visibility("default")]] int MPI_Cart_create(MPI_Comm comm_old, int ndims,
    const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart);

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  try {
    enter("MPI_Cart_get");
    return impl::Cart_get(comm, maxdims, dims, periods, coords);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_get"),
    gnu::visibility("default")]] int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[],
    int periods[], int coords[]);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  try {
    enter("MPI_Cart_map");
    return impl::Cart_map(comm, ndims, dims, periods, newrank);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_map"),
    gnu::visibility("default")]] int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[],
    const int periods[], int* newrank);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  try {
    enter("MPI_Cart_rank");
    return impl::Cart_rank(comm, coords, rank);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_rank"),
    gnu::visibility("default")]] int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank);

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  try {
    enter("MPI_Cart_shift");
    return impl::Cart_shift(comm, direction, disp, rank_source, rank_dest);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_shift"),
    gnu::visibility("default")]] int MPI_Cart_shift(MPI_Comm comm, int direction, int disp,
    int* rank_source, int* rank_dest);

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  try {
    enter("MPI_Cart_sub");
    return impl::Cart_sub(comm, remain_dims, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cart_sub"),
    gnu::visibility("default")]] int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[],
    MPI_Comm* newcomm);

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  try {
    enter("MPI_Cartdim_get");
    return impl::Cartdim_get(comm, ndims);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Cartdim_get"),
    gnu::visibility("default")]] int MPI_Cartdim_get(MPI_Comm comm, int* ndims);

int PMPI_Close_port(const char* port_name) {
  try {
    enter("MPI_Close_port");
    return impl::Close_port(port_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Close_port"),
    gnu::visibility("default")]] int MPI_Close_port(const char* port_name);

int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_accept");
    return impl::Comm_accept(port_name, info, root, comm, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_accept"),
    gnu::visibility("default")]] int MPI_Comm_accept(const char* port_name, MPI_Info info,
    int root, MPI_Comm comm, MPI_Comm* newcomm);

int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
  try {
    enter("MPI_Comm_attach_buffer");
    return impl::Comm_attach_buffer(comm, buffer, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_attach_buffer"),
    gnu::visibility("default")]] int MPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size);

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
  try {
    enter("MPI_Comm_attach_buffer_c");
    return impl::Comm_attach_buffer(comm, buffer, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_attach_buffer_c"),
    gnu::visibility("default")]] int MPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer,
    MPI_Count size);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  try {
    enter("MPI_Comm_call_errhandler");
    return impl::Comm_call_errhandler(comm, errorcode);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_call_errhandler"),
    gnu::visibility("default")]] int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  try {
    enter("MPI_Comm_compare");
    return impl::Comm_compare(comm1, comm2, result);
  } catch (...) {
    return caught(comm1);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_compare"),
    gnu::visibility("default")]] int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result);

int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_connect");
    return impl::Comm_connect(port_name, info, root, comm, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_connect"),
    gnu::visibility("default")]] int MPI_Comm_connect(const char* port_name, MPI_Info info,
    int root, MPI_Comm comm, MPI_Comm* newcomm);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_create");
    return impl::Comm_create(comm, group, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_create"),
    gnu::visibility("default")]] int MPI_Comm_create(MPI_Comm comm, MPI_Group group,
    MPI_Comm* newcomm);

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
    MPI_Errhandler* errhandler) {
  try {
    note("MPI_Comm_create_errhandler");
    return impl::Comm_create_errhandler(comm_errhandler_fn, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_create_errhandler"),
    gnu::visibility("default")]] int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler);

int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_create_from_group");
    return impl::Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_create_from_group"),
    gnu::visibility("default")]] int MPI_Comm_create_from_group(MPI_Group group,
    const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newcomm);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_create_group");
    return impl::Comm_create_group(comm, group, tag, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_create_group"),
    gnu::visibility("default")]] int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
    MPI_Comm* newcomm);

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
    MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state) {
  try {
    enter("MPI_Comm_create_keyval");
    return impl::Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_create_keyval"),
    gnu::visibility("default")]] int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn, MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state);

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  try {
    enter("MPI_Comm_delete_attr");
    return impl::Comm_delete_attr(comm, comm_keyval);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_delete_attr"),
    gnu::visibility("default")]] int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval);

int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
  try {
    enter("MPI_Comm_detach_buffer");
    MPI_Count size_wide = 0;
    const int code = impl::Comm_detach_buffer(comm, buffer_addr, &size_wide);
    if (code == MPI_SUCCESS) {
      narrow(size_wide, size);
    }
    return code;
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_detach_buffer"),
    gnu::visibility("default")]] int MPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr,
    int* size);

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  try {
    enter("MPI_Comm_detach_buffer_c");
    return impl::Comm_detach_buffer(comm, buffer_addr, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_detach_buffer_c"),
    gnu::visibility("default")]] int MPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr,
    MPI_Count* size);

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  try {
    enter("MPI_Comm_disconnect");
    return impl::Comm_disconnect(comm);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_disconnect"),
    gnu::visibility("default")]] int MPI_Comm_disconnect(MPI_Comm* comm);

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_dup");
    return impl::Comm_dup(comm, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_dup"),
    gnu::visibility("default")]] int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_dup_with_info");
    return impl::Comm_dup_with_info(comm, info, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_dup_with_info"),
    gnu::visibility("default")]] int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info,
    MPI_Comm* newcomm);

int PMPI_Comm_flush_buffer(MPI_Comm comm) {
  try {
    enter("MPI_Comm_flush_buffer");
    return impl::Comm_flush_buffer(comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_flush_buffer"),
    gnu::visibility("default")]] int MPI_Comm_flush_buffer(MPI_Comm comm);

int PMPI_Comm_free(MPI_Comm* comm) {
  try {
    enter("MPI_Comm_free");
    return impl::Comm_free(comm);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_free"),
    gnu::visibility("default")]] int MPI_Comm_free(MPI_Comm* comm);

int PMPI_Comm_free_keyval(int* comm_keyval) {
  try {
    enter("MPI_Comm_free_keyval");
    return impl::Comm_free_keyval(comm_keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_free_keyval"),
    gnu::visibility("default")]] int MPI_Comm_free_keyval(int* comm_keyval);

MPI_Comm PMPI_Comm_fromint(int comm) {
  return impl::Comm_fromint(comm);
}
[[gnu::weak, gnu::alias("PMPI_Comm_fromint"),
    gnu::visibility("default")]] MPI_Comm MPI_Comm_fromint(int comm);

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  try {
    enter("MPI_Comm_get_attr");
    return impl::Comm_get_attr(comm, comm_keyval, attribute_val, flag);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_get_attr"),
    gnu::visibility("default")]] int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval,
    void* attribute_val, int* flag);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  try {
    enter("MPI_Comm_get_errhandler");
    return impl::Comm_get_errhandler(comm, errhandler);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_get_errhandler"),
    gnu::visibility("default")]] int MPI_Comm_get_errhandler(MPI_Comm comm,
    MPI_Errhandler* errhandler);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  try {
    enter("MPI_Comm_get_info");
    return impl::Comm_get_info(comm, info_used);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_get_info"),
    gnu::visibility("default")]] int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used);

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  try {
    enter("MPI_Comm_get_name");
    return impl::Comm_get_name(comm, comm_name, resultlen);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_get_name"),
    gnu::visibility("default")]] int MPI_Comm_get_name(MPI_Comm comm, char* comm_name,
    int* resultlen);

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  try {
    enter("MPI_Comm_get_parent");
    return impl::Comm_get_parent(parent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_get_parent"),
    gnu::visibility("default")]] int MPI_Comm_get_parent(MPI_Comm* parent);

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  try {
    enter("MPI_Comm_group");
    return impl::Comm_group(comm, group);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_group"),
    gnu::visibility("default")]] int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  try {
    enter("MPI_Comm_idup");
    return impl::Comm_idup(comm, newcomm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_idup"),
    gnu::visibility("default")]] int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm,
    MPI_Request* request);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
    MPI_Request* request) {
  try {
    enter("MPI_Comm_idup_with_info");
    return impl::Comm_idup_with_info(comm, info, newcomm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_idup_with_info"),
    gnu::visibility("default")]] int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info,
    MPI_Comm* newcomm, MPI_Request* request);

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Comm_iflush_buffer");
    return impl::Comm_iflush_buffer(comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_iflush_buffer"),
    gnu::visibility("default")]] int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request);

int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
  try {
    enter("MPI_Comm_join");
    return impl::Comm_join(fd, intercomm);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_join"), gnu::visibility("default")]] int MPI_Comm_join(int fd,
    MPI_Comm* intercomm);

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  try {
    enter("MPI_Comm_rank");
    return impl::Comm_rank(comm, rank);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_rank"),
    gnu::visibility("default")]] int MPI_Comm_rank(MPI_Comm comm, int* rank);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  try {
    enter("MPI_Comm_remote_group");
    return impl::Comm_remote_group(comm, group);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_remote_group"),
    gnu::visibility("default")]] int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group);

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  try {
    enter("MPI_Comm_remote_size");
    return impl::Comm_remote_size(comm, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_remote_size"),
    gnu::visibility("default")]] int MPI_Comm_remote_size(MPI_Comm comm, int* size);

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  try {
    enter("MPI_Comm_set_attr");
    return impl::Comm_set_attr(comm, comm_keyval, attribute_val);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_set_attr"),
    gnu::visibility("default")]] int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval,
    void* attribute_val);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  try {
    enter("MPI_Comm_set_errhandler");
    return impl::Comm_set_errhandler(comm, errhandler);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_set_errhandler"),
    gnu::visibility("default")]] int MPI_Comm_set_errhandler(MPI_Comm comm,
    MPI_Errhandler errhandler);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  try {
    enter("MPI_Comm_set_info");
    return impl::Comm_set_info(comm, info);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_set_info"),
    gnu::visibility("default")]] int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);

int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  try {
    enter("MPI_Comm_set_name");
    return impl::Comm_set_name(comm, comm_name);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_set_name"),
    gnu::visibility("default")]] int MPI_Comm_set_name(MPI_Comm comm, const char* comm_name);

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  try {
    enter("MPI_Comm_size");
    return impl::Comm_size(comm, size);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_size"),
    gnu::visibility("default")]] int MPI_Comm_size(MPI_Comm comm, int* size);

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
    MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  try {
    enter("MPI_Comm_spawn");
    return impl::Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_spawn"),
    gnu::visibility("default")]] int MPI_Comm_spawn(const char* command, char* argv[],
    int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* intercomm,
    int array_of_errcodes[]);

int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
    MPI_Comm* intercomm, int array_of_errcodes[]) {
  try {
    enter("MPI_Comm_spawn_multiple");
    return impl::Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_spawn_multiple"),
    gnu::visibility("default")]] int MPI_Comm_spawn_multiple(int count, char* array_of_commands[],
    char** array_of_argv[], const int array_of_maxprocs[], const MPI_Info array_of_info[],
    int root, MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_split");
    return impl::Comm_split(comm, color, key, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_split"),
    gnu::visibility("default")]] int MPI_Comm_split(MPI_Comm comm, int color, int key,
    MPI_Comm* newcomm);

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  try {
    enter("MPI_Comm_split_type");
    return impl::Comm_split_type(comm, split_type, key, info, newcomm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_split_type"),
    gnu::visibility("default")]] int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key,
    MPI_Info info, MPI_Comm* newcomm);

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  try {
    enter("MPI_Comm_test_inter");
    return impl::Comm_test_inter(comm, flag);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_test_inter"),
    gnu::visibility("default")]] int MPI_Comm_test_inter(MPI_Comm comm, int* flag);

int PMPI_Comm_toint(MPI_Comm comm) {
  try {
    enter("MPI_Comm_toint");
    return impl::Comm_toint(comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Comm_toint"),
    gnu::visibility("default")]] int MPI_Comm_toint(MPI_Comm comm);

int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  try {
    enter("MPI_Compare_and_swap");
    return impl::Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Compare_and_swap"),
    gnu::visibility("default")]] int MPI_Compare_and_swap(const void* origin_addr,
    const void* compare_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Win win);

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  try {
    enter("MPI_Dims_create");
    return impl::Dims_create(nnodes, ndims, dims);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Dims_create"),
    gnu::visibility("default")]] int MPI_Dims_create(int nnodes, int ndims, int dims[]);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int* weights, MPI_Info info, int reorder,
    MPI_Comm* comm_dist_graph) {
  try {
    enter("MPI_Dist_graph_create");
    return impl::Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, reorder, comm_dist_graph);
  } catch (...) {
    return caught(comm_old);
  }
}
[[gnu::weak, gnu::alias("PMPI_Dist_graph_create"),
    gnu::visibility("default")]] int MPI_Dist_graph_create(MPI_Comm comm_old, int n,
    const int sources[], const int degrees[], const int destinations[], const int* weights,
    MPI_Info info, int reorder, MPI_Comm* comm_dist_graph);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
    const int* sourceweights, int outdegree, const int destinations[], const int* destweights,
    MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
  try {
    enter("MPI_Dist_graph_create_adjacent");
    return impl::Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, comm_dist_graph);
  } catch (...) {
    return caught(comm_old);
  }
}
[[gnu::weak, gnu::alias("PMPI_Dist_graph_create_adjacent"),
    gnu::visibility("default")]] int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old,
    int indegree, const int sources[], const int* sourceweights, int outdegree,
    const int destinations[], const int* destweights, MPI_Info info, int reorder,
    MPI_Comm* comm_dist_graph);

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int* sourceweights,
    int maxoutdegree, int destinations[], int* destweights) {
  try {
    enter("MPI_Dist_graph_neighbors");
    return impl::Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Dist_graph_neighbors"),
    gnu::visibility("default")]] int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree,
    int sources[], int* sourceweights, int maxoutdegree, int destinations[], int* destweights);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  try {
    enter("MPI_Dist_graph_neighbors_count");
    return impl::Dist_graph_neighbors_count(comm, indegree, outdegree, weighted);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Dist_graph_neighbors_count"),
    gnu::visibility("default")]] int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree,
    int* outdegree, int* weighted);

int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  try {
    note("MPI_Errhandler_free");
    return impl::Errhandler_free(errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Errhandler_free"),
    gnu::visibility("default")]] int MPI_Errhandler_free(MPI_Errhandler* errhandler);

MPI_Errhandler PMPI_Errhandler_fromint(int errhandler) {
  return impl::Errhandler_fromint(errhandler);
}
[[gnu::weak, gnu::alias("PMPI_Errhandler_fromint"),
    gnu::visibility("default")]] MPI_Errhandler MPI_Errhandler_fromint(int errhandler);

int PMPI_Errhandler_toint(MPI_Errhandler errhandler) {
  try {
    enter("MPI_Errhandler_toint");
    return impl::Errhandler_toint(errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Errhandler_toint"),
    gnu::visibility("default")]] int MPI_Errhandler_toint(MPI_Errhandler errhandler);

int PMPI_Error_class(int errorcode, int* errorclass) {
  try {
    note("MPI_Error_class");
    return impl::Error_class(errorcode, errorclass);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Error_class"),
    gnu::visibility("default")]] int MPI_Error_class(int errorcode, int* errorclass);

int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  try {
    note("MPI_Error_string");
    return impl::Error_string(errorcode, string, resultlen);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Error_string"),
    gnu::visibility("default")]] int MPI_Error_string(int errorcode, char* string, int* resultlen);

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm) {
  try {
    enter("MPI_Exscan");
    return impl::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Exscan"),
    gnu::visibility("default")]] int MPI_Exscan(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm) {
  try {
    enter("MPI_Exscan_c");
    return impl::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Exscan_c"),
    gnu::visibility("default")]] int MPI_Exscan_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Exscan_init");
    return impl::Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Exscan_init"),
    gnu::visibility("default")]] int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Exscan_init_c");
    return impl::Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Exscan_init_c"),
    gnu::visibility("default")]] int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);

int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  try {
    enter("MPI_Fetch_and_op");
    return impl::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Fetch_and_op"),
    gnu::visibility("default")]] int MPI_Fetch_and_op(const void* origin_addr, void* result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win);

int PMPI_File_call_errhandler(MPI_File fh, int errorcode) {
  try {
    enter("MPI_File_call_errhandler");
    return impl::File_call_errhandler(fh, errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_call_errhandler"),
    gnu::visibility("default")]] int MPI_File_call_errhandler(MPI_File fh, int errorcode);

int PMPI_File_close(MPI_File* fh) {
  try {
    enter("MPI_File_close");
    return impl::File_close(fh);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_close"),
    gnu::visibility("default")]] int MPI_File_close(MPI_File* fh);

int PMPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
    MPI_Errhandler* errhandler) {
  try {
    note("MPI_File_create_errhandler");
    return impl::File_create_errhandler(file_errhandler_fn, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_create_errhandler"),
    gnu::visibility("default")]] int MPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn, MPI_Errhandler* errhandler);

int PMPI_File_delete(const char* filename, MPI_Info info) {
  try {
    enter("MPI_File_delete");
    return impl::File_delete(filename, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_delete"),
    gnu::visibility("default")]] int MPI_File_delete(const char* filename, MPI_Info info);

MPI_File PMPI_File_fromint(int file) {
  return impl::File_fromint(file);
}
[[gnu::weak, gnu::alias("PMPI_File_fromint"),
    gnu::visibility("default")]] MPI_File MPI_File_fromint(int file);

int PMPI_File_get_amode(MPI_File fh, int* amode) {
  try {
    enter("MPI_File_get_amode");
    return impl::File_get_amode(fh, amode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_amode"),
    gnu::visibility("default")]] int MPI_File_get_amode(MPI_File fh, int* amode);

int PMPI_File_get_atomicity(MPI_File fh, int* flag) {
  try {
    enter("MPI_File_get_atomicity");
    return impl::File_get_atomicity(fh, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_atomicity"),
    gnu::visibility("default")]] int MPI_File_get_atomicity(MPI_File fh, int* flag);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  try {
    enter("MPI_File_get_byte_offset");
    return impl::File_get_byte_offset(fh, offset, disp);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_byte_offset"),
    gnu::visibility("default")]] int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset,
    MPI_Offset* disp);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  try {
    enter("MPI_File_get_errhandler");
    return impl::File_get_errhandler(file, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_errhandler"),
    gnu::visibility("default")]] int MPI_File_get_errhandler(MPI_File file,
    MPI_Errhandler* errhandler);

int PMPI_File_get_group(MPI_File fh, MPI_Group* group) {
  try {
    enter("MPI_File_get_group");
    return impl::File_get_group(fh, group);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_group"),
    gnu::visibility("default")]] int MPI_File_get_group(MPI_File fh, MPI_Group* group);

int PMPI_File_get_info(MPI_File fh, MPI_Info* info_used) {
  try {
    enter("MPI_File_get_info");
    return impl::File_get_info(fh, info_used);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_info"),
    gnu::visibility("default")]] int MPI_File_get_info(MPI_File fh, MPI_Info* info_used);

int PMPI_File_get_position(MPI_File fh, MPI_Offset* offset) {
  try {
    enter("MPI_File_get_position");
    return impl::File_get_position(fh, offset);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_position"),
    gnu::visibility("default")]] int MPI_File_get_position(MPI_File fh, MPI_Offset* offset);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  try {
    enter("MPI_File_get_position_shared");
    return impl::File_get_position_shared(fh, offset);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_position_shared"),
    gnu::visibility("default")]] int MPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset);

int PMPI_File_get_size(MPI_File fh, MPI_Offset* size) {
  try {
    enter("MPI_File_get_size");
    return impl::File_get_size(fh, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_size"),
    gnu::visibility("default")]] int MPI_File_get_size(MPI_File fh, MPI_Offset* size);

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent) {
  try {
    enter("MPI_File_get_type_extent");
    return impl::File_get_type_extent(fh, datatype, extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_type_extent"),
    gnu::visibility("default")]] int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype,
    MPI_Aint* extent);

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  try {
    enter("MPI_File_get_type_extent_c");
    return impl::File_get_type_extent(fh, datatype, extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_type_extent_c"),
    gnu::visibility("default")]] int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype,
    MPI_Count* extent);

int PMPI_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
    char* datarep) {
  try {
    enter("MPI_File_get_view");
    return impl::File_get_view(fh, disp, etype, filetype, datarep);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_get_view"),
    gnu::visibility("default")]] int MPI_File_get_view(MPI_File fh, MPI_Offset* disp,
    MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep);

int PMPI_File_iread(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread");
    return impl::File_iread(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread"),
    gnu::visibility("default")]] int MPI_File_iread(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_c");
    return impl::File_iread(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_c"),
    gnu::visibility("default")]] int MPI_File_iread_c(MPI_File fh, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_all");
    return impl::File_iread_all(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_all"),
    gnu::visibility("default")]] int MPI_File_iread_all(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_all_c");
    return impl::File_iread_all(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_all_c"),
    gnu::visibility("default")]] int MPI_File_iread_all_c(MPI_File fh, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_at");
    return impl::File_iread_at(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_at"),
    gnu::visibility("default")]] int MPI_File_iread_at(MPI_File fh, MPI_Offset offset, void* buf,
    int count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iread_at_c");
    return impl::File_iread_at(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_at_c"),
    gnu::visibility("default")]] int MPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iread_at_all");
    return impl::File_iread_at_all(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_at_all"),
    gnu::visibility("default")]] int MPI_File_iread_at_all(MPI_File fh, MPI_Offset offset,
    void* buf, int count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iread_at_all_c");
    return impl::File_iread_at_all(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_at_all_c"),
    gnu::visibility("default")]] int MPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset,
    void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

}
#pragma GCC visibility pop
