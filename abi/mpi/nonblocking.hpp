// What nonblocking, persistent and neighbour collectives share: a call's arguments as a plan.
#pragma once

#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"

namespace sinew::mpi {

struct prepared {
  comm_object* comm;
  coll::plan_ref what;  ///< null: `even` is to be done
  const char* name;     ///< of the blocking form, for reports
  int root = -1;
  coll::even_call even{};
};

/// An operator that lives as long as the plan that combines by it.
[[nodiscard]] coll::op_ref shared_op(MPI_Op op, MPI_Datatype datatype, const layout::datatype& of);

/// MPI_I...: begins it.
int start_now(prepared&& p, MPI_Request* request);
/// MPI_..._init: MPI_Start will.
int start_later(prepared&& p, MPI_Info info, MPI_Request* request);
/// The blocking form of those that have no other.
int start_and_wait(prepared&& p);

}  // namespace sinew::mpi
