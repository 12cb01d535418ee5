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

/// The last ballot of a context, and who took part.
struct last_ballot {
  boot::ballot ballot;
  core::group members;
};

std::uint16_t key_of(const core::group& members) {
  std::uint32_t key = 2166136261U;  // FNV-1a
  for (const job_rank r : members.members()) {
    key = (key ^ static_cast<std::uint32_t>(r.value())) * 16777619U;
  }
  return static_cast<std::uint16_t>((key ^ key >> 16) & 0x7fff);
}

/// The next ballot of a communicator; turn 0: not yet. A context may be used again by another
/// group, which then has another key, once those that live have left the last ballot of the group
/// before. The same group counts on.
boot::ballot next_ballot(const core::communicator& comm) {
  static std::mutex lock;
  static auto& turns = *new std::map<std::pair<context_id, std::uint16_t>, std::uint16_t>;
  static auto& latest = *new std::map<context_id, last_ballot>;
  const std::uint16_t key = key_of(comm.members());
  const std::lock_guard held(lock);
  last_ballot& last = latest[comm.context()];
  if (last.ballot.turn != 0 && last.ballot.key != key &&
      !survivors()->is_over(last.ballot, last.members.members())) {
    return {};
  }
  std::uint16_t& turn = turns[{comm.context(), key}];
  turn = turn == 0xfffe ? 2 : static_cast<std::uint16_t>(turn + 1);
  last = {{comm.context().value() / 2, key, turn}, comm.members()};
  return last.ballot;
}

/// An agreement among the survivors of a communicator, of both groups if there are two; then each
/// hears what the other one has contributed.
struct agreement {
  agreement(const comm_object& c, core::group whom, std::uint32_t flag)
      : all(c.together()), heard(std::move(whom)), mine(flag) {
    SINEW_EXPECT(survivors() != nullptr);
  }

  /// Votes when it is first asked: earlier ones of the same communicator are over by then.
  [[nodiscard]] bool over() {
    if (ballot.turn == 0) {
      ballot = next_ballot(*all);
      if (ballot.turn == 0) {
        return false;
      }
      survivors()->vote(ballot, process.runtime->rank(), mine);
    }
    if (!survivors()->decided(ballot, all->members().members(), heard.members(), result)) {
      return false;
    }
    survivors()->leave(ballot, process.runtime->rank());
    return true;
  }

  coll::communicator_ref all;
  core::group heard;  ///< whose flags count
  std::uint32_t mine;
  boot::ballot ballot{};
  boot::decision result{};
};

