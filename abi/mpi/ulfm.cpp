// SPDX-License-Identifier: BSD-3-Clause
// Beyond MPI-5.0: surviving the death of ranks, by the names of Open MPI and MPICH (mpi-ext.h; the
// proposal for MPI is mpi-forum/mpi-issues#20). In a job of `sinew run --survive` agreements are
// the module agreement's, so they end whoever dies; in others a death ends the job, and they are
// made by messages.
#include <memory>
#include <utility>

#include "abi/mpi/collective_calls.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/world.hpp"
#include "c/mpi-ext.h"
#include "sinew/agreement/agreement.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"

namespace sinew::mpi {
namespace {

p2p::engine& engine() { return *process.engine; }
bool ranks_survive() { return agreement::ranks_survive(engine()); }

void need_survivors(const comm_object& c, const char* what) {
  if (ranks_survive()) {
    check_one_job(c, what);
    if (c.comm->context() >= agreement::most_contexts) {
      fail(MPI_ERR_OTHER, "more than %u communicators are too many to agree in",
           agreement::most_contexts / 2);
    }
  } else if (process.engine->is_revoked(*c.comm)) {
    fail(MPIX_ERR_REVOKED,
         "%s in a revoked communicator needs a job that survives: start it by sinew run --survive",
         what);
  }
}

int agree(comm_object& c, int* flag) {
  check_out(flag, "flag");
  need_survivors(c, "an agreement");
  if (ranks_survive()) {
    const boot::decision d = agreement::agree(engine(), c.together(), c.comm->members(),
                                              static_cast<std::uint32_t>(*flag));
    *flag = static_cast<int>(d.flag);
    // An agreement that found members dead whom this rank has not acknowledged says so.
    if (const job_rank dead = agreement::unacknowledged(engine(), *c.together(), d.deaths);
        dead >= 0) {
      fail_on(&c, MPIX_ERR_PROC_FAILED, "rank %d of the job has died, and it is not acknowledged",
              dead.value());
    }
    return MPI_SUCCESS;
  }
  const int mine = *flag;  // two groups: each gets what the other has contributed
  return impl::Allreduce(&mine, flag, 1, MPI_INT, MPI_BAND, c.handle);
}

/// The state of the generalized request of an agreement that is under way.
struct pending_agreement {
  coll::communicator_ref all;
  int* flag;
  int code = MPI_SUCCESS;  ///< what the request will say
  MPI_Request request = MPI_REQUEST_NULL;
};

int outcome_of(void* state, MPI_Status* status) {
  (void)PMPI_Status_set_elements(status, MPI_BYTE, 0);
  (void)PMPI_Status_set_cancelled(status, 0);
  return static_cast<pending_agreement*>(state)->code;
}
int forget(void* state) {
  delete static_cast<pending_agreement*>(state);
  return MPI_SUCCESS;
}

void end_pending(void* state, const boot::decision& d) noexcept {
  auto& p = *static_cast<pending_agreement*>(state);
  *p.flag = static_cast<int>(d.flag);
  base::must_have_memory("ending an agreement", [&] {
    const bool news = agreement::unacknowledged(engine(), *p.all, d.deaths) >= 0;
    p.code = news ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
    return impl::Grequest_complete(p.request);
  });
}

/// By messages; the plan owns what this rank contributes.
int iagree_by_messages(comm_object& c, int* flag, MPI_Request* request) {
  if (c.sides == nullptr) {
    return impl::Iallreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, c.handle, request);
  }
  struct contributed {
    int mine;
    coll::plan_ref plan;
  };
  const auto owner = std::make_shared<contributed>(contributed{*flag, nullptr});
  described d = calls::Allreduce(&owner->mine, flag, 1, MPI_INT, MPI_BAND, c.handle);
  owner->plan = coll::plan_across(*c.sides, d.call);
  d.plan = coll::plan_ref(owner, owner->plan.get());
  return start_now(std::move(d), request);
}

int iagree(comm_object& c, int* flag, MPI_Request* request) {
  check_out(flag, "flag");
  check_out(request, "request");
  need_survivors(c, "an agreement");
  if (!ranks_survive()) {
    return iagree_by_messages(c, flag, request);
  }
  auto made = std::make_unique<pending_agreement>(pending_agreement{c.together(), flag});
  (void)impl::Grequest_start(
      outcome_of, forget, [](void*, int) -> int { return MPI_SUCCESS; }, made.get(),
      &made->request);
  pending_agreement& p = *made.release();  // the request's
  *request = p.request;
  try {
    agreement::start(engine(), c.together(), c.comm->members(), static_cast<std::uint32_t>(*flag),
                     end_pending, &p);
  } catch (...) {
    (void)impl::Grequest_complete(p.request);
    (void)impl::Request_free(request);
    throw;
  }
  return MPI_SUCCESS;
}

int shrink(comm_object& c, MPI_Comm* newcomm) {
  check_out(newcomm, "newcomm");
  need_survivors(c, "shrinking");
  if (!ranks_survive()) {
    return impl::Comm_dup(c.handle, newcomm);
  }
  *newcomm = c.sides == nullptr ? adopt(agreement::shrink(engine(), c.owned), c)
                                : adopt(agreement::shrink(engine(), *c.sides), c);
  return MPI_SUCCESS;
}

int failed_group(const comm_object& c, std::uint32_t deaths, MPI_Group* failed) {
  check_out(failed, "failed");
  *failed =
      new_group(core::group(agreement::dead_members(engine(), *c.together(), deaths)), c.session);
  return MPI_SUCCESS;
}

int acknowledge(const comm_object& c, int most) {
  return agreement::acknowledge(engine(), *c.together(), most);
}

/// The frame of each function.
template <class Call>
int run(const char* name, MPI_Comm comm, Call call) noexcept try {
  note(name);
  must_run();
  return call(comm_of(comm));
} catch (...) {
  return caught(SINEW_MPI_CALLER, name, comm);
}

}  // namespace
}  // namespace sinew::mpi

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPIX_Comm_revoke(MPI_Comm comm) {
  return run("MPIX_Comm_revoke", comm, [](comm_object& c) {
    process.engine->revoke(*c.together());
    mark_revoked(c);
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  return run("MPIX_Comm_is_revoked", comm, [&](comm_object& c) {
    check_out(flag, "flag");
    process.runtime->poll();  // a program may ask in a loop
    *flag = process.engine->is_revoked(*c.comm) ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
  return run("MPIX_Comm_shrink", comm, [&](comm_object& c) { return shrink(c, newcomm); });
}

int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  return run("MPIX_Comm_ishrink", comm, [&](comm_object& c) {
    check_out(newcomm, "newcomm");
    check_out(request, "request");
    need_survivors(c, "shrinking");
    if (!ranks_survive()) {
      return impl::Comm_idup(c.handle, newcomm, request);
    }
    const int code = shrink(c, newcomm);
    *request = done_request();
    return code;
  });
}

int PMPIX_Comm_agree(MPI_Comm comm, int* flag) {
  return run("MPIX_Comm_agree", comm, [&](comm_object& c) { return agree(c, flag); });
}

int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  return run("MPIX_Comm_iagree", comm, [&](comm_object& c) { return iagree(c, flag, request); });
}

int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed) {
  return run("MPIX_Comm_get_failed", comm, [&](comm_object& c) {
    return failed_group(c, sinew::agreement::deaths(engine()), failed);
  });
}

int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked) {
  return run("MPIX_Comm_ack_failed", comm, [&](comm_object& c) {
    check_out(num_acked, "num_acked");
    *num_acked = acknowledge(c, num_to_ack);
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_failure_ack(MPI_Comm comm) {
  return run("MPIX_Comm_failure_ack", comm, [&](comm_object& c) {
    (void)acknowledge(c, c.together()->size());
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed) {
  return run("MPIX_Comm_failure_get_acked", comm, [&](comm_object& c) {
    return failed_group(c, process.engine->acknowledged(*c.together()), failed);
  });
}

[[gnu::weak, gnu::alias("PMPIX_Comm_revoke")]] int MPIX_Comm_revoke(MPI_Comm comm);
[[gnu::weak, gnu::alias("PMPIX_Comm_is_revoked")]] int MPIX_Comm_is_revoked(MPI_Comm comm,
                                                                            int* flag);
[[gnu::weak, gnu::alias("PMPIX_Comm_shrink")]] int MPIX_Comm_shrink(MPI_Comm comm,
                                                                    MPI_Comm* newcomm);
[[gnu::weak, gnu::alias("PMPIX_Comm_ishrink")]] int MPIX_Comm_ishrink(MPI_Comm comm,
                                                                      MPI_Comm* newcomm,
                                                                      MPI_Request* request);
[[gnu::weak, gnu::alias("PMPIX_Comm_agree")]] int MPIX_Comm_agree(MPI_Comm comm, int* flag);
[[gnu::weak, gnu::alias("PMPIX_Comm_iagree")]] int MPIX_Comm_iagree(MPI_Comm comm, int* flag,
                                                                    MPI_Request* request);
[[gnu::weak, gnu::alias("PMPIX_Comm_get_failed")]] int MPIX_Comm_get_failed(MPI_Comm comm,
                                                                            MPI_Group* failed);
[[gnu::weak, gnu::alias("PMPIX_Comm_ack_failed")]] int MPIX_Comm_ack_failed(MPI_Comm comm,
                                                                            int num_to_ack,
                                                                            int* num_acked);
[[gnu::weak, gnu::alias("PMPIX_Comm_failure_ack")]] int MPIX_Comm_failure_ack(MPI_Comm comm);
[[gnu::weak, gnu::alias("PMPIX_Comm_failure_get_acked")]] int MPIX_Comm_failure_get_acked(
    MPI_Comm comm, MPI_Group* failed);

}  // extern "C"
#pragma GCC visibility pop
