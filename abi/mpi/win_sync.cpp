// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 12.5: epochs. Operations on most ranks have been done when their calls return, so
// that an epoch's end has nothing to wait for but the other ranks. Those on ranks that need a flush
// have been done at the origin, but for gets; what ends an epoch, or flushes, waits until they are
// done at the target, too.
#include <algorithm>
#include <utility>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/message.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::mpi {
namespace {

/// Messages of MPI_Win_post and MPI_Win_complete, in the window's own communicator.
constexpr message_tag posted_tag = 1;
constexpr message_tag completed_tag = 2;
static_assert(posted_tag != completed_tag);

constexpr int all_asserts =
    MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

void check_assert(int assert) {
  if ((assert & ~all_asserts) != 0) {
    fail(MPI_ERR_ASSERT, "the assertion %d is none", assert);
  }
}

p2p::buffer nothing() { return p2p::buffer::of_bytes(static_cast<void*>(nullptr), 0); }

void notify(const window_object& w, int rank, message_tag tag) {
  core::communicator& c = *w.comm->comm;
  (void)process.engine->send(c, p2p::messages_of(c), nothing(), comm_rank{rank}, tag);
}

/// Orders all accesses before it with all accesses after it.
void order_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

std::vector<int> ranks_of(const window_object& w, MPI_Group group) {
  std::vector<int> ranks;
  for (const job_rank member : group_of(group).members()) {
    const int rank = w.comm->comm->members().find(member).value();
    if (rank < 0) {
      fail(MPI_ERR_GROUP, "the group has a rank that the window has not");
    }
    SINEW_ASSERT(rank < w.comm->comm->size());
    ranks.push_back(rank);
  }
  return ranks;
}

/// Tries until a lock is had. If a rank of the window has died it may be that one's for ever.
[[gnu::noinline]] void persist(const window_object& w, int rank, bool exclusively) {
  core::retry_loop tries(*process.runtime);
  do {
    check_all_live(w);
    tries.again();
  } while (!w.memory->try_lock(rank, exclusively));
}

/// Asks nobody if it is not checked.
window_lock acquire(const window_object& w, int rank, bool exclusively, bool checked) {
  // Else this rank would wait for itself.
  SINEW_EXPECT(!w.all_held && !w.locks[static_cast<std::size_t>(rank)].held());
  const bool at_once = !w.memory->needs_flush(rank);
  if (!checked) {
    return {false, false, at_once};
  }
  if (!w.memory->try_lock(rank, exclusively)) [[unlikely]] {
    persist(w, rank, exclusively);
  }
  if (!at_once) [[unlikely]] {
    check_lives(w, rank);
  }
  return {exclusively, true, at_once};
}

/// May be under way on return, behind all operations of this rank.
inline void release(const window_object& w, int rank, window_lock how) {
  if (how.checked()) [[likely]] {
    w.memory->unlock(rank, how.exclusive());
  }
}

bool any_lock(const window_object& w) {
  return std::any_of(w.locks.begin(), w.locks.end(), [](window_lock h) { return h.held(); });
}

/// For calls that need an epoch of MPI_Win_lock or MPI_Win_lock_all.
void check_locked(const window_object& w, int rank) {
  check_target(w, rank);
  if (!w.locks[static_cast<std::size_t>(rank)].held()) {
    fail(MPI_ERR_RMA_SYNC, "rank %d is not locked: MPI_Win_lock or MPI_Win_lock_all come first",
         rank);
  }
}

enum class side : char { origin, both };

/// At the origin all is done when a call returns, but for gets.
void finish(const window_object& w, side where) {
  where == side::both ? w.memory->complete() : w.memory->finish_gets();
}

int flush(MPI_Win win, int rank, side where) {
  return on_window(win, [&](window_object& w) -> int {
    if (rank != MPI_PROC_NULL) {
      check_locked(w, rank);
      finish(w, where);
      check_lives(w, rank);
    }
    order_memory();
    return MPI_SUCCESS;
  });
}

int flush_all(MPI_Win win, side where) {
  return on_window(win, [&](window_object& w) -> int {
    if (!any_lock(w)) {
      fail(MPI_ERR_RMA_SYNC, "no rank is locked: MPI_Win_lock or MPI_Win_lock_all come first");
    }
    finish(w, where);
    if (where == side::both) {
      check_all_live(w);
    }
    order_memory();
    return MPI_SUCCESS;
  });
}

bool all_arrived(void* window) {
  const auto& w = *static_cast<window_object*>(window);
  return std::all_of(w.arrivals.begin(), w.arrivals.end(),
                     [](const p2p::request* r) { return r->done(); });
}

/// What has become of an origin that was waited for.
p2p::fault end_exposure(window_object& w) {
  SINEW_EXPECT(w.is_posted && all_arrived(&w));
  p2p::fault worst = p2p::fault::none;
  for (p2p::request* r : w.arrivals) {
    worst = r->outcome.error != p2p::fault::none ? r->outcome.error : worst;
    process.engine->release(r);
  }
  w.arrivals.clear();
  w.posted.clear();
  w.is_posted = false;
  order_memory();
  return worst;
}

void check_posted(const window_object& w) {
  if (!w.is_posted) {
    fail(MPI_ERR_RMA_SYNC, "the window is not exposed: MPI_Win_post comes first");
  }
}

}  // namespace

