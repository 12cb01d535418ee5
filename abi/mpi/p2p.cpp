// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 3: sends, receives, probes; blocking and not.
#include <cstddef>
#include <memory>
#include <utility>

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

// What the program passes goes on to p2p as it is.
static_assert(MPI_ANY_SOURCE == p2p::any_source.value() && MPI_ANY_TAG == p2p::any_tag.value());
static_assert(MPI_PROC_NULL == p2p::no_rank.value());

/// Whether what p2p returns is a message that was asked for. For assertions.
[[maybe_unused]] bool answers(const p2p::result& r, int source, int tag) noexcept {
  if (r.error != p2p::fault::none && r.error != p2p::fault::truncated) {
    return r.bytes == 0;  // no message came
  }
  if (source == MPI_PROC_NULL) {
    return r.source == p2p::no_rank && r.bytes == 0;
  }
  return (source == MPI_ANY_SOURCE ? r.source >= 0 : r.source == comm_rank{source}) &&
         (tag == MPI_ANY_TAG ? r.tag >= 0 : r.tag == message_tag{tag});
}

/// The arguments of a message, checked.
struct checked_message {
  comm_object& comm;
  p2p::buffer data;
};

[[gnu::always_inline]] inline checked_message outgoing(const void* buf, MPI_Count count,
                                                       MPI_Datatype type, int dest, int tag,
                                                       MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  check_dest(c, dest);
  check_tag(tag);
  return {c, data_of(buf, count, type)};
}

[[gnu::always_inline]] inline checked_message incoming(void* buf, MPI_Count count,
                                                       MPI_Datatype type, int source, int tag,
                                                       MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  check_source(c, source);
  check_tag_or_any(c, tag);
  return {c, data_of(buf, count, type)};
}

[[gnu::always_inline]] inline int send(const void* buf, MPI_Count count, MPI_Datatype type,
                                       int dest, int tag, MPI_Comm comm, p2p::mode how) {
  const checked_message m = outgoing(buf, count, type, dest, tag, comm);
  SINEW_ASSERT(m.data.type != nullptr);
  const p2p::result r = process.engine->send(*m.comm.comm, p2p::messages_of(*m.comm.comm), m.data,
                                             comm_rank{dest}, message_tag{tag}, how);
  check_result(m.comm, r);
  return MPI_SUCCESS;
}

/// Of a send or of a receive; a send that is complete has none, unless somebody listens.
[[gnu::always_inline]] inline MPI_Request handle_for(comm_object& c, p2p::request* inner,
                                                     bool receives) {
  SINEW_EXPECT(inner != nullptr || !receives);
  if (inner == nullptr && is_open()) {
    return done_request();
  }
  request_object& r = new_request(&c, message_operation);
  r.inner = inner;
  r.receives = receives;
  return handle_of<MPI_Request>(&r);
}

[[gnu::always_inline]] inline int isend(const void* buf, MPI_Count count, MPI_Datatype type,
                                        int dest, int tag, MPI_Comm comm, p2p::mode how,
                                        MPI_Request* request) {
  const checked_message m = outgoing(buf, count, type, dest, tag, comm);
  check_out(request, "request");
  *request = handle_for(m.comm,
                        process.engine->isend(*m.comm.comm, p2p::messages_of(*m.comm.comm), m.data,
                                              comm_rank{dest}, message_tag{tag}, how),
                        false);
  return MPI_SUCCESS;
}

/// What a *_replace call sends: the data, packed, since the buffer will be overwritten.
std::unique_ptr<std::byte[]> packed(const p2p::buffer& data) {
  std::unique_ptr<std::byte[]> copy(new std::byte[data.bytes()]);
  [[maybe_unused]] const std::size_t n =
      layout::pack(*data.type, data.count, data.base, 0, {copy.get(), data.bytes()});
  SINEW_ENSURE(n == data.bytes());
  return copy;
}

/// A send and a receive at once. What is sent may be a copy.
class send_and_receive final : public operation {
 public:
  explicit send_and_receive(std::unique_ptr<std::byte[]> copy) noexcept : copy_(std::move(copy)) {}

  /// Once its request exists: nothing fails any more that would have to undo it.
  void begin(const core::communicator& c, const p2p::buffer& from, comm_rank dest,
             message_tag send_tag, const p2p::buffer& into, comm_rank source,
             message_tag receive_tag) {
    receive_ = process.engine->irecv(c, p2p::messages_of(c), into, source, receive_tag);
    send_ = process.engine->isend(c, p2p::messages_of(c), from, dest, send_tag);
  }

