// Requests behind their handles: what MPI_Wait and its kin wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/status.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/nonblocking.hpp"
#include "sinew/core/pool.hpp"
#include "sinew/partitioned/operation.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::mpi {

struct request_object;

/// A nonblocking or persistent collective.
struct collective_operation {
  coll::plan_ref what;
  message_tag tag = 0;
  core::collective_call name;             ///< for reports
  std::shared_ptr<coll::ongoing> runs{};  ///< null: not started yet
};

/// How a nonblocking access to a file has ended: when its call returned (file_access.cpp).
struct file_outcome {
  std::int64_t bytes = 0;
  int code = MPI_SUCCESS;
  std::string sentence{};
};

/// Starts a persistent request once more. Throws failure.
using starter = void (*)(request_object& r);

/// One operation, or the arguments of a persistent one. Pooled: the caller of new_request() sets
/// the fields that its kind of operation reads.
struct alignas(64) request_object : object {
  static constexpr kind tag = kind::request;
  enum class sort : std::uint8_t {
    finished,
    send,
    receive,
    exchange,
    flush,
    fetch,
    generalized,
    duplicate,
    collective,
    file,
    partitioned
  };

  request_object() noexcept : object(kind::dead) {}

  request_object* pool_link = nullptr;
  comm_object* comm = nullptr;     ///< whose error handler decides; may be null
  p2p::request* inner = nullptr;   ///< null: complete
  p2p::request* second = nullptr;  ///< exchange: its send; `inner` is its receive
  sort what_for = sort::finished;
  bool persistent = false;
  bool active = true;         ///< false between uses of a persistent request
  bool owns = false;          ///< one of the pointers below is set
  core::completion finished;  ///< generalized

  // What follows lies in other cache lines than the fields above, which every request uses.
  struct recipe {
    starter start = nullptr;
    void* base = nullptr;
    std::size_t count = 0;
    const layout::datatype* type = nullptr;
    int peer = 0;
    int message_tag = 0;
    p2p::mode how = p2p::mode::standard;
  } again;                                  ///< persistent
  layout::datatype_ref keeps;               ///< persistent: the type, which the user may free
  std::unique_ptr<std::byte[]> copy;        ///< what MPI_Isendrecv_replace sends
  std::shared_ptr<duplication> duplicates;  ///< duplicate
  std::unique_ptr<collective_operation> collective;
  std::unique_ptr<file_outcome> file;
  std::shared_ptr<partitioned::operation> parts;

  buffered_sends* flushing = nullptr;     ///< flush: where,
  const rma::engine* fetching = nullptr;  ///< or fetch: by whom (`again.peer`: from whom),
  std::uint64_t up_to = 0;  ///< and how many messages are to have left, or gets to have ended

  /// MPI_Request_free has come before MPI_Grequest_complete.
  struct freed_early : core::waiter {
    request_object* of = nullptr;
  };
  struct users_own {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* state = nullptr;
    freed_early freed;
  } own;  ///< generalized
};

// A handle is the address of one: resolve() refuses what is not aligned.
static_assert(alignof(request_object) == 64 && sizeof(request_object) % 64 == 0);

struct request_pool : core::pool<request_object> {
  using core::pool<request_object>::pool;
};

/// Whether an operation under way belongs to `c`. Cold.
[[nodiscard]] bool uses(request_pool& pool, const comm_object& c);

/// Stands for every operation that was complete when its call returned; never freed.
extern request_object& finished_request;
[[nodiscard]] inline MPI_Request done_request() noexcept {
  return handle_of<MPI_Request>(&finished_request);
}

[[noreturn, gnu::cold]] void no_memory_for_request(comm_object* c);
/// From the pool, alive, with nothing under way. Throws MPI_ERR_NO_MEM. Hot.
[[nodiscard]] inline request_object& new_request(comm_object* c, request_object::sort what) {
  request_object* r = process.requests->get();
  if (r == nullptr) [[unlikely]] {
    no_memory_for_request(c);
  }
  SINEW_ASSERT(r->inner == nullptr && r->second == nullptr && !r->owns);
  SINEW_ASSERT(r != &finished_request);
  r->comm = c;
  r->what_for = what;
  r->persistent = false;
  r->active = true;
  r->what.store(kind::request, std::memory_order_relaxed);
  return *r;
}
/// Drops what a request owns beside its operations. Cold.
[[gnu::cold]] void drop_owned(request_object& r) noexcept;
/// Not for finished_request. Hot.
inline void free_request(request_object& r) noexcept {
  SINEW_EXPECT(&r != &finished_request);
  SINEW_EXPECT(r.what.load(std::memory_order_relaxed) == kind::request);
  SINEW_EXPECT(r.inner == nullptr && r.second == nullptr);
  r.what.store(kind::dead, std::memory_order_relaxed);
  if (r.owns) [[unlikely]] {
    drop_owned(r);
  }
  const comm_object* c = r.comm;
  r.comm = nullptr;
  process.requests->put(&r);
  if (c != nullptr && c->freed) [[unlikely]] {
    release_comm(nullptr);
  }
}

