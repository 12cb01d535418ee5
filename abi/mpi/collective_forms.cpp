// SPDX-License-Identifier: BSD-3-Clause
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

constexpr const char* differ =
    "a rank sent more data than its partner expected: counts, datatypes or the collectives "
    "themselves differ (SINEW_MPI_CHECK=1 names the ranks and what they call)";

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

/// A nonblocking or persistent collective.
class collective_operation final : public operation {
 public:
  collective_operation(described&& d, message_tag tag)
      : what_(std::move(d.plan)),
        tag_(tag),
        // The root as it is told.
        name_{coll::name_of(d.call), d.call.root >= 0 ? d.call.root : comm_rank{-1}} {}

  /// It runs already.
  void take(std::shared_ptr<coll::ongoing> runs) noexcept { runs_ = std::move(runs); }

  bool ended(const request_object&) const noexcept override { return runs_->over.done(); }
  void wait(request_object& r) override {
    core::collective_record& record = r.comm->comm->collective;
    const core::collective_call around = record.exchange(name_);
    coll::wait(*process.engine, *runs_);
    (void)record.exchange(around);
  }
  int finish(request_object&, MPI_Status* status, std::string* sentence) override {
    SINEW_EXPECT(runs_->over.done());
    set_empty(status);
    const int code = runs_->problem ? MPI_ERR_NO_MEM : code_of(runs_->outcome);
    if (code != MPI_SUCCESS && sentence != nullptr) {
      *sentence = std::string(name_.name) +
                  (code == MPI_ERR_TRUNCATE       ? std::string(": ") + differ
                   : code == MPIX_ERR_PROC_FAILED ? ": a rank of the communicator has died"
                   : code == MPIX_ERR_REVOKED     ? ": the communicator has been revoked"
                                                  : ": there is no memory left for a message");
    }
    return code;
  }
  void peek(const request_object&, MPI_Status* status) override { set_empty(status); }
  bool has_met_failure(const request_object&) const noexcept override {
    return is_of_failure(runs_->outcome);
  }
  void start(request_object& r) override {
    SINEW_EXPECT(runs_ == nullptr || runs_->over.done());
    runs_ = coll::start(*process.engine, r.comm->together(), what_, tag_);
    SINEW_ENSURE(runs_ != nullptr);
  }
  void refuse(const request_object& r, const char* what) const override {
    if (r.active) {
      refuse_collective(what);
    }
  }

 private:
  coll::plan_ref what_;
  const message_tag tag_;
  const core::collective_call name_;       ///< for reports
  std::shared_ptr<coll::ongoing> runs_{};  ///< null: not started yet
};

MPI_Request request_of(coll::begun&& begun, described&& d) {
  SINEW_EXPECT(begun.done);
  if (begun.runs == nullptr) {
    return done_request();
  }
  try {
    comm_object* const c = d.comm;
    auto made = std::make_unique<collective_operation>(std::move(d), message_tag{0});
    made->take(begun.runs);
    return handle_of<MPI_Request>(&new_request(c, std::move(made)));
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
      fail_on(&c, MPI_ERR_TRUNCATE, "%s", differ);
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
  comm_object* const c = d.comm;
  request_object& r = new_request(
      c, std::make_unique<collective_operation>(std::move(d), coll::nonblocking_tag(*over)));
  r.stands_for->start(r);
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
  comm_object* const c = d.comm;
  request_object& r = new_request(c, std::make_unique<collective_operation>(std::move(d), tag));
  r.persistent = true;
  r.active = false;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
