// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/messages.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/message.hpp"

namespace sinew::mpi::check {
namespace {

/// One receive, or one again and again of a persistent request.
class checked_receive final : public operation {
 public:
  struct arguments {
    p2p::buffer into;
    layout::datatype_ref keeps;  ///< the type, which the user may free
    comm_rank source = p2p::any_source;
    message_tag tag = p2p::any_tag;
    p2p::matched* message = nullptr;  ///< that a probe has taken; else the receive takes the next
  };
  checked_receive(const watch::call& call, arguments of)
      : call_(call.name), site_(call.site), of_(std::move(of)) {
    if (wanted(what::buffers)) {
      apart_.reset(new std::byte[of_.into.bytes()]);
      before_.reset(new std::byte[of_.into.bytes()]);
    }
  }

  void start(request_object& r) override {
    const core::communicator& c = *r.comm->comm;
    const std::size_t room = of_.into.bytes();
    if (apart_ != nullptr) {
      (void)pack(before_.get());
    }
    const p2p::buffer to = apart_ != nullptr ? p2p::buffer::of_bytes(apart_.get(), room) : of_.into;
    receive_ = of_.message != nullptr
                   ? process.engine->imrecv(of_.message, to)
                   : process.engine->irecv(c, p2p::messages_of(c), to, of_.source, of_.tag);
  }
  bool ended(const request_object&) const noexcept override { return receive_->done(); }
  void wait(request_object& r) override {
    let_messages_in();
    operation::wait(r);
  }
  int finish(request_object&, MPI_Status* status, std::string* sentence) override {
    const p2p::result received = collect(receive_);
    set_status(status, received);
    int code = code_of(received, sentence);
    if (code != MPI_SUCCESS) {
      deliver(received);
      return code;
    }
    const std::string wrong = take(received, code);
    if (sentence != nullptr && !wrong.empty()) {
      *sentence = wrong;
    }
    return code;
  }
  void peek(const request_object&, MPI_Status* status) override {
    set_status(status, receive_->outcome);
  }
  bool is_interrupted(const request_object&) const noexcept override {
    return process.engine->is_interrupted(*receive_);
  }
  bool has_met_failure(const request_object&) const noexcept override {
    return is_of_failure(receive_->outcome.error);
  }
  void cancel(request_object&) override { (void)process.engine->cancel(*receive_); }
  /// Its data come still, now or when the message does.
  void drop(request_object& r) override {
    dropped_.of = &r;
    dropped_.fire = [](core::waiter& w) noexcept {
      request_object& of = *static_cast<waits_for_message&>(w).of;
      auto& self = *static_cast<checked_receive*>(of.stands_for);
      self.deliver(collect(self.receive_));
      free_request(of);
    };
    if (receive_ == nullptr || !receive_->attach(dropped_)) {
      dropped_.fire(dropped_);
    }
  }

 private:
  std::size_t pack(std::byte* to) const {
    return layout::pack(*of_.into.type, of_.into.count, of_.into.base, 0, {to, of_.into.bytes()});
  }
  void deliver(const p2p::result& received) const noexcept {
    if (apart_ != nullptr && received.error != p2p::fault::cancelled) {
      layout::unpack(*of_.into.type, of_.into.count, of_.into.base, 0,
                     {apart_.get(), received.bytes});
    }
  }
  /// Looks at what has come and puts it where it belongs. What is wrong, or "".
  std::string take(const p2p::result& received, int& code) {
    std::string wrong;
    if (apart_ != nullptr && received.error != p2p::fault::cancelled) {
      const std::unique_ptr<std::byte[]> now(new std::byte[of_.into.bytes()]);
      if (std::memcmp(now.get(), before_.get(), pack(now.get())) != 0) {
        code = MPI_ERR_BUFFER;
        wrong = "the program has changed the buffer of " + text_of(call_, site_) +
                ", before that had been completed";
      }
    }
    deliver(received);
    const std::uint32_t kinds = layout::kinds_in(*of_.into.type, of_.into.count, received.bytes);
    if (wanted(what::kinds) && kinds != 0 && received.kinds != 0 && kinds != received.kinds) {
      code = MPI_ERR_TYPE;
      wrong = "the message from rank " + to_string(received.source) + ", tag " +
              to_string(received.tag) + ", has " + layout::text_of_kinds(received.kinds) +
              ", its receive, " + text_of(call_, site_) + ", expects " +
              layout::text_of_kinds(kinds);
    }
    if (!wrong.empty()) {
      report(std::to_string(process.runtime->rank().value()), code, wrong);
    }
    return wrong;
  }