/// Nonblocking agreements that are not over; each has a generalized request.
struct waiting_agreement {
  agreement it;
  int* flag;
  int* code;  ///< what the request will say
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

using iterator = std::vector<waiting_agreement>::iterator;
bool is_among(iterator begin, iterator end, const core::communicator& comm) {
  return std::any_of(begin, end,
                     [&](const waiting_agreement& a) { return a.it.all.get() == &comm; });
}

/// After those that were begun before.
boot::decision agree_among_survivors(agreement a) {
  process.runtime->wait_until(
      [](void* it) {
        auto& own = *static_cast<agreement*>(it);
        waiting_agreements& w = waiting();
        if (own.ballot.turn == 0) {
          const std::lock_guard held(w.lock);
          if (is_among(w.all.begin(), w.all.end(), *own.all)) {
            return false;
          }
        }
        return own.over();
      },
      &a);
  return a.result;
}

/// The dead among the first `deaths` that are members.
std::vector<job_rank> dead_members(const core::communicator& all, std::uint32_t deaths) {
  std::vector<job_rank> result;
  for (std::uint32_t i = 0; i < deaths; ++i) {
    if (const job_rank r = survivors()->dead(i); all.members().find(r) >= 0) {
      result.push_back(r);
    }
  }
  return result;
}

std::uint32_t deaths_now() { return survivors() != nullptr ? survivors()->deaths() : 0; }

/// Of the first `deaths`, one that is a member and that this rank has not acknowledged.
job_rank unacknowledged(const core::communicator& all, std::uint32_t deaths) {
  const std::uint32_t known = std::min(process.engine->acknowledged(all), deaths);
  const std::vector<job_rank> dead = dead_members(all, deaths);
  return dead.size() > dead_members(all, known).size() ? dead.back() : no_job_rank;
}

void need_survivors(const comm_object& c, const char* what) {
  if (survivors() != nullptr) {
    check_one_job(c, what);
    if (c.comm->context() >= most_contexts) {
      fail(MPI_ERR_OTHER, "more than %u communicators are too many to agree in",
           boot::survival::slots);
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
  if (survivors() != nullptr) {
    const boot::decision d =
        agree_among_survivors({c, c.comm->members(), static_cast<std::uint32_t>(*flag)});
    *flag = static_cast<int>(d.flag);
    // An agreement that found members dead whom this rank has not acknowledged says so.
    if (const job_rank dead = unacknowledged(*c.together(), d.deaths); dead >= 0) {
      fail_on(&c, MPIX_ERR_PROC_FAILED, "rank %d of the job has died, and it is not acknowledged",
              dead.value());
    }
    return MPI_SUCCESS;
  }
  const int mine = *flag;  // two groups: each gets what the other has contributed
  return impl::Allreduce(&mine, flag, 1, MPI_INT, MPI_BAND, c.handle);
}

/// What is left of a communicator, over a context that its living have taken; of two groups
/// nothing if one of them has died out, as MPI_Comm_split would have it.
MPI_Comm without(const comm_object& c, const std::vector<job_rank>& dead, context_id context) {
  const core::group gone{std::vector<job_rank>(dead)};
  const core::group living = core::group::subtract(c.together()->members(), gone);
  if (c.sides == nullptr) {
    return adopt(coll::make_agreed(*process.engine, context, living), c);
  }
  const core::group near = core::group::subtract(c.sides->local(), gone);
  const int first = c.sides->in_first() ? near.size() : living.size() - near.size();
  if (first == 0 || first == living.size()) {
    coll::release_context(*process.engine, context);
    return MPI_COMM_NULL;
  }
  return adopt(std::make_shared<coll::intercommunicator>(
                   *process.engine, coll::make_agreed(*process.engine, context, living), first),
               c);
}

/// Those that live agree on a context that all of them have free: first on a mask of them, then on
/// whether all could take it.
MPI_Comm shrink_among_survivors(const comm_object& c) {
  for (std::uint32_t from = 0;; from = (from + 64) % (most_contexts - 64)) {
    const core::group& all = c.together()->members();
    const boot::decision d =
        agree_among_survivors({c, all, coll::free_contexts(*process.engine, from)});
    const context_id context{from + 2 * static_cast<std::uint32_t>(std::countr_zero(d.flag))};
    const bool taken = d.flag != 0 && coll::take_context(*process.engine, context);
    if (agree_among_survivors({c, all, taken ? 1U : 0U}).flag != 0) {
      return without(c, dead_members(*c.together(), d.deaths), context);
    }
    if (taken) {
      coll::release_context(*process.engine, context);
    }
  }
}

/// By whoever polls. Those of a communicator end in their order.
int end_agreements(void*) noexcept {
  waiting_agreements& w = waiting();
  const std::unique_lock held(w.lock, std::try_to_lock);
  if (!held.owns_lock()) {
    return 0;
  }
  return base::must_have_memory("ending an agreement", [&] {
    const iterator begin = w.all.begin();
    iterator kept = begin;
    for (iterator at = begin; at != w.all.end(); ++at) {
      if (is_among(begin, kept, *at->it.all) || !at->it.over()) {
        std::iter_swap(kept++, at);
        continue;
      }
      *at->flag = static_cast<int>(at->it.result.flag);
      const bool news = unacknowledged(*at->it.all, at->it.result.deaths) >= 0;
      *at->code = news ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
      (void)impl::Grequest_complete(at->request);
    }
    const auto ended = static_cast<int>(w.all.end() - kept);
    w.all.erase(kept, w.all.end());
    process.runtime->want_chore(w.chore, !w.all.empty());
    return ended;
  });
}

int outcome_of(void* code, MPI_Status* status) {
  (void)PMPI_Status_set_elements(status, MPI_BYTE, 0);
  (void)PMPI_Status_set_cancelled(status, 0);
  return *static_cast<int*>(code);
}
int forget(void* code) {
  delete static_cast<int*>(code);
  return MPI_SUCCESS;
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
  auto code = std::make_unique<int>(MPI_SUCCESS);
  const std::lock_guard held(w.lock);
  w.all.reserve(w.all.size() + 1);
  (void)impl::Grequest_start(
      outcome_of, forget, [](void*, int) -> int { return MPI_SUCCESS; }, code.get(), request);
  w.all.push_back({agreement(c, c.comm->members(), static_cast<std::uint32_t>(*flag)), flag,
                   code.release(), *request});
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
  *failed = new_group(core::group(dead_members(*c.together(), deaths)), c.session);
  return MPI_SUCCESS;
}

/// Acknowledges up to `most` dead members; how many that are.
int acknowledge(const comm_object& c, int most) {
  const core::communicator& all = *c.together();
  std::uint32_t deaths = process.engine->acknowledged(all);
  for (; deaths < deaths_now(); ++deaths) {
    if (static_cast<int>(dead_members(all, deaths + 1).size()) > most) {
      break;
    }
  }
  process.engine->acknowledge(all, deaths);
  return static_cast<int>(dead_members(all, deaths).size());
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
