// Beyond MPI-5.0: surviving the death of ranks, by the names of Open MPI and MPICH (mpi-ext.h; the
// proposal for MPI is mpi-forum/mpi-issues#20). In a job of `sinew run --survive` agreements are
// made in memory that the launcher shares (boot/survival.hpp), so they end whoever dies; in others
// a death ends the job, and they are made by messages.
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/intercollectives.hpp"
#include "abi/mpi/nonblocking.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/world.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"

namespace sinew::mpi {
namespace {

boot::survival* survivors() { return process.runtime->session().survivors(); }

/// Of the communicators that the survivors may agree in, how many at a time.
constexpr std::uint32_t most_contexts = 2 * boot::survival::slots;

/// The next ballot of a communicator. A context may be used again by another group, which then has
/// another key; the same group counts on.
boot::ballot next_ballot(const core::communicator& comm) {
  static std::mutex lock;
  static auto& turns = *new std::map<std::pair<context_id, std::uint16_t>, std::uint16_t>;
  if (comm.context() >= most_contexts) {
    fail(MPI_ERR_OTHER, "more than %u communicators are too many to agree in",
         boot::survival::slots);
  }
  std::uint32_t key = 2166136261U;  // FNV-1a of the members
  for (const job_rank r : comm.members().members()) {
    key = (key ^ static_cast<std::uint32_t>(r.value())) * 16777619U;
  }
  const auto folded = static_cast<std::uint16_t>(key ^ key >> 16);
  const std::lock_guard held(lock);
  std::uint16_t& turn = turns[{comm.context(), folded}];
  turn = turn == 0xfffe ? 2 : static_cast<std::uint16_t>(turn + 1);
  return {comm.context().value() / 2, folded, turn};
}

/// An agreement among the survivors of a communicator.
struct agreement {
  boot::ballot ballot;
  coll::communicator_ref comm;
  boot::decision result{};