  /// MPI_Request_free has come before the message.
  struct waits_for_message : core::waiter {
    request_object* of = nullptr;
  };

  const char* const call_;
  const void* const site_;
  const arguments of_;
  std::unique_ptr<std::byte[]> apart_;   ///< the message's data, packed; null: into the buffer
  std::unique_ptr<std::byte[]> before_;  ///< what the buffer held, packed
  p2p::request* receive_ = nullptr;
  waits_for_message dropped_;
};

bool looks_at_data() { return wanted(what::buffers) || wanted(what::kinds); }

/// A blocking receive may be made of a request: not where its source may die, of which the one
/// hears otherwise than the other.
bool receives_by_request() { return looks_at_data() && !process.engine->outlives_ranks(); }

/// A request that is not started. The arguments are checked as those of any receive.
request_object& prepare(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
                        int source, int tag, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  check_source(c, source);
  check_tag_or_any(c, tag);
  const p2p::buffer into = data_of(buf, count, type);
  return new_request(
      &c, std::make_unique<checked_receive>(
              call, checked_receive::arguments{into, layout::share(*into.type), comm_rank{source},
                                               message_tag{tag}}));
}

request_object& prepare(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
                        MPI_Message* message) {
  const p2p::buffer into = data_of(buf, count, type);
  comm_object* c = nullptr;
  checked_receive::arguments of{into, layout::share(*into.type)};
  of.message = take_out(message, c);
  request_object& made = new_request(c, std::make_unique<checked_receive>(call, std::move(of)));
  received(*c);
  return made;
}

bool is_a_message(const MPI_Message* message) {
  return message != nullptr && *message != MPI_MESSAGE_NO_PROC;
}

request_object& begin(request_object& r) {
  try {
    r.stands_for->start(r);
  } catch (...) {
    free_request(r);
    throw;
  }
  return r;
}

/// Ends a request of which the program knows nothing.
int complete(request_object& r, MPI_Status* status) {
  MPI_Request handle = handle_of<MPI_Request>(&r);
  return impl::Wait(&handle, status);
}

}  // namespace

int Irecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
          int tag, MPI_Comm comm, MPI_Request* request) {
  if (!looks_at_data()) {
    return impl::Irecv(buf, count, type, source, tag, comm, request);
  }
  check_out(request, "request");
  *request = handle_of<MPI_Request>(&begin(prepare(call, buf, count, type, source, tag, comm)));
  return MPI_SUCCESS;
}

int Recv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
         int tag, MPI_Comm comm, MPI_Status* status) {
  return receives_by_request()
             ? complete(begin(prepare(call, buf, count, type, source, tag, comm)), status)
             : impl::Recv(buf, count, type, source, tag, comm, status);
}

int Recv_init(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type, int source,
              int tag, MPI_Comm comm, MPI_Request* request) {
  if (!looks_at_data()) {
    return impl::Recv_init(buf, count, type, source, tag, comm, request);
  }
  check_out(request, "request");
  request_object& r = prepare(call, buf, count, type, source, tag, comm);
  r.receives = true;
  r.persistent = true;
  r.active = false;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int Mrecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
          MPI_Message* message, MPI_Status* status) {
  return receives_by_request() && is_a_message(message)
             ? complete(begin(prepare(call, buf, count, type, message)), status)
             : impl::Mrecv(buf, count, type, message, status);
}

int Imrecv(const watch::call& call, void* buf, MPI_Count count, MPI_Datatype type,
           MPI_Message* message, MPI_Request* request) {
  if (!looks_at_data() || !is_a_message(message)) {
    return impl::Imrecv(buf, count, type, message, request);
  }
  check_out(request, "request");
  *request = handle_of<MPI_Request>(&begin(prepare(call, buf, count, type, message)));
  return MPI_SUCCESS;
}

int Sendrecv(const watch::call& call, const void* send, MPI_Count sends, MPI_Datatype send_type,
             int dest, int send_tag, void* recv, MPI_Count receives, MPI_Datatype receive_type,
             int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  if (!receives_by_request()) {
    return impl::Sendrecv(send, sends, send_type, dest, send_tag, recv, receives, receive_type,
                          source, receive_tag, comm, status);
  }
  request_object& receive = prepare(call, recv, receives, receive_type, source, receive_tag, comm);
  MPI_Request sending = MPI_REQUEST_NULL;
  try {
    (void)impl::Isend(send, sends, send_type, dest, send_tag, comm, &sending);
  } catch (...) {
    free_request(receive);
    throw;
  }
  const int code = complete(begin(receive), status);
  (void)impl::Wait(&sending, MPI_STATUS_IGNORE);
  return code;
}

}  // namespace sinew::mpi::check
