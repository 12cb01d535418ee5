// SPDX-License-Identifier: BSD-3-Clause
// Requests behind their handles: what MPI_Wait and its kin wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/status.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/pool.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::mpi {

struct request_object;

/// What a request stands for: one operation, or the arguments of a persistent one. A new kind of
/// request derives from it, and nothing that waits, tests or frees changes. What is said of `r`
/// holds for its request.
class operation {
 public:
  operation() = default;
  virtual ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// Whether it is complete. No progress. Of an active request, as the next four.
  [[nodiscard]] virtual bool ended(const request_object& r) const noexcept = 0;
  /// Suspends until it is, or is interrupted.
  virtual void wait(request_object& r);
  /// Takes note of an operation that has ended: fills the status, gives back what it used, and
  /// returns the error class; with one, `sentence` (if not null) says what happened.
  [[nodiscard]] virtual int finish(request_object& r, MPI_Status* status,
                                   std::string* sentence) = 0;
  /// The same status; nothing else changes.
  virtual void peek(const request_object& r, MPI_Status* status) = 0;
  /// Of one that has ended: because a rank has died, or its communicator is revoked.
  [[nodiscard]] virtual bool has_met_failure(const request_object& /*r*/) const noexcept {
    return false;
  }

  /// A receive from any source is interrupted by the death of one that could be it.
  [[nodiscard]] virtual bool is_interrupted(const request_object& /*r*/) const noexcept {
    return false;
  }
  /// Once more. Only of persistent requests. Throws failure.
  virtual void start(request_object& r);
  /// Throws if a request like this cannot be `what`, which is "freed" or "cancelled".
  virtual void refuse(const request_object& /*r*/, const char* /*what*/) const {}
  /// MPI_Request_free: gives back what it uses, and the request, now or at the operation's end.
  virtual void drop(request_object& r);
  virtual void cancel(request_object& /*r*/) {}
};

/// A request is one cache line; what most requests do not need belongs to their operation. Pooled.
struct alignas(64) request_object : object {
  static constexpr kind tag = kind::request;

  request_object() noexcept : object(kind::dead) {}

  request_object* pool_link = nullptr;
  comm_object* comm = nullptr;       ///< whose error handler decides; may be null
  p2p::request* inner = nullptr;     ///< of a message that is one send or receive; null: complete
  operation* stands_for = nullptr;   ///< never null in use
  std::unique_ptr<operation> owned;  ///< the same, if it is this request's alone
  bool receives = false;             ///< of a message: its status tells of it
  bool persistent = false;
  bool active = true;  ///< false between uses of a persistent request
};

// A handle is the address of one: resolve() refuses what is not aligned.
static_assert(alignof(request_object) == 64 && sizeof(request_object) == 64);

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

/// One send or receive of p2p, which is the request's `inner`: stands for any number of requests.
class single_message : public operation {
 public:
  [[nodiscard]] bool ended(const request_object& r) const noexcept override;
  void wait(request_object& r) override;
  [[nodiscard]] int finish(request_object& r, MPI_Status* status, std::string* sentence) override;
  void peek(const request_object& r, MPI_Status* status) override;
  [[nodiscard]] bool is_interrupted(const request_object& r) const noexcept override;
  [[nodiscard]] bool has_met_failure(const request_object& r) const noexcept override;
  void drop(request_object& r) override;
  void cancel(request_object& r) override;
};
extern operation& message_operation;

[[noreturn, gnu::cold]] void no_memory_for_request(comm_object* c);
/// From the pool, alive, with nothing under way. `what` outlives it. Throws MPI_ERR_NO_MEM. Hot.
[[nodiscard]] inline request_object& new_request(comm_object* c, operation& what) {
  request_object* r = process.requests->get();
  if (r == nullptr) [[unlikely]] {
    no_memory_for_request(c);
  }
  SINEW_ASSERT(r->inner == nullptr && r->owned == nullptr);
  SINEW_ASSERT(r != &finished_request);
  r->comm = c;
  r->stands_for = &what;
  r->persistent = false;
  r->active = true;
  r->what.store(kind::request, std::memory_order_relaxed);
  return *r;
}
/// The same with an operation of its own.
[[nodiscard]] request_object& new_request(comm_object* c, std::unique_ptr<operation> what);
/// That, if it is of this kind, which nothing derives from; else null.
template <class Kind>
[[nodiscard]] Kind* operation_as(const request_object& r) noexcept {
  static_assert(std::is_final_v<Kind>);
  return typeid(*r.stands_for) == typeid(Kind) ? static_cast<Kind*>(r.stands_for) : nullptr;
}
/// Not for finished_request. Hot.
inline void free_request(request_object& r) noexcept {
  SINEW_EXPECT(&r != &finished_request);
  SINEW_EXPECT(r.what.load(std::memory_order_relaxed) == kind::request);
  SINEW_EXPECT(r.inner == nullptr);
  r.what.store(kind::dead, std::memory_order_relaxed);
  if (r.owned != nullptr) [[unlikely]] {
    r.owned.reset();
  }
  const comm_object* c = r.comm;
  r.comm = nullptr;
  process.requests->put(&r);
  if (c != nullptr && c->freed) [[unlikely]] {
    release_comm(nullptr);
  }
}

/// All members must see a collective operation end (MPI-5.0 section 6.12).
[[noreturn, gnu::cold]] void refuse_collective(const char* what);

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
[[nodiscard]] inline bool is_complete(const request_object& r) noexcept {
  return !r.active || r.stands_for->ended(r);
}
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
  if (r == nullptr || r->inner == nullptr || r->persistent) [[unlikely]] {
    return false;
  }
  if (r->receives && process.engine->may_be_interrupted(*r->inner)) [[unlikely]] {
    return false;
  }
  process.engine->wait(*r->inner);

  SINEW_ASSERT(r->inner->done());
  SINEW_ASSERT(r->active);
  const p2p::result& outcome = r->inner->outcome;
  if (outcome.error != p2p::fault::none) [[unlikely]] {
    return false;
  }
  if (status != MPI_STATUS_IGNORE) {
    r->receives ? set_status(status, outcome) : set_empty(status);
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

/// What a truncated or failed message is to be called. Cold.
[[nodiscard]] std::string sentence_about(const p2p::result& r);
[[nodiscard]] int code_of(p2p::fault f) noexcept;
[[nodiscard]] bool is_of_failure(p2p::fault f) noexcept;
/// The end of a p2p operation, which it gives back and sets to null, if it is not; none has ended
/// well.
[[nodiscard]] p2p::result collect(p2p::request*& from) noexcept;
/// Its error class, and the sentence.
[[nodiscard]] int code_of(const p2p::result& r, std::string* sentence);
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
/// Copies the message and sends the copy. Throws MPI_ERR_BUFFER if the buffer has no room.
void send_buffered(comm_object& c, const p2p::buffer& from, int dest, int tag);

}  // namespace sinew::mpi
