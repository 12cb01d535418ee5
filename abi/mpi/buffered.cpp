// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 3.6: buffered sends, over p2p's.
#include "sinew/p2p/buffered.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

/// What is attached at one place (the process, a session, a communicator).
struct buffered_sends {
  void* memory = nullptr;
  std::size_t size = 0;
  p2p::buffered_sends sends{*process.engine};
};

namespace {

/// What a message takes beside its data: what programs that were built with Intel MPI add for it,
/// the least of what any header says. Copies lie in memory of our own.
constexpr int charged_overhead = 88;
static_assert(charged_overhead <= MPI_BSEND_OVERHEAD);

buffered_sends& of_process() {
  static auto& it = *new buffered_sends;
  return it;
}

int attach(buffered_sends& at, void* buffer, MPI_Count size) {
  if (size < 0) {
    fail(MPI_ERR_ARG, "the size %lld is negative", static_cast<long long>(size));
  }
  const bool automatic = buffer == MPI_BUFFER_AUTOMATIC;
  const std::size_t bytes = automatic ? 0 : static_cast<std::size_t>(size);
  if (!at.sends.attach(automatic ? std::nullopt : std::optional(bytes))) {
    fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
  }
  at.memory = buffer;
  at.size = bytes;
  return MPI_SUCCESS;
}

int detach(buffered_sends& at, void* buffer_address, MPI_Count* size) {
  check_out(buffer_address, "buffer_addr");
  check_out(size, "size");
  at.sends.detach();
  *static_cast<void**>(buffer_address) = std::exchange(at.memory, nullptr);
  *size = static_cast<MPI_Count>(std::exchange(at.size, 0));
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
  if (c.buffer != nullptr && c.buffer->sends.attached()) {
    return *c.buffer;
  }
  const session_object* s = c.session;
  return s != nullptr && s->buffer != nullptr && s->buffer->sends.attached() ? *s->buffer
                                                                             : of_process();
}

/// Until the messages have left that were ever buffered there before.
class buffer_flush final : public operation {
 public:
  explicit buffer_flush(buffered_sends& at) noexcept : at_(at), up_to_(at.sends.sent()) {}
  bool ended(const request_object&) const noexcept override { return at_.sends.have_left(up_to_); }
  int finish(request_object&, MPI_Status* status, std::string*) override {
    set_empty(status);
    return MPI_SUCCESS;
  }
  void peek(const request_object&, MPI_Status* status) override { set_empty(status); }

 private:
  buffered_sends& at_;
  const std::uint64_t up_to_;
};

MPI_Request flush_request(buffered_sends& at, comm_object* c) {
  return handle_of<MPI_Request>(&new_request(c, std::make_unique<buffer_flush>(at)));
}

}  // namespace

void send_buffered(comm_object& c, const p2p::buffer& from, int dest, int tag) {
  if (dest == MPI_PROC_NULL) {
    return;
  }
  buffered_sends& at = used_by(c);
  switch (at.sends.send(*c.comm, from, comm_rank{dest}, message_tag{tag}, charged_overhead)) {
    case p2p::buffered_sends::outcome::sent:
      return;
    case p2p::buffered_sends::outcome::not_attached:
      fail_on(&c, MPI_ERR_BUFFER, "no buffer is attached for buffered sends");
    case p2p::buffered_sends::outcome::no_room:
      fail_on(&c, MPI_ERR_BUFFER,
              "a message of %zu bytes (and %d of overhead) does not fit: %zu of the %zu bytes "
              "attached are in use",
              from.bytes(), charged_overhead, at.sends.used(), at.size);
  }
}

void flush_buffer(comm_object& c) {
  if (c.buffer != nullptr) {
    c.buffer->sends.flush();
  }
}

void flush_buffer(session_object& s) {
  if (s.buffer != nullptr) {
    s.buffer->sends.flush();
  }
}

void discard_buffer(session_object& s) noexcept { delete std::exchange(s.buffer, nullptr); }

void flush_all_buffers() {
  of_process().sends.flush();
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
  of_process().sends.flush();
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
