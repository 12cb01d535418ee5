// MPI-5.0 chapter 11: initialisation and finalisation.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/world.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/core/job.hpp"

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
    process.now = phase::forked;
  }
}

void open_world(int level) {
  SINEW_EXPECT(process.now.load() == phase::before);
  SINEW_EXPECT(process.engine == nullptr && process.requests == nullptr);
  // Below MPI_THREAD_MULTIPLE the program does not call from two threads at the same time.
  const bool many = level == MPI_THREAD_MULTIPLE;
  core::runtime& runtime = core::join_job(many ? core::threading::many : core::threading::one);
  if (many && !runtime.threaded()) {
    level = MPI_THREAD_SERIALIZED;  // coarrays came first, for one thread
  }
  auto engine = std::make_unique<p2p::engine>(runtime);
  core::settle_job(runtime);
  process.runtime = &runtime;
  process.engine = engine.release();
  process.threaded = runtime.threaded();
  process.thread_level = level;
  process.main_thread = ::pthread_self();
  process.requests = new request_pool(runtime.threaded());
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
  SINEW_ENSURE(process.comms[1]->comm->size() == runtime.size());
  SINEW_ENSURE(process.comms[1]->comm->rank() == runtime.rank());
  SINEW_ENSURE(process.comms[2]->comm->size() == 1);
  process.now = phase::running;
}

int init(int required, int* provided) {
  const std::lock_guard held(init_lock());
  switch (process.now.load()) {
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
  open_world(level);
  if (provided != nullptr) {
    *provided = process.thread_level;
  }
  return MPI_SUCCESS;
}

}  // namespace

void not_running() {
  const char* why = "";
  switch (process.now.load()) {
    case phase::before:
      why = "MPI_Init has not been called";
      break;
    case phase::after:
      why = "MPI_Finalize has been called already";
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
  *flag = process.now.load() != phase::before;
  return MPI_SUCCESS;
}

int impl::Finalized(int* flag) {
  check_out(flag, "flag");
  *flag = process.now.load() == phase::after;
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
  // First of all, while everything still works (MPI-5.0 section 11.2.4).
  delete_attributes(attached_to::comm, MPI_COMM_SELF, process.comms[2]->attached);
  delete_attributes(attached_to::comm, MPI_COMM_WORLD, process.comms[1]->attached);
  flush_all_buffers();
  (void)coll::barrier(participant_of(*process.comms[1]));
  process.engine->drain();
  const std::lock_guard held(init_lock());
  SINEW_ASSERT(process.now.load() == phase::running);
  process.now = phase::after;
  core::leave_job();
  // What the program has not freed keeps pointers into the engine, so engine and runtime stay
  // until the process ends; they hold no file and no thread.
  return MPI_SUCCESS;
}

int impl::Abort(MPI_Comm comm, int errorcode) {
  (void)comm;
  process.runtime->session().abort(errorcode, "MPI_Abort was called");
  return MPI_ERR_INTERN;  // not reached
}

}  // namespace sinew::mpi
