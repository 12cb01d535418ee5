// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/request.hpp"

#include <optional>
#include <utility>

#include "abi/mpi/generated/impl.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

bool single_message::ended(const request_object& r) const noexcept {
  return r.inner == nullptr || r.inner->done();
}

void single_message::wait(request_object& r) {
  if (r.inner == nullptr) {
    return;
  }
  if (process.engine->outlives_ranks()) {
    let_messages_in();
    operation::wait(r);
  } else {
    process.engine->wait(*r.inner);
  }
}

int single_message::finish(request_object& r, MPI_Status* status, std::string* sentence) {
  const p2p::result outcome = collect(r.inner);
  r.receives ? set_status(status, outcome) : set_sent(status, outcome);
  return code_of(outcome, sentence);
}

void single_message::peek(const request_object& r, MPI_Status* status) {
  if (r.inner == nullptr) {
    set_empty(status);
    return;
  }
  SINEW_ASSERT(r.inner->done());
  r.receives ? set_status(status, r.inner->outcome) : set_sent(status, r.inner->outcome);
}

bool single_message::is_interrupted(const request_object& r) const noexcept {
  return r.receives && r.inner != nullptr && process.engine->is_interrupted(*r.inner);
}

bool single_message::has_met_failure(const request_object& r) const noexcept {
  return r.inner != nullptr && is_of_failure(r.inner->outcome.error);
}

void single_message::drop(request_object& r) {
  (void)collect(r.inner);
  if (&r != &finished_request) {
    free_request(r);
  }
}

void single_message::cancel(request_object& r) {
  if (r.inner == nullptr) {
    return;
  }
  if (r.receives) {
    (void)process.engine->cancel(*r.inner);
  } else {
    process.engine->cancel_send(*r.inner);
  }
}

namespace {

request_object& make_finished() {
  auto* r = new request_object;
  r->what = kind::request;
  r->stands_for = &message_operation;
  return *r;
}

/// A generalized request (MPI-5.0 section 13.2): the program ends it, and says what it was.
class generalized final : public operation {
 public:
  struct functions {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* state;
  };
  explicit generalized(const functions& own) noexcept : own_(own) {}

  /// Whoever waits for it, or drop(), may have freed the request afterwards.
  void complete() noexcept {
    program_.reset();
    over_.complete();
  }
  [[nodiscard]] bool is_over() const noexcept { return over_.done(); }

  bool ended(const request_object&) const noexcept override { return is_over(); }
  void wait(request_object&) override { process.runtime->wait(over_); }
  int finish(request_object&, MPI_Status* status, std::string* sentence) override {
    MPI_Status said{};
    int code = query(said);
    if (status != MPI_STATUS_IGNORE) {
      const int error = status->MPI_ERROR;
      *status = said;
      status->MPI_ERROR = error;
    }
    const int freed = free();
    code = code == MPI_SUCCESS ? freed : code;
    if (code != MPI_SUCCESS && sentence != nullptr) {
      *sentence = "a callback of a generalized request returned " + std::to_string(code);
    }
    return code;
  }
  void peek(const request_object&, MPI_Status* status) override {
    MPI_Status said{};
    (void)query(said);
    if (status != MPI_STATUS_IGNORE) {
      *status = said;
    }
  }
  /// At once, or by whoever completes it, from within MPI_Grequest_complete: which of them comes
  /// first is decided by the completion.
  void drop(request_object& r) override {
    freed_.of = &r;
    freed_.fire = [](core::waiter& w) noexcept {
      request_object& of = *static_cast<freed_early&>(w).of;
      (void)static_cast<generalized*>(of.stands_for)->free();
      free_request(of);
    };
    if (over_.attach(freed_)) {
      return;
    }
    const int code = free();
    free_request(r);
    if (code != MPI_SUCCESS) {
      fail(code, "the free callback of a generalized request returned %d", code);
    }
  }
  void cancel(request_object&) override {
    const int code =
        own_.cancel == nullptr ? MPI_SUCCESS : own_.cancel(own_.state, is_over() ? 1 : 0);
    if (code != MPI_SUCCESS) {
      fail(code, "the cancel callback of a generalized request returned %d", code);
    }
  }