int impl::Win_fence(int assert, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_assert(assert);
    if (any_lock(w) || !w.is_started.empty() || w.is_posted) {
      fail(MPI_ERR_RMA_SYNC, "another epoch of the window is open");
    }
    w.memory->complete();
    order_memory();
    const p2p::fault fault = coll::barrier(participant_of(*w.comm), "MPI_Win_fence");
    order_memory();
    w.fence_open = (assert& MPI_MODE_NOSUCCEED) == 0;
    return end(*w.comm, fault);
  });
}

int impl::Win_post(MPI_Group group, int assert, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_assert(assert);
    if (w.is_posted) {
      fail(MPI_ERR_RMA_SYNC, "the window is exposed already: MPI_Win_wait is missing");
    }
    w.fence_open = false;
    SINEW_ASSERT(w.arrivals.empty());
    w.posted = ranks_of(w, group);
    w.is_posted = true;
    core::communicator& c = *w.comm->comm;
    order_memory();
    for (const int origin : w.posted) {
      w.arrivals.push_back(process.engine->irecv(c, p2p::messages_of(c), nothing(),
                                                 comm_rank{origin}, completed_tag));
      if ((assert& MPI_MODE_NOCHECK) == 0) {
        notify(w, origin, posted_tag);
      }
    }
    SINEW_ENSURE(w.arrivals.size() == w.posted.size());
    return MPI_SUCCESS;
  });
}

int impl::Win_start(MPI_Group group, int assert, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_assert(assert);
    if (!w.is_started.empty() || any_lock(w)) {
      fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
    }
    w.fence_open = false;
    w.started = ranks_of(w, group);
    core::communicator& c = *w.comm->comm;
    for (const int target : w.started) {
      if ((assert& MPI_MODE_NOCHECK) == 0) {
        const auto posted =
            process.engine->recv(c, p2p::messages_of(c), nothing(), comm_rank{target}, posted_tag);
        if (posted.error != p2p::fault::none) {
          w.started.clear();
          return end(*w.comm, posted.error);
        }
      }
    }
    order_memory();
    w.is_started.assign(static_cast<std::size_t>(c.size()), false);
    for (const int target : w.started) {
      w.is_started[static_cast<std::size_t>(target)] = true;
    }
    return MPI_SUCCESS;
  });
}

int impl::Win_complete(MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    if (w.is_started.empty()) {
      fail(MPI_ERR_RMA_SYNC, "no access epoch is open: MPI_Win_start comes first");
    }
    w.memory->complete();
    order_memory();
    SINEW_ASSERT(w.is_started.size() == w.locks.size());
    w.is_started.clear();
    for (const int target : w.started) {
      notify(w, target, completed_tag);
    }
    w.started.clear();
    return MPI_SUCCESS;
  });
}

