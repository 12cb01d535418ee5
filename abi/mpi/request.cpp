#include "abi/mpi/request.hpp"

#include "abi/mpi/generated/impl.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

request_object& make_finished() {
  auto* r = new request_object;
  r->what = kind::request;
  return *r;
}

int conclude_generalized(request_object& r, MPI_Status* status, std::string* sentence) {
  SINEW_EXPECT(r.finished.done());
  MPI_Status own{};
  set_empty(&own);
  int code = r.own.query == nullptr ? MPI_SUCCESS : r.own.query(r.own.state, &own);
  if (status != MPI_STATUS_IGNORE) {
    const int error = status->MPI_ERROR;
    *status = own;
    status->MPI_ERROR = error;
  }
  if (r.own.free != nullptr) {
    const int freed = r.own.free(r.own.state);
    code = code == MPI_SUCCESS ? freed : code;
  }
  if (code != MPI_SUCCESS && sentence != nullptr) {
    *sentence = "a callback of a generalized request returned " + std::to_string(code);
  }
  return code;
}

int conclude_partitioned(const request_object& r, MPI_Status* status, std::string* sentence) {
  const p2p::fault f = r.parts->outcome().error;
  set_status(status, *r.parts);
  if (f != p2p::fault::none && sentence != nullptr) {
    *sentence = r.parts->about(f);
  }
  return code_of(f);
}

int conclude_collective(const request_object& r, std::string* sentence) {
  SINEW_EXPECT(r.collective != nullptr && r.collective->runs != nullptr);
  SINEW_EXPECT(r.collective->runs->over.done());
  const coll::ongoing& runs = *r.collective->runs;
  const int code = runs.problem ? MPI_ERR_NO_MEM : code_of(runs.outcome);
  if (code != MPI_SUCCESS && sentence != nullptr) {
    *sentence =
        std::string(r.collective->name.name) +
        (code == MPI_ERR_TRUNCATE
             ? ": a rank sent more data than its partner expected: counts or datatypes differ"
         : code == MPIX_ERR_PROC_FAILED ? ": a rank of the communicator has died"
         : code == MPIX_ERR_REVOKED     ? ": the communicator has been revoked"
                                        : ": there is no memory left for a message");
  }
  return code;
}

/// What came from a rank that has died means nothing.
int conclude_fetch(const request_object& r, std::string* sentence) {
  SINEW_EXPECT(r.comm != nullptr);
  if (!process.engine->is_dead(r.comm->comm->job_rank(comm_rank{r.again.peer}))) {
    return MPI_SUCCESS;
  }
  if (sentence != nullptr) {
    *sentence = "rank " + std::to_string(r.again.peer) + " has died";
  }
  return MPIX_ERR_PROC_FAILED;
}

/// Gives the operations of `r` back to p2p, and returns the outcome for the status.
p2p::result collect(request_object& r) {
  p2p::result outcome;
  if (r.inner != nullptr) {
    outcome = r.inner->outcome;
    process.engine->release(r.inner);
    r.inner = nullptr;
  }
  if (r.second != nullptr) {
    process.engine->release(r.second);
    r.second = nullptr;
  }
  SINEW_ENSURE(r.inner == nullptr && r.second == nullptr);
  return outcome;
}

}  // namespace

request_object& finished_request = make_finished();

bool uses(request_pool& pool, const comm_object& c) {
  bool found = false;
  pool.each([&](const request_object& r) {
    found = found || (r.what.load(std::memory_order_relaxed) == kind::request && r.comm == &c);
  });
  return found;
}

void no_memory_for_request(comm_object* c) {
  fail_on(c, MPI_ERR_NO_MEM, "no memory for a request");
}

void drop_owned(request_object& r) noexcept {
  SINEW_EXPECT(r.owns);
  r.keeps = {};
  r.copy.reset();
  r.duplicates.reset();
  r.collective.reset();
  r.file.reset();
  r.parts.reset();
  r.owns = false;
}

