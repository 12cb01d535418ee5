// MPI-5.0 section 3.6: buffered sends. The message is copied and the copy sent. What the user
// attached bounds how much may be under way; the copies themselves live on the heap, so the
// attached memory need not be carved up.
#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

/// What is attached at one place (the process, or a communicator), and what it holds.
struct buffered_sends {
  void* memory = nullptr;
  std::size_t size = 0;
  bool attached = false;
  std::size_t used = 0;
  std::uint64_t sent = 0;  ///< how many there have been
  struct parcel {
    std::uint64_t number;
    p2p::request* sending;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t charge;
  };
  std::list<parcel> parcels;
  std::mutex lock;

  /// Releases the sends that are complete, and their copies.
  void sweep() {
    for (auto p = parcels.begin(); p != parcels.end();) {
      if (p->sending->done()) {
        process.engine->release(p->sending);
        SINEW_ASSERT(used >= p->charge);
        used -= p->charge;
        p = parcels.erase(p);
      } else {
        ++p;
      }
    }
    SINEW_ENSURE(!parcels.empty() || used == 0);
  }

  [[nodiscard]] std::uint64_t sent_so_far() {
    const std::lock_guard held(lock);
    return sent;
  }

  /// What was there when it was called, not what other threads add: a receiver may want that first.
  /// The lock is free meanwhile, since a buffered send must not wait for receivers.
  void flush() {
    struct {
      buffered_sends& at;
      std::uint64_t up_to;
    } goal{*this, sent_so_far()};
    process.runtime->wait_until(
        [](void* g) {
          const auto& to = *static_cast<decltype(goal)*>(g);
          return is_flushed(to.at, to.up_to);
        },
        &goal);
  }

  [[nodiscard]] bool room_for(std::size_t charge) const {
    return memory == MPI_BUFFER_AUTOMATIC || used + charge <= size;
  }
};

namespace {

buffered_sends& of_process() {
  static auto& it = *new buffered_sends;
  return it;
}

int attach(buffered_sends& at, void* buffer, MPI_Count size) {
  const std::lock_guard held(at.lock);
  if (at.attached) {
    fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
  }
  if (size < 0) {
    fail(MPI_ERR_ARG, "the size %lld is negative", static_cast<long long>(size));
  }
  at.memory = buffer;
  at.size = buffer == MPI_BUFFER_AUTOMATIC ? 0 : static_cast<std::size_t>(size);
  at.attached = true;
  return MPI_SUCCESS;
}

int detach(buffered_sends& at, void* buffer_address, MPI_Count* size) {
  check_out(buffer_address, "buffer_addr");
  check_out(size, "size");
  at.flush();
  *static_cast<void**>(buffer_address) = at.memory;
  *size = static_cast<MPI_Count>(at.size);
  at.attached = false;
  at.memory = nullptr;
  at.size = 0;
  return MPI_SUCCESS;
}

buffered_sends& of(comm_object& c) {
  if (c.buffer == nullptr) {
    c.buffer = new buffered_sends;
  }
  return *c.buffer;
}

buffered_sends& of(session_object& s) {
  if (s.buffer == nullptr) {
    s.buffer = new buffered_sends;
  }
  return *s.buffer;
}

/// The nearest that is attached: the communicator's, its session's, the process's.
buffered_sends& used_by(comm_object& c) {
  if (c.buffer != nullptr && c.buffer->attached) {
    return *c.buffer;
  }
  const session_object* s = c.session;
  return s != nullptr && s->buffer != nullptr && s->buffer->attached ? *s->buffer : of_process();
}

MPI_Request flush_request(buffered_sends& at, comm_object* c) {
  request_object& r = new_request(c, request_object::sort::flush);
  r.flushing = &at;
  r.up_to = at.sent_so_far();
  SINEW_ENSURE(r.flushing != nullptr);
  return handle_of<MPI_Request>(&r);
}

}  // namespace

bool is_flushed(buffered_sends& at, std::uint64_t up_to) {
  const std::lock_guard held(at.lock);
  at.sweep();
  return at.parcels.empty() || at.parcels.front().number >= up_to;
}