 private:
  /// MPI_Request_free has come before MPI_Grequest_complete.
  struct freed_early : core::waiter {
    request_object* of = nullptr;
  };
  int query(MPI_Status& said) const {
    set_empty(&said);
    return own_.query == nullptr ? MPI_SUCCESS : own_.query(own_.state, &said);
  }
  int free() const { return own_.free == nullptr ? MPI_SUCCESS : own_.free(own_.state); }

  const functions own_;
  /// Until the program has completed it.
  std::optional<core::awaits_outside> program_{std::in_place, *process.runtime};
  core::completion over_;
  freed_early freed_;
};

}  // namespace

operation& message_operation = *new single_message;
request_object& finished_request = make_finished();

void operation::wait(request_object& r) {
  process.runtime->wait_until(
      [](void* at) { return mpi::ended(*static_cast<request_object*>(at)); }, &r);
}

void operation::start(request_object&) { fail(MPI_ERR_REQUEST, "the request is not persistent"); }

void operation::drop(request_object& r) { free_request(r); }

request_object& new_request(comm_object* c, std::unique_ptr<operation> what) {
  request_object& r = new_request(c, *what);
  r.owned = std::move(what);
  return r;
}

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

void refuse_collective(const char* what) {
  fail(MPI_ERR_REQUEST, "the request of a collective operation cannot be %s: wait for it", what);
}

void bad_request(MPI_Request handle) {
  fail(MPI_ERR_REQUEST, "the request %p has been freed, has completed, or never was one",
       static_cast<const void*>(handle));
}

bool ended(const request_object& r) noexcept {
  return is_complete(r) || (process.engine->outlives_ranks() && r.stands_for->is_interrupted(r));
}

bool has_met_failure(const request_object& r) noexcept {
  return r.active && ended(r) && (!is_complete(r) || r.stands_for->has_met_failure(r));
}

void await(request_object& r) {
  if (r.active) {
    r.stands_for->wait(r);
    SINEW_ENSURE(ended(r));
  }
}

int conclude(request_object* r, MPI_Request* handle, MPI_Status* status, std::string* sentence) {
  if (r == nullptr || !r->active) {
    set_empty(status);
    return MPI_SUCCESS;
  }
  SINEW_EXPECT(handle != nullptr);
  if (!is_complete(*r)) [[unlikely]] {
    set_empty(status);
    return code_of({.error = p2p::fault::peer_failed_pending}, sentence);
  }
  const int code = r->stands_for->finish(*r, status, sentence);
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

bool is_of_failure(p2p::fault f) noexcept {
  const int code = code_of(f);
  return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED;
}

int code_of(const p2p::result& r, std::string* sentence) {
  const int code = code_of(r.error);
  if (code != MPI_SUCCESS && sentence != nullptr) {
    *sentence = sentence_about(r);
  }
  return code;
}

p2p::result collect(p2p::request*& from) noexcept {
  p2p::result outcome;
  if (from != nullptr) {
    outcome = from->outcome;
    process.engine->release(std::exchange(from, nullptr));
  }
  return outcome;
}

void bad_result(comm_object& c, const p2p::result& r) {
  SINEW_EXPECT(code_of(r.error) != MPI_SUCCESS);
  throw failure{code_of(r.error), sentence_about(r), &c};
}

int impl::Request_free(MPI_Request* request) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  r->stands_for->refuse(*r, "freed");
  *request = MPI_REQUEST_NULL;
  r->stands_for->drop(*r);
  return MPI_SUCCESS;
}

int impl::Cancel(MPI_Request* request) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  r->stands_for->refuse(*r, "cancelled");
  r->stands_for->cancel(*r);
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
  *request = handle_of<MPI_Request>(
      &new_request(nullptr, std::make_unique<generalized>(generalized::functions{
                                query_fn, free_fn, cancel_fn, extra_state})));
  return MPI_SUCCESS;
}

int impl::Grequest_complete(MPI_Request request) {
  request_object* r = request_of(request);
  auto* const own = r == nullptr ? nullptr : operation_as<generalized>(*r);
  if (own == nullptr || own->is_over()) {
    fail(MPI_ERR_REQUEST, "not a generalized request under way");
  }
  own->complete();
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