void bad_request(MPI_Request handle) {
  fail(MPI_ERR_REQUEST, "the request %p has been freed, has completed, or never was one",
       static_cast<const void*>(handle));
}

void set_status(MPI_Status* status, const partitioned::operation& parts) noexcept {
  parts.sends() ? set_empty(status) : set_status(status, parts.outcome());
}

namespace {

bool is_interrupted(const request_object& r) noexcept {
  using sort = request_object::sort;
  return (r.what_for == sort::receive || r.what_for == sort::exchange) && r.inner != nullptr &&
         process.engine->is_interrupted(*r.inner);
}

bool is_of_failure(p2p::fault f) noexcept {
  const int code = code_of(f);
  return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED;
}

}  // namespace

bool ended(const request_object& r) noexcept {
  return is_complete(r) || (process.engine->outlives_ranks() && is_interrupted(r));
}

bool has_met_failure(const request_object& r) noexcept {
  using sort = request_object::sort;
  if (!r.active || !ended(r)) {
    return false;
  }
  if (!is_complete(r)) {
    return true;
  }
  if (r.what_for == sort::collective) {
    return is_of_failure(r.collective->runs->outcome);
  }
  return (r.inner != nullptr && is_of_failure(r.inner->outcome.error)) ||
         (r.second != nullptr && is_of_failure(r.second->outcome.error));
}

bool is_complete(const request_object& r) noexcept {
  if (!r.active) {
    return true;
  }
  if (r.what_for <= request_object::sort::exchange) {
    return (r.inner == nullptr || r.inner->done()) && (r.second == nullptr || r.second->done());
  }
  if (r.what_for == request_object::sort::generalized) {
    return r.finished.done();
  }
  if (r.what_for == request_object::sort::flush) {
    SINEW_ASSERT(r.flushing != nullptr);
    return is_flushed(*r.flushing, r.up_to);
  }
  if (r.what_for == request_object::sort::fetch) {
    SINEW_ASSERT(r.fetching != nullptr);
    return r.fetching->gets_ended(r.up_to);
  }
  if (r.what_for == request_object::sort::duplicate) {
    SINEW_ASSERT(r.duplicates != nullptr);
    return agreed(*r.duplicates);
  }
  if (r.what_for == request_object::sort::collective) {
    SINEW_ASSERT(r.collective != nullptr && r.collective->runs != nullptr);
    return r.collective->runs->over.done();
  }
  return r.what_for == request_object::sort::partitioned ? r.parts->over().done() : true;
}

void await(request_object& r) {
  if (!r.active) {
    return;
  }
  if (r.what_for == request_object::sort::generalized) {
    process.runtime->wait(r.finished);
    return;
  }
  if (r.what_for == request_object::sort::flush || r.what_for == request_object::sort::fetch) {
    process.runtime->wait_until([](void* at) { return ended(*static_cast<request_object*>(at)); },
                                &r);
    return;
  }
  if (r.what_for == request_object::sort::duplicate) {
    await(*r.duplicates);
    return;
  }
  if (r.what_for == request_object::sort::collective) {
    SINEW_ASSERT(r.comm != nullptr && r.collective->runs != nullptr);
    core::collective_record& record = r.comm->comm->collective;
    const core::collective_call around = record.exchange(r.collective->name);
    coll::wait(*process.engine, *r.collective->runs);
    (void)record.exchange(around);
    return;
  }
  if (r.what_for == request_object::sort::partitioned) {
    process.runtime->wait(r.parts->over());
    return;
  }
  if (r.inner != nullptr && process.engine->outlives_ranks()) {
    let_messages_in();
    process.runtime->wait_until([](void* at) { return ended(*static_cast<request_object*>(at)); },
                                &r);
    return;
  }
  if (r.inner != nullptr) {
    process.engine->wait(*r.inner);
  }
  if (r.second != nullptr) {
    process.engine->wait(*r.second);
  }
  SINEW_ENSURE(ended(r));
}

