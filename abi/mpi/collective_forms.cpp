// What the three forms of a collective do with its description.
#include <memory>
#include <utility>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/collective_calls.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/op.hpp"
#include "abi/mpi/routed.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::mpi {
namespace {

using coll::collective;

void make_plan(described& d) {
  if (d.plan != nullptr) {
    return;
  }
  const coll::communicator_ref& over = d.comm->together();
  const coll::call& c = d.call;
  d.plan = d.comm->sides != nullptr && c.what != collective::barrier
               ? coll::plan_across(*d.comm->sides, c)
               : coll::plan_of(coll::position_of({*process.engine, *over}), c);
}

void start_collective(request_object& r) {
  SINEW_EXPECT(r.collective != nullptr && r.comm != nullptr);
  SINEW_EXPECT(r.collective->runs == nullptr || r.collective->runs->over.done());
  collective_operation& o = *r.collective;
  o.runs = coll::start(*process.engine, r.comm->together(), o.what, o.tag);
  SINEW_ENSURE(o.runs != nullptr);
}

request_object& request_for(described&& d, message_tag tag) {
  const comm_rank root = d.call.root >= 0 ? d.call.root : comm_rank{-1};  // as it is told
  request_object& r = new_request(d.comm, request_object::sort::collective);
  r.inner = nullptr;
  r.second = nullptr;
  r.collective = std::make_unique<collective_operation>(
      collective_operation{std::move(d.plan), tag, {coll::name_of(d.call), root}});
  r.owns = true;
  return r;
}

MPI_Request request_of(coll::begun&& begun, described&& d) {
  SINEW_EXPECT(begun.done);
  if (begun.runs == nullptr) {
    return done_request();
  }
  try {
    request_object& r = request_for(std::move(d), 0);
    r.collective->runs = std::move(begun.runs);
    return handle_of<MPI_Request>(&r);
  } catch (...) {
    process.runtime->wait(begun.runs->over);  // it has begun; nobody else would see it end
    throw;
  }
}

/// The blocking form of those that have no other.
int start_and_wait(described&& d) {
  MPI_Request request = MPI_REQUEST_NULL;
  (void)start_now(std::move(d), &request);
  SINEW_ASSERT(request != MPI_REQUEST_NULL);
  return impl::Wait(&request, MPI_STATUS_IGNORE);
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

coll::op_ref shared_op(MPI_Op op, MPI_Datatype datatype, const layout::datatype& of) {
  if (const coll::op* const known = predefined(op, datatype, of)) {
    return coll::borrowed(*known);  // lives for ever
  }
  auto bound = std::make_shared<bound_op>(op, datatype, of);
  const coll::op& inside = *bound;
  return {std::move(bound), &inside};
}

int run_otherwise(described&& d) {
  comm_object& c = *d.comm;
  if (c.sides != nullptr) {
    return start_and_wait(std::move(d));
  }
  if (c.routes->carries(participant_of(c), d.call)) {
    return MPI_SUCCESS;
  }
  return end(c, coll::run(participant_of(c), d.call));
}

int start_now(described&& d, MPI_Request* request) {
  check_out(request, "request");
  *request = MPI_REQUEST_NULL;
  const coll::communicator_ref& over = d.comm->together();
  if (d.comm->sides == nullptr) [[likely]] {
    coll::begun begun = coll::begin(*process.engine, over, d.call);
    if (begun.done) {
      *request = request_of(std::move(begun), std::move(d));
      return MPI_SUCCESS;
    }
  }
  make_plan(d);
  request_object& r = request_for(std::move(d), coll::nonblocking_tag(*over));
  start_collective(r);
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int start_later(described&& d, MPI_Info info, MPI_Request* request) {
  check_out(request, "request");
  *request = MPI_REQUEST_NULL;
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);
  }
  make_plan(d);
  const message_tag tag = coll::persistent_tag(*d.comm->together());
  request_object& r = request_for(std::move(d), tag);
  r.persistent = true;
  r.active = false;
  r.again.start = start_collective;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