  bool ended(const request_object&) const noexcept override {
    return receive_->done() && (send_ == nullptr || send_->done());
  }
  void wait(request_object& r) override {
    if (process.engine->outlives_ranks()) {
      let_messages_in();
      operation::wait(r);
      return;
    }
    process.engine->wait(*receive_);
    if (send_ != nullptr) {
      process.engine->wait(*send_);
    }
  }
  int finish(request_object&, MPI_Status* status, std::string* sentence) override {
    const p2p::result received = collect(receive_);
    (void)collect(send_);
    set_status(status, received);
    return code_of(received, sentence);
  }
  void peek(const request_object&, MPI_Status* status) override {
    set_status(status, receive_->outcome);
  }
  bool is_interrupted(const request_object&) const noexcept override {
    return process.engine->is_interrupted(*receive_);
  }
  bool has_met_failure(const request_object&) const noexcept override {
    return is_of_failure(receive_->outcome.error) ||
           (send_ != nullptr && is_of_failure(send_->outcome.error));
  }
  void drop(request_object& r) override {
    if (copy_) {
      await(r);  // what is being sent belongs to the request
    }
    (void)collect(receive_);
    (void)collect(send_);
    free_request(r);
  }

 private:
  std::unique_ptr<std::byte[]> copy_;
  p2p::request* receive_ = nullptr;
  p2p::request* send_ = nullptr;  ///< null: complete
};

}  // namespace

int impl::Send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  return send(buf, count, datatype, dest, tag, comm, p2p::mode::standard);
}

int impl::Ssend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm) {
  return send(buf, count, datatype, dest, tag, comm, p2p::mode::synchronous);
}

int impl::Rsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm) {
  return send(buf, count, datatype, dest, tag, comm, p2p::mode::ready);
}

int impl::Bsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm) {
  const checked_message m = outgoing(buf, count, datatype, dest, tag, comm);
  send_buffered(m.comm, m.data, dest, tag);
  return MPI_SUCCESS;
}

int impl::Isend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm, MPI_Request* request) {
  return isend(buf, count, datatype, dest, tag, comm, p2p::mode::standard, request);
}

int impl::Issend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  return isend(buf, count, datatype, dest, tag, comm, p2p::mode::synchronous, request);
}

int impl::Irsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  return isend(buf, count, datatype, dest, tag, comm, p2p::mode::ready, request);
}

int impl::Ibsend(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  const checked_message m = outgoing(buf, count, datatype, dest, tag, comm);
  check_out(request, "request");
  send_buffered(m.comm, m.data, dest, tag);
  *request = handle_for(m.comm, nullptr, false);
  return MPI_SUCCESS;
}

int impl::Recv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm comm, MPI_Status* status) {
  const checked_message m = incoming(buf, count, datatype, source, tag, comm);
  const p2p::result r = process.engine->recv(*m.comm.comm, p2p::messages_of(*m.comm.comm), m.data,
                                             comm_rank{source}, message_tag{tag});
  SINEW_ASSERT(answers(r, source, tag));
  SINEW_ASSERT(r.bytes <= m.data.bytes());
  set_status(status, r);
  check_result(m.comm, r);
  return MPI_SUCCESS;
}

int impl::Irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Request* request) {
  const checked_message m = incoming(buf, count, datatype, source, tag, comm);
  check_out(request, "request");
  *request = handle_for(m.comm,
                        process.engine->irecv(*m.comm.comm, p2p::messages_of(*m.comm.comm), m.data,
                                              comm_rank{source}, message_tag{tag}),
                        true);
  return MPI_SUCCESS;
}

int impl::Sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                   int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const checked_message out = outgoing(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const checked_message in = incoming(recvbuf, recvcount, recvtype, source, recvtag, comm);
  core::communicator& c = *in.comm.comm;
  const p2p::result r = process.engine->exchange(c, p2p::messages_of(c), out.data, comm_rank{dest},
                                                 message_tag{sendtag}, in.data, comm_rank{source},
                                                 message_tag{recvtag});
  SINEW_ASSERT(answers(r, source, recvtag));
  SINEW_ASSERT(r.bytes <= in.data.bytes());
  set_status(status, r);
  check_result(in.comm, r);
  return MPI_SUCCESS;
}

int impl::Sendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const checked_message out = outgoing(buf, count, datatype, dest, sendtag, comm);
  const checked_message in = incoming(buf, count, datatype, source, recvtag, comm);
  core::communicator& c = *in.comm.comm;
  const auto copy = packed(out.data);
  const p2p::result r = process.engine->exchange(
      c, p2p::messages_of(c), p2p::buffer::of_bytes(copy.get(), out.data.bytes()), comm_rank{dest},
      message_tag{sendtag}, in.data, comm_rank{source}, message_tag{recvtag});
  SINEW_ASSERT(answers(r, source, recvtag));
  SINEW_ASSERT(r.bytes <= in.data.bytes());
  set_status(status, r);
  check_result(in.comm, r);
  return MPI_SUCCESS;
}