int conclude(request_object* r, MPI_Request* handle, MPI_Status* status, std::string* sentence) {
  if (r == nullptr || !r->active) {
    set_empty(status);
    return MPI_SUCCESS;
  }
  SINEW_EXPECT(handle != nullptr);
  using sort = request_object::sort;
  if (!is_complete(*r)) [[unlikely]] {
    set_empty(status);
    if (sentence != nullptr) {
      *sentence = sentence_about({.error = p2p::fault::peer_failed_pending});
    }
    return MPIX_ERR_PROC_FAILED_PENDING;
  }
  int code = MPI_SUCCESS;
  if (r->what_for <= sort::flush) {
    const bool receives = r->what_for == sort::receive || r->what_for == sort::exchange;
    SINEW_ASSERT(r->second == nullptr || r->what_for == sort::exchange);
    const p2p::result outcome = collect(*r);
    receives ? set_status(status, outcome) : set_sent(status, outcome);
    if (outcome.error != p2p::fault::none && outcome.error != p2p::fault::cancelled) {
      code = code_of(outcome.error);
      if (sentence != nullptr) {
        *sentence = sentence_about(outcome);
      }
    }
  } else if (r->what_for == sort::fetch) {
    code = conclude_fetch(*r, sentence);
    set_empty(status);
  } else if (r->what_for == sort::generalized) {
    code = conclude_generalized(*r, status, sentence);
  } else if (r->what_for == sort::duplicate) {
    code = install(*r->duplicates, sentence);
    set_empty(status);
  } else if (r->what_for == sort::collective) {
    code = conclude_collective(*r, sentence);
    set_empty(status);
  } else if (r->what_for == sort::partitioned) {
    code = conclude_partitioned(*r, status, sentence);
  } else {
    SINEW_ASSERT(r->what_for == sort::file && r->file != nullptr);
    code = r->file->code;
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<std::size_t>(r->file->bytes));
    if (sentence != nullptr) {
      *sentence = r->file->sentence;
    }
  }
  if (r->persistent) {
    r->active = false;
  } else {
    *handle = MPI_REQUEST_NULL;
    if (r != &finished_request) {
      free_request(*r);
    }
  }
  return code;
}

std::string sentence_about(const p2p::result& r) {
  SINEW_EXPECT(r.error != p2p::fault::none);
  std::string which = "tag " + to_string(r.tag) + " from rank " + to_string(r.source);
  switch (r.error) {
    case p2p::fault::truncated:
      SINEW_ASSERT(r.sent_bytes > r.bytes);
      return which + ": message of " + std::to_string(r.sent_bytes) +
             " bytes is longer than the buffer of " + std::to_string(r.bytes) + " bytes";
    case p2p::fault::no_memory:
      return which + ": no memory to unpack a message of " + std::to_string(r.sent_bytes) +
             " bytes";
    case p2p::fault::peer_failed:
      if (r.source != p2p::any_source) {
        return "the other rank of the operation has died";
      }
      [[fallthrough]];
    case p2p::fault::peer_failed_pending:
      return "a rank that could have been the source has died (MPIX_Comm_ack_failed)";
    case p2p::fault::revoked:
      return "the communicator has been revoked (MPIX_Comm_revoke)";
    default:
      return which;
  }
}

int code_of(p2p::fault f) noexcept {
  switch (f) {
    case p2p::fault::truncated:
      return MPI_ERR_TRUNCATE;
    case p2p::fault::no_memory:
      return MPI_ERR_NO_MEM;
    case p2p::fault::peer_failed:
      return MPIX_ERR_PROC_FAILED;
    case p2p::fault::peer_failed_pending:
      return MPIX_ERR_PROC_FAILED_PENDING;
    case p2p::fault::revoked:
      return MPIX_ERR_REVOKED;
    default:
      return MPI_SUCCESS;
  }
}

void bad_result(comm_object& c, const p2p::result& r) {
  SINEW_EXPECT(code_of(r.error) != MPI_SUCCESS);
  throw failure{code_of(r.error), sentence_about(r), &c};
}