int impl::Win_wait(MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_posted(w);
    for (p2p::request* r : w.arrivals) {
      process.engine->wait(*r);
    }
    return end(*w.comm, end_exposure(w));
  });
}

int impl::Win_test(MPI_Win win, int* flag) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(flag, "flag");
    check_posted(w);
    if (!all_arrived(&w)) {
      process.runtime->poll();
    }
    *flag = all_arrived(&w) ? 1 : 0;
    return *flag != 0 ? end(*w.comm, end_exposure(w)) : MPI_SUCCESS;
  });
}

int impl::Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_assert(assert);
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
      fail(MPI_ERR_LOCKTYPE, "%d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", lock_type);
    }
    if (rank == MPI_PROC_NULL) {
      return MPI_SUCCESS;
    }
    check_target(w, rank);
    window_lock& lock = w.locks[static_cast<std::size_t>(rank)];
    if (lock.held() || w.all_held || !w.is_started.empty()) {
      fail(MPI_ERR_RMA_SYNC,
           lock.held() ? "rank %d is locked by this rank already"
                       : "another access epoch is open (rank %d)",
           rank);
    }
    w.fence_open = false;
    const bool exclusively = lock_type == MPI_LOCK_EXCLUSIVE;
    const bool checked = (assert& MPI_MODE_NOCHECK) == 0;
    lock = acquire(w, rank, exclusively, checked);
    if (!checked) {
      order_memory();
    }
    return MPI_SUCCESS;
  });
}

int impl::Win_unlock(int rank, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    if (rank == MPI_PROC_NULL) {
      return MPI_SUCCESS;
    }
    check_target(w, rank);
    window_lock& lock = w.locks[static_cast<std::size_t>(rank)];
    if (!lock.held() || w.all_held) {
      fail(MPI_ERR_RMA_SYNC, "rank %d is not locked by this rank alone", rank);
    }
    w.memory->finish_gets();  // before somebody else may write there
    order_memory();
    release(w, rank, lock);
    if (!std::exchange(lock, window_lock{}).at_once()) {
      w.memory->complete();
      check_lives(w, rank);
    }
    return MPI_SUCCESS;
  });
}

int impl::Win_lock_all(int assert, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    check_assert(assert);
    if (any_lock(w) || !w.is_started.empty()) {
      fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
    }
    w.fence_open = false;
    const bool checked = (assert& MPI_MODE_NOCHECK) == 0;
    SINEW_ASSERT(w.locks.size() == static_cast<std::size_t>(w.comm->comm->size()));
    for (int r = 0; r < w.comm->comm->size(); ++r) {
      w.locks[static_cast<std::size_t>(r)] = acquire(w, r, false, checked);
    }
    w.all_held = true;
    return MPI_SUCCESS;
  });
}

int impl::Win_unlock_all(MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    if (!w.all_held) {
      fail(MPI_ERR_RMA_SYNC, "the ranks are not locked: MPI_Win_lock_all comes first");
    }
    w.memory->finish_gets();
    order_memory();
    for (int r = 0; r < w.comm->comm->size(); ++r) {
      release(w, r, w.locks[static_cast<std::size_t>(r)]);
    }
    w.memory->complete();
    std::fill(w.locks.begin(), w.locks.end(), window_lock{});
    w.all_held = false;
    check_all_live(w);
    return MPI_SUCCESS;
  });
}

int impl::Win_flush(int rank, MPI_Win win) { return flush(win, rank, side::both); }
int impl::Win_flush_local(int rank, MPI_Win win) { return flush(win, rank, side::origin); }
int impl::Win_flush_all(MPI_Win win) { return flush_all(win, side::both); }
int impl::Win_flush_local_all(MPI_Win win) { return flush_all(win, side::origin); }

int impl::Win_sync(MPI_Win win) {
  return on_window(win, [&](window_object&) -> int {
    order_memory();
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