void send_buffered(comm_object& c, const p2p::buffer& from, int dest, int tag) {
  if (dest == MPI_PROC_NULL) {
    return;
  }
  buffered_sends& at = used_by(c);
  std::unique_lock held(at.lock);
  if (!at.attached) {
    fail_on(&c, MPI_ERR_BUFFER, "no buffer is attached for buffered sends");
  }
  const std::size_t charge = from.bytes() + MPI_BSEND_OVERHEAD;
  if (!at.room_for(charge)) {
    held.unlock();  // poll() may call is_flushed(), which takes the lock
    process.runtime->poll();
    held.lock();
    at.sweep();
  }
  if (!at.room_for(charge)) {
    fail_on(&c, MPI_ERR_BUFFER,
            "a message of %zu bytes (and %d of overhead) does not fit: %zu of the %zu bytes "
            "attached are in use",
            from.bytes(), MPI_BSEND_OVERHEAD, at.used, at.size);
  }
  std::unique_ptr<std::byte[]> copy(new std::byte[from.bytes()]);
  [[maybe_unused]] const std::size_t packed =
      layout::pack(*from.type, from.count, from.base, 0, {copy.get(), from.bytes()});
  SINEW_ASSERT(packed == from.bytes());
  p2p::request* sending = process.engine->isend(*c.comm, p2p::messages_of(*c.comm),
                                                p2p::buffer::of_bytes(copy.get(), from.bytes()),
                                                comm_rank{dest}, message_tag{tag});
  if (sending != nullptr) {
    SINEW_ASSERT(at.parcels.empty() || at.parcels.back().number < at.sent);
    at.parcels.push_back({at.sent++, sending, std::move(copy), charge});
    at.used += charge;
    SINEW_ENSURE(at.memory == MPI_BUFFER_AUTOMATIC || at.used <= at.size);
  }
}

void flush_buffer(comm_object& c) {
  if (c.buffer != nullptr) {
    c.buffer->flush();
  }
}

void flush_buffer(session_object& s) {
  if (s.buffer != nullptr) {
    s.buffer->flush();
  }
}

void discard_buffer(session_object& s) noexcept {
  SINEW_EXPECT(s.buffer == nullptr || s.buffer->parcels.empty());
  delete std::exchange(s.buffer, nullptr);
}

void flush_all_buffers() {
  of_process().flush();
  for (comm_object* c : process.comms) {
    if (c != nullptr) {
      flush_buffer(*c);
    }
  }
}

int impl::Buffer_attach(void* buffer, MPI_Count size) { return attach(of_process(), buffer, size); }

int impl::Buffer_detach(void* buffer_addr, MPI_Count* size) {
  return detach(of_process(), buffer_addr, size);
}

int impl::Buffer_flush() {
  of_process().flush();
  return MPI_SUCCESS;
}

int impl::Buffer_iflush(MPI_Request* request) {
  check_out(request, "request");
  *request = flush_request(of_process(), nullptr);
  return MPI_SUCCESS;
}

int impl::Comm_attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size) {
  return attach(of(comm_of(comm)), buffer, size);
}

int impl::Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  return detach(of(comm_of(comm)), buffer_addr, size);
}

int impl::Comm_flush_buffer(MPI_Comm comm) {
  flush_buffer(comm_of(comm));
  return MPI_SUCCESS;
}

int impl::Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  check_out(request, "request");
  comm_object& c = comm_of(comm);
  *request = flush_request(of(c), &c);
  return MPI_SUCCESS;
}

int impl::Session_attach_buffer(MPI_Session session, void* buffer, MPI_Count size) {
  return on_session(session, [&](session_object& s) { return attach(of(s), buffer, size); });
}

int impl::Session_detach_buffer(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  return on_session(session, [&](session_object& s) { return detach(of(s), buffer_addr, size); });
}

int impl::Session_flush_buffer(MPI_Session session) {
  return on_session(session, [](session_object& s) -> int {
    flush_buffer(s);
    return MPI_SUCCESS;
  });
}

int impl::Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  return on_session(session, [&](session_object& s) -> int {
    check_out(request, "request");
    *request = flush_request(of(s), nullptr);
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