namespace {

/// All members must see a collective operation end (MPI-5.0 section 6.12).
void refuse_collective(const request_object& r, const char* what) {
  const bool persistent = r.what_for == request_object::sort::collective && !r.active;
  if (r.what_for == request_object::sort::duplicate ||
      (r.what_for == request_object::sort::collective && !persistent)) {
    fail(MPI_ERR_REQUEST, "the request of a collective operation cannot be %s: wait for it", what);
  }
}

/// MPI-5.0 section 4.2: partitions that are under way need their request.
void refuse_partitioned(const request_object& r, const char* what) {
  if (r.what_for == request_object::sort::partitioned && r.active) {
    fail_on(r.comm, MPI_ERR_REQUEST,
            "an active request of partitioned communication cannot be %s: wait for it", what);
  }
}

int free_now(request_object& r) {
  const int code = r.own.free == nullptr ? MPI_SUCCESS : r.own.free(r.own.state);
  free_request(r);
  return code;
}

/// At once, or by whoever completes it, from within MPI_Grequest_complete: which of them comes
/// first is decided by the completion.
void free_generalized(request_object& r) {
  r.own.freed.of = &r;
  r.own.freed.fire = [](core::waiter& w) noexcept {
    (void)free_now(*static_cast<request_object::freed_early&>(w).of);
  };
  if (r.finished.attach(r.own.freed)) {
    return;
  }
  const int code = free_now(r);
  if (code != MPI_SUCCESS) {
    fail(code, "the free callback of a generalized request returned %d", code);
  }
}

}  // namespace

int impl::Request_free(MPI_Request* request) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  refuse_collective(*r, "freed");
  refuse_partitioned(*r, "freed");
  *request = MPI_REQUEST_NULL;
  if (r->what_for == request_object::sort::generalized) {
    free_generalized(*r);
    return MPI_SUCCESS;
  }
  if (r->copy) {
    await(*r);  // what is being sent belongs to the request
  }
  collect(*r);
  if (r != &finished_request) {
    free_request(*r);
  }
  return MPI_SUCCESS;
}

int impl::Cancel(MPI_Request* request) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  refuse_collective(*r, "cancelled");
  refuse_partitioned(*r, "cancelled");
  if (r->what_for == request_object::sort::generalized) {
    const int code = r->own.cancel == nullptr
                         ? MPI_SUCCESS
                         : r->own.cancel(r->own.state, r->finished.done() ? 1 : 0);
    if (code != MPI_SUCCESS) {
      fail(code, "the cancel callback of a generalized request returned %d", code);
    }
    return MPI_SUCCESS;
  }
  if (r->inner != nullptr) {
    if (r->what_for == request_object::sort::receive) {
      (void)process.engine->cancel(*r->inner);
    } else if (r->what_for == request_object::sort::send) {
      process.engine->cancel_send(*r->inner);
    }
  }
  return MPI_SUCCESS;
}

int impl::Test_cancelled(const MPI_Status* status, int* flag) {
  check_out(status, "status");
  check_out(flag, "flag");
  *flag = is_cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

int impl::Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                         MPI_Grequest_cancel_function* cancel_fn, void* extra_state,
                         MPI_Request* request) {
  check_out(request, "request");
  request_object& r = new_request(nullptr, request_object::sort::generalized);
  r.own = {query_fn, free_fn, cancel_fn, extra_state, {}};
  r.finished.reset();
  SINEW_ENSURE(!r.finished.done());
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int impl::Grequest_complete(MPI_Request request) {
  request_object* r = request_of(request);
  if (r == nullptr || r->what_for != request_object::sort::generalized || r->finished.done()) {
    fail(MPI_ERR_REQUEST, "not a generalized request under way");
  }
  SINEW_ASSERT(r->inner == nullptr && !r->persistent);
  r->finished.complete();  // who waits for it, or own.freed, may have freed the request by now
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
