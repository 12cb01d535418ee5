// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 11: initialisation and finalisation.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/profile/profile.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/session.hpp"
#include "abi/mpi/wait.hpp"
#include "abi/mpi/watch.hpp"
#include "abi/mpi/world.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/core/job.hpp"
#include "sinew/dynamic/spawned_job.hpp"

namespace sinew::mpi {

// Levels are compared.
static_assert(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED &&
              MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
static_assert(MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
// process.comms is indexed by the handles' values.
static_assert(abi::handle_comm_world == abi::handle_comm_null + 1);

constinit world process;

namespace {

std::mutex& init_lock() {
  static auto& it = *new std::mutex;
  return it;
}

/// A child of fork() is not part of the job: it must not use the shared memory or the launcher.
void in_child() {
  if (process.now.load() == phase::running) {
    set_phase(phase::forked);
  }
}

/// Sessions that are open, and the world between MPI_Init and MPI_Finalize. Under init_lock().
int users = 0;
int library_level = MPI_THREAD_SINGLE;
bool has_left = false;  ///< the launcher has been told that this rank needs no others
bool resumed = false;   ///< and then that it does, once more

void open_library(int level) {
  SINEW_EXPECT(process.now.load() == phase::before);
  SINEW_EXPECT(process.engine == nullptr && process.requests == nullptr);
  // Below MPI_THREAD_MULTIPLE the program does not call from two threads at the same time.
  const bool many = level == MPI_THREAD_MULTIPLE;
  core::runtime& runtime = core::join_job(many ? core::threading::many : core::threading::one);
  if (many && !runtime.threaded()) {
    level = MPI_THREAD_SERIALIZED;  // coarrays came first, for one thread
  }
  auto engine = std::make_unique<p2p::engine>(runtime, check::wanted(check::what::kinds));
  core::settle_job(runtime);
  process.runtime = &runtime;
  process.engine = engine.release();
  process.threaded = runtime.threaded();
  library_level = level;
  process.requests = new request_pool(runtime.threaded());
  static auto& own = *new coll::communicator_ref(coll::job(*process.engine));
  process.job = own.get();
  errhandler_object* fatal = errhandler_of(MPI_ERRORS_ARE_FATAL);
  for (const int which : {1, 2}) {
    auto* c = arena<comm_object>::make(which == 1 ? coll::world(*process.engine)
                                                  : coll::self(*process.engine));
    c->handle = which == 1 ? MPI_COMM_WORLD : MPI_COMM_SELF;
    c->comm->name = which == 1 ? "MPI_COMM_WORLD" : "MPI_COMM_SELF";
    c->errors = fatal;
    process.comms[which] = c;
  }
  ::pthread_atfork(nullptr, nullptr, in_child);
  explain_waits(runtime);
  trace::name_waits([] { return current_call; });
  SINEW_ENSURE(process.comms[1]->comm->size() == runtime.size());
  SINEW_ENSURE(process.comms[1]->comm->job_rank(process.comms[1]->comm->rank()) == runtime.rank());
  SINEW_ENSURE(process.comms[2]->comm->size() == 1);
  boot::own_pulse.counts_calls.store(true, std::memory_order_relaxed);
  set_phase(phase::running);
  (void)runtime.begin_service(core::service::messages);
  find_parent();
}

/// Under init_lock().
void begin_use_locked(int level) {
  switch (process.now.load()) {
    case phase::before:
      open_library(level);
      break;
    case phase::running:
      break;
    case phase::after:  // engine and runtime are still there
      SINEW_ASSERT(users == 0 && process.engine != nullptr);
      resumed = process.runtime->session().finalized();  // or another binding goes on
      if (resumed) {
        process.runtime->session().resume();
      }
      set_phase(phase::running);
      break;
    case phase::forked:
      not_running();
  }
  ++users;
  SINEW_ENSURE(process.now.load() == phase::running);
}

void end_use_locked() {
  SINEW_EXPECT(users > 0 && process.now.load() == phase::running);
  if (--users > 0) {
    return;
  }
  dynamic::await_spawned_jobs(*process.runtime);
  process.engine->drain();
  set_phase(phase::after);
  if (!std::exchange(has_left, true)) {
    if (coll::is_connected(*process.engine)) {
      process.runtime->session().stay_connected();
    }
    core::leave_job();
  } else if (std::exchange(resumed, false)) {
    process.runtime->session().finalize();
  }
  // What the program has not freed keeps pointers into the engine, so engine and runtime stay
  // until the process ends; they hold no file and no thread.
}

int init(int required, int* provided) {
  const std::lock_guard held(init_lock());
  switch (process.world_model.load(std::memory_order_relaxed)) {
    case phase::before:
      break;
    case phase::running:
      fail(MPI_ERR_OTHER, "MPI is initialised already");
    default:
      fail(MPI_ERR_OTHER, "MPI has been finalised and cannot be initialised again");
  }
  const int level = required <= MPI_THREAD_SINGLE       ? MPI_THREAD_SINGLE
                    : required <= MPI_THREAD_FUNNELED   ? MPI_THREAD_FUNNELED
                    : required <= MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED
                                                        : MPI_THREAD_MULTIPLE;
  begin_use_locked(level);
  // A session that came first may have started the library for one thread.
  process.thread_level =
      level == MPI_THREAD_MULTIPLE && !process.threaded ? MPI_THREAD_SERIALIZED : level;
  process.main_thread = ::pthread_self();
  process.world_model.store(phase::running, std::memory_order_relaxed);
  profile::start();
  if (provided != nullptr) {
    *provided = process.thread_level;
  }
  return MPI_SUCCESS;
}

}  // namespace

void begin_use(int level) {
  const std::lock_guard held(init_lock());
  begin_use_locked(level);
}

void end_use() {
  const std::lock_guard held(init_lock());
  end_use_locked();
}

int level_of_library() noexcept { return library_level; }

void set_phase(phase p) noexcept {
  process.now = p;
  boot::own_pulse.open = p == phase::running && !watch::wanted();
}

void not_running() {
  const char* why = "";
  switch (process.now.load()) {
    case phase::before:
      why = "MPI_Init has not been called, and no session is open";
      break;
    case phase::after:
      why = process.world_model.load() == phase::before
                ? "MPI_Init has not been called, and the last session has been finalized"
                : "MPI_Finalize has been called already";
      break;
    case phase::forked:
      why = "this process is a fork of a rank and no part of the job";
      break;
    case phase::running:
      break;
  }
  fail(MPI_ERR_OTHER, "%s", why);
}

int impl::Init(int*, char***) { return init(MPI_THREAD_SINGLE, nullptr); }

int impl::Init_thread(int*, char***, int required, int* provided) {
  return init(required, provided);
}

int impl::Initialized(int* flag) {
  check_out(flag, "flag");
  *flag = process.world_model.load(std::memory_order_relaxed) != phase::before;
  return MPI_SUCCESS;
}

int impl::Finalized(int* flag) {
  check_out(flag, "flag");
  *flag = process.world_model.load(std::memory_order_relaxed) == phase::after;
  return MPI_SUCCESS;
}

int impl::Query_thread(int* provided) {
  check_out(provided, "provided");
  *provided = process.thread_level;
  return MPI_SUCCESS;
}

int impl::Is_thread_main(int* flag) {
  check_out(flag, "flag");
  *flag = ::pthread_equal(::pthread_self(), process.main_thread) != 0;
  return MPI_SUCCESS;
}

int impl::Finalize() {
  if (process.world_model.load(std::memory_order_relaxed) != phase::running) {
    fail(MPI_ERR_OTHER, "%s",
         process.world_model.load(std::memory_order_relaxed) == phase::before
             ? "MPI_Init has not been called"
             : "MPI_Finalize has been called already");
  }
  profile::stop();
  // First of all, while everything still works (MPI-5.0 section 11.2.4).
  delete_attributes(attached_to::comm, MPI_COMM_SELF, process.comms[2]->attached);
  delete_attributes(attached_to::comm, MPI_COMM_WORLD, process.comms[1]->attached);
  flush_all_buffers();
  (void)coll::barrier(participant_of(*process.comms[1]), "MPI_Finalize");
  check::finish();
  profile::finish();
  const std::lock_guard held(init_lock());
  process.world_model.store(phase::after, std::memory_order_relaxed);
  end_use_locked();
  return MPI_SUCCESS;
}

int impl::Abort(MPI_Comm comm, int errorcode) {
  (void)comm;
  dynamic::end_spawned_jobs();
  process.runtime->session().abort(errorcode, "MPI_Abort was called");
  return MPI_ERR_INTERN;  // not reached
}

}  // namespace sinew::mpi