/// Throws MPI_ERR_REQUEST. MPI_REQUEST_NULL gives null. Hot.
[[nodiscard]] inline request_object* request_of(MPI_Request handle);
[[noreturn, gnu::cold]] void bad_request(MPI_Request handle);

inline request_object* request_of(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) {
    return nullptr;
  }
  auto* found = resolve<request_object>(handle);
  if (found == nullptr) [[unlikely]] {
    bad_request(handle);
  }
  return found;
}

/// Whether its operation is complete (or none is under way). No progress. Hot.
[[nodiscard]] bool is_complete(const request_object& r) noexcept;
/// The same, or a receive from any source is interrupted by the death of one: then it stays as it
/// is, and conclude() says MPIX_ERR_PROC_FAILED_PENDING. Hot.
[[nodiscard]] bool ended(const request_object& r) noexcept;
/// It is interrupted, or has ended because a rank has died or its communicator is revoked. Cold.
[[nodiscard]] bool has_met_failure(const request_object& r) noexcept;
/// Before a wait for what may be interrupted, which then does not suspend: a message that is here
/// already comes first. Hot.
inline void let_messages_in() {
  if (process.engine->outlives_ranks()) [[unlikely]] {
    process.runtime->poll_before_wait();
  }
}
/// Suspends until it has. Hot.
void await(request_object& r);

/// await() and conclude() in one for the usual request: a send or a receive, started once, that
/// ended well. False if it is another one; then nothing has been concluded. Suspends. Hot.
[[gnu::always_inline]] inline bool end_usual(request_object* r, MPI_Request* handle,
                                             MPI_Status* status) {
  if (r == &finished_request) {
    *handle = MPI_REQUEST_NULL;
    set_empty(status);
    return true;
  }
  if (r == nullptr || r->inner == nullptr || r->persistent ||
      (r->what_for != request_object::sort::send && r->what_for != request_object::sort::receive))
      [[unlikely]] {
    return false;
  }
  if (r->what_for == request_object::sort::receive && process.engine->may_be_interrupted(*r->inner))
      [[unlikely]] {
    return false;
  }
  process.engine->wait(*r->inner);

  SINEW_ASSERT(r->inner->done() && r->second == nullptr);
  SINEW_ASSERT(r->active);
  const p2p::result& outcome = r->inner->outcome;
  if (outcome.error != p2p::fault::none) [[unlikely]] {
    return false;
  }
  if (status != MPI_STATUS_IGNORE) {
    r->what_for == request_object::sort::receive ? set_status(status, outcome) : set_empty(status);
  }
  process.engine->release(r->inner);
  r->inner = nullptr;
  *handle = MPI_REQUEST_NULL;
  free_request(*r);
  return true;
}

/// Takes note of an operation that has ended: fills the status, frees the request or makes it
/// inactive, and returns the error class; with one, `sentence` (if not null) says what happened.
/// `r` is what the handle stands for, null for MPI_REQUEST_NULL. Hot.
int conclude(request_object* r, MPI_Request* handle, MPI_Status* status, std::string* sentence);

/// The status of a partitioned operation that is over.
void set_status(MPI_Status* status, const partitioned::operation& parts) noexcept;

/// What a truncated or failed message is to be called. Cold.
[[nodiscard]] std::string sentence_about(const p2p::result& r);
[[nodiscard]] int code_of(p2p::fault f) noexcept;
[[noreturn, gnu::cold, gnu::noinline]] void bad_result(comm_object& c, const p2p::result& r);
/// Throws if the message did not arrive whole. Hot.
inline void check_result(comm_object& c, const p2p::result& r) {
  if (r.error != p2p::fault::none && r.error != p2p::fault::cancelled) [[unlikely]] {
    bad_result(c, r);
  }
}

// --- buffered sends (buffered.cpp) ---

/// Waits until the buffered messages of this communicator (or of all) have left. Suspends. Cold.
void flush_buffer(comm_object& c);
void flush_all_buffers();
/// Whether the first `up_to` of the messages that were ever buffered there have left. Hot enough to
/// be polled.
[[nodiscard]] bool is_flushed(buffered_sends& at, std::uint64_t up_to);
/// Copies the message and sends the copy. Throws MPI_ERR_BUFFER if the buffer has no room.
void send_buffered(comm_object& c, const p2p::buffer& from, int dest, int tag);

}  // namespace sinew::mpi