  [[nodiscard]] bool over() {
    return survivors()->decided(ballot, comm->members().members(), result);
  }
};

agreement begin(const comm_object& c, std::uint32_t flag) {
  SINEW_EXPECT(survivors() != nullptr);
  agreement a{next_ballot(*c.comm), c.owned};
  survivors()->vote(a.ballot, process.runtime->rank(), flag);
  return a;
}

boot::decision agree_among_survivors(const comm_object& c, std::uint32_t flag) {
  agreement a = begin(c, flag);
  process.runtime->wait_until([](void* it) { return static_cast<agreement*>(it)->over(); }, &a);
  return a.result;
}

/// The dead among the first `deaths` that are members.
std::vector<job_rank> dead_members(const core::communicator& comm, std::uint32_t deaths) {
  std::vector<job_rank> result;
  for (std::uint32_t i = 0; i < deaths; ++i) {
    if (const job_rank r = survivors()->dead(i); comm.members().find(r) >= 0) {
      result.push_back(r);
    }
  }
  return result;
}

std::uint32_t deaths_now() { return survivors() != nullptr ? survivors()->deaths() : 0; }

/// An agreement that found members dead whom this rank has not acknowledged says so.
void check_acknowledged(comm_object& c, std::uint32_t deaths) {
  const std::uint32_t known = process.engine->acknowledged(*c.comm);
  const std::vector<job_rank> dead = dead_members(*c.comm, deaths);
  if (dead.size() > dead_members(*c.comm, std::min(known, deaths)).size()) {
    fail_on(&c, MPIX_ERR_PROC_FAILED, "rank %d of the job has died, and it is not acknowledged",
            dead.back().value());
  }
}

void need_survivors(const comm_object& c, const char* what) {
  if (survivors() != nullptr && c.sides != nullptr) {
    fail(MPI_ERR_UNSUPPORTED_OPERATION,
         "%s between two groups is not there in a job that survives (sinew run --survive): "
         "merge them first, by MPI_Intercomm_merge",
         what);
  }
  if (survivors() == nullptr && process.engine->is_revoked(*c.comm)) {
    fail(MPIX_ERR_REVOKED,
         "%s in a revoked communicator needs a job that survives: start it by sinew run --survive",
         what);
  }
}

int agree(comm_object& c, int* flag) {
  check_out(flag, "flag");
  need_survivors(c, "an agreement");
  if (survivors() != nullptr) {
    const boot::decision d = agree_among_survivors(c, static_cast<std::uint32_t>(*flag));
    *flag = static_cast<int>(d.flag);
    check_acknowledged(c, d.deaths);
    return MPI_SUCCESS;
  }
  const int mine = *flag;  // two groups: each gets what the other has contributed
  return impl::Allreduce(&mine, flag, 1, MPI_INT, MPI_BAND, c.handle);
}

/// Those that live agree on a context that all of them have free: first on a mask of them, then on
/// whether all could take it.
MPI_Comm shrink_among_survivors(const comm_object& c) {
  for (std::uint32_t from = 0;; from = (from + 64) % (most_contexts - 64)) {
    const boot::decision d = agree_among_survivors(c, coll::free_contexts(*process.engine, from));
    const context_id context{from + 2 * static_cast<std::uint32_t>(std::countr_zero(d.flag))};
    const bool taken = d.flag != 0 && coll::take_context(*process.engine, context);
    if (agree_among_survivors(c, taken ? 1 : 0).flag == 0) {
      if (taken) {
        coll::release_context(*process.engine, context);
      }
      continue;
    }
    const core::group members =
        core::group::subtract(c.comm->members(), core::group(dead_members(*c.comm, d.deaths)));
    MPI_Comm made = adopt(coll::make_agreed(*process.engine, context, members), c);
    return made;
  }
}

/// Nonblocking agreements that are not over; each has a generalized request.
struct waiting_agreement {
  agreement it;
  int* flag;
  MPI_Request request;
};
struct waiting_agreements {
  std::mutex lock;
  std::vector<waiting_agreement> all;
  int chore = -1;
};
waiting_agreements& waiting() {
  static auto& it = *new waiting_agreements;
  return it;
}

/// By whoever polls.
int end_agreements(void*) noexcept {
  waiting_agreements& w = waiting();
  const std::unique_lock held(w.lock, std::try_to_lock);
  if (!held.owns_lock()) {
    return 0;
  }
  return base::must_have_memory("ending an agreement", [&] {
    const auto its = std::stable_partition(w.all.begin(), w.all.end(),
                                           [](waiting_agreement& a) { return !a.it.over(); });
    const auto ended = static_cast<int>(w.all.end() - its);
    for (auto at = its; at != w.all.end(); ++at) {
      *at->flag = static_cast<int>(at->it.result.flag);
      (void)impl::Grequest_complete(at->request);
    }
    w.all.erase(its, w.all.end());
    process.runtime->want_chore(w.chore, !w.all.empty());
    return ended;
  });
}

int no_status(void*, MPI_Status* status) {
  (void)PMPI_Status_set_elements(status, MPI_BYTE, 0);
  return PMPI_Status_set_cancelled(status, 0);
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
  prepared p = across::allreduce(c, &owner->mine, flag, 1, MPI_INT, MPI_BAND);
  owner->plan = std::exchange(p.what, nullptr);
  p.what = coll::plan_ref(owner, owner->plan.get());
  return start_now(std::move(p), request);
}

int iagree(comm_object& c, int* flag, MPI_Request* request) {
  check_out(flag, "flag");
  check_out(request, "request");
  need_survivors(c, "an agreement");
  if (survivors() == nullptr) {
    return iagree_by_messages(c, flag, request);
  }
  waiting_agreements& w = waiting();
  (void)impl::Grequest_start(
      no_status, [](void*) -> int { return MPI_SUCCESS; },
      [](void*, int) -> int { return MPI_SUCCESS; }, nullptr, request);
  const std::lock_guard held(w.lock);
  w.all.push_back({begin(c, static_cast<std::uint32_t>(*flag)), flag, *request});
  if (w.chore < 0) {
    w.chore = process.runtime->add_chore(end_agreements, nullptr);
  }
  process.runtime->want_chore(w.chore, true);
  return MPI_SUCCESS;
}

int shrink(comm_object& c, MPI_Comm* newcomm) {
  check_out(newcomm, "newcomm");
  need_survivors(c, "shrinking");
  if (survivors() == nullptr) {
    return impl::Comm_dup(c.handle, newcomm);
  }
  *newcomm = shrink_among_survivors(c);
  SINEW_ENSURE(*newcomm != MPI_COMM_NULL);
  return MPI_SUCCESS;
}

int failed_group(const comm_object& c, std::uint32_t deaths, MPI_Group* failed) {
  check_out(failed, "failed");
  *failed = new_group(core::group(dead_members(*c.comm, deaths)), c.session);
  return MPI_SUCCESS;
}

/// Acknowledges up to `most` dead members; how many that are.
int acknowledge(const comm_object& c, int most) {
  std::uint32_t deaths = process.engine->acknowledged(*c.comm);
  for (; deaths < deaths_now(); ++deaths) {
    if (static_cast<int>(dead_members(*c.comm, deaths + 1).size()) > most) {
      break;
    }
  }
  process.engine->acknowledge(*c.comm, deaths);
  return static_cast<int>(dead_members(*c.comm, deaths).size());
}

/// The frame of each function.
template <class Call>
int run(const char* name, MPI_Comm comm, Call call) noexcept try {
  enter(name);
  return call(comm_of(comm));
} catch (...) {
  return caught(name, comm);
}

}  // namespace
}  // namespace sinew::mpi

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPIX_Comm_revoke(MPI_Comm comm) {
  return run("MPIX_Comm_revoke", comm, [](comm_object& c) {
    process.engine->revoke(*c.comm);
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
    if (survivors() == nullptr) {
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
  return run("MPIX_Comm_get_failed", comm,
             [&](comm_object& c) { return failed_group(c, deaths_now(), failed); });
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
    (void)acknowledge(c, c.comm->size());
    return MPI_SUCCESS;
  });
}

int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed) {
  return run("MPIX_Comm_failure_get_acked", comm, [&](comm_object& c) {
    return failed_group(c, process.engine->acknowledged(*c.comm), failed);
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