int impl::Isendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  const checked_message out = outgoing(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const checked_message in = incoming(recvbuf, recvcount, recvtype, source, recvtag, comm);
  check_out(request, "request");
  auto made = std::make_unique<send_and_receive>(nullptr);
  send_and_receive& both = *made;
  request_object& r = new_request(&in.comm, std::move(made));
  both.begin(*in.comm.comm, out.data, comm_rank{dest}, message_tag{sendtag}, in.data,
             comm_rank{source}, message_tag{recvtag});
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int impl::Isendrecv_replace(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Request* request) {
  const checked_message out = outgoing(buf, count, datatype, dest, sendtag, comm);
  const checked_message in = incoming(buf, count, datatype, source, recvtag, comm);
  check_out(request, "request");
  auto copy = packed(out.data);
  const p2p::buffer from = p2p::buffer::of_bytes(copy.get(), out.data.bytes());
  auto made = std::make_unique<send_and_receive>(std::move(copy));
  send_and_receive& both = *made;
  request_object& r = new_request(&in.comm, std::move(made));
  both.begin(*in.comm.comm, from, comm_rank{dest}, message_tag{sendtag}, in.data, comm_rank{source},
             message_tag{recvtag});
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

// --- probes ---

namespace {

comm_object& probed(int source, int tag, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  check_source(c, source);
  check_tag_or_any(c, tag);
  return c;
}

MPI_Message message_handle(comm_object& c, p2p::matched* inner) {
  SINEW_EXPECT(inner != nullptr);
  MPI_Message handle = handle_of<MPI_Message>(arena<message_object>::make(c, inner));
  c.probed.fetch_add(1, std::memory_order_relaxed);  // the caller holds the communicator
  return handle;
}

}  // namespace

p2p::matched* take_out(MPI_Message* message, comm_object*& c) {
  check_out(message, "message");
  auto* m = resolve<message_object>(*message);
  if (m == nullptr) {
    fail(MPI_ERR_REQUEST, "the message has been received or never was one");
  }
  p2p::matched* inner = m->inner;
  c = m->comm;
  SINEW_ASSERT(inner != nullptr && c != nullptr);
  *message = MPI_MESSAGE_NULL;
  drop(m);
  return inner;
}

void received(comm_object& c) {
  const bool freed = c.freed;
  const int before = c.probed.fetch_sub(1, std::memory_order_release);
  SINEW_ASSERT(before > 0);
  if (before == 1 && freed) {
    release_comm(nullptr);
  }
}

int impl::Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  comm_object& c = probed(source, tag, comm);
  const p2p::result found = process.engine->probe(*c.comm, p2p::messages_of(*c.comm),
                                                  comm_rank{source}, message_tag{tag});
  check_result(c, found);
  SINEW_ASSERT(answers(found, source, tag));
  set_status(status, found);
  return MPI_SUCCESS;
}

int impl::Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  comm_object& c = probed(source, tag, comm);
  check_out(flag, "flag");
  const auto found = process.engine->iprobe(*c.comm, p2p::messages_of(*c.comm), comm_rank{source},
                                            message_tag{tag});
  *flag = found.has_value() ? 1 : 0;
  if (found) {
    check_result(c, *found);
    SINEW_ASSERT(answers(*found, source, tag));
    set_status(status, *found);
  }
  return MPI_SUCCESS;
}

int impl::Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  comm_object& c = probed(source, tag, comm);
  check_out(message, "message");
  p2p::result found;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
  } else {
    p2p::matched* const m = process.engine->mprobe(*c.comm, p2p::messages_of(*c.comm),
                                                   comm_rank{source}, message_tag{tag}, found);
    check_result(c, found);
    *message = message_handle(c, m);
    SINEW_ASSERT(answers(found, source, tag));
  }
  set_status(status, found);
  return MPI_SUCCESS;
}

int impl::Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                  MPI_Status* status) {
  comm_object& c = probed(source, tag, comm);
  check_out(flag, "flag");
  check_out(message, "message");
  *flag = 1;
  p2p::result found;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    set_status(status, found);
    return MPI_SUCCESS;
  }
  p2p::matched* m = process.engine->improbe(*c.comm, p2p::messages_of(*c.comm), comm_rank{source},
                                            message_tag{tag}, found);
  if (m == nullptr) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  SINEW_ASSERT(answers(found, source, tag));
  *message = message_handle(c, m);
  set_status(status, found);
  return MPI_SUCCESS;
}

int impl::Mrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Status* status) {
  check_out(message, "message");
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    set_status(status, p2p::result{});
    return MPI_SUCCESS;
  }
  const p2p::buffer into = data_of(buf, count, datatype);
  comm_object* c = nullptr;
  const p2p::result r = process.engine->mrecv(take_out(message, c), into);
  SINEW_ASSERT(r.bytes <= into.bytes());
  set_status(status, r);
  check_result(*c, r);
  received(*c);
  return MPI_SUCCESS;
}

int impl::Imrecv(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                 MPI_Request* request) {
  check_out(message, "message");
  check_out(request, "request");
  const p2p::buffer into = data_of(buf, count, datatype);
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    comm_object& self = *process.comms[2];
    *request = handle_for(self,
                          process.engine->irecv(*self.comm, p2p::messages_of(*self.comm), into,
                                                p2p::no_rank, p2p::any_tag),
                          true);
    return MPI_SUCCESS;
  }
  comm_object* c = nullptr;
  p2p::matched* m = take_out(message, c);
  *request = handle_for(*c, process.engine->imrecv(m, into), true);
  received(*c);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
