// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 6 and sections 8.6 to 8.8: a collective's call, its arguments checked and as coll
// takes them. Each collective is described once, by calls::Name; generated/collective_forms.cpp has
// its three forms, which do with the description what follows here. Where the standard makes an
// argument significant at the root only, the other ranks' values are not looked at.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/collective_calls.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi {

struct described {
  /// What some calls refer to.
  struct lists {
    std::vector<const layout::datatype*> send_types;
    std::vector<const layout::datatype*> recv_types;
    std::vector<int> ranks;
    coll::neighbours topology;
  };
  comm_object* comm;
  coll::call call{};
  std::unique_ptr<lists> of{};
  coll::plan_ref plan{};  ///< null: it is made when it is needed
};

/// The blocking form of what one communicator's memory or messages do not carry out: between
/// groups, or over planned routes.
int run_otherwise(described&& d);
/// MPI_...: returns when it is over. Hot.
inline int run_now(described&& d) {
  comm_object& c = *d.comm;
  if (c.sides != nullptr || c.routes != nullptr) [[unlikely]] {
    return run_otherwise(std::move(d));
  }
  const p2p::fault f = coll::run(participant_of(c), d.call);
  return f == p2p::fault::none ? MPI_SUCCESS : end(c, f);
}
/// MPI_I...: begins it. Hot.
int start_now(described&& d, MPI_Request* request);
/// MPI_..._init: MPI_Start will.
int start_later(described&& d, MPI_Info info, MPI_Request* request);

/// An operator that lives as long as the plan that combines by it.
[[nodiscard]] coll::op_ref shared_op(MPI_Op op, MPI_Datatype datatype, const layout::datatype& of);

}  // namespace sinew::mpi
