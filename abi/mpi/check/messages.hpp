// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK: receives whose data are looked at. While they are under way the program's buffer
// stays as it was, so that a change of it is seen; the data come into it when the request is
// completed (buffers). What the data are the sender says (kinds).
#pragma once

#include "abi/mpi/watch.hpp"

namespace sinew::mpi::check {

// Instead of impl::, of the same arguments; each suspends and fails as that does.

int Irecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
          int tag, MPI_Comm comm, MPI_Request* request);
int Recv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
         int tag, MPI_Comm comm, MPI_Status* status);
int Recv_init(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
              int tag, MPI_Comm comm, MPI_Request* request);
int Mrecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
          MPI_Message* message, MPI_Status* status);
int Imrecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
           MPI_Message* message, MPI_Request* request);
int Sendrecv(const watch::call& call, const void* send, MPI_Count sends, MPI_Datatype send_type,
             int dest, int send_tag, void* recv, MPI_Count receives, MPI_Datatype receive_type,
             int source, int receive_tag, MPI_Comm comm, MPI_Status* status);

}  // namespace sinew::mpi::check
