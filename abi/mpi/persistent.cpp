// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 3.9: persistent requests. The arguments are kept and used by each start.
#include <memory>
#include <utility>

#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// What is kept of the arguments.
struct kept_arguments {
  p2p::buffer data;
  layout::datatype_ref keeps;  ///< the type, which the user may free
  comm_rank peer;
  message_tag tag;
};

class persistent_send final : public single_message {
 public:
  persistent_send(kept_arguments again, p2p::mode how) : again_(std::move(again)), how_(how) {}
  void start(request_object& r) override {
    const core::communicator& c = *r.comm->comm;
    r.inner =
        process.engine->isend(c, p2p::messages_of(c), again_.data, again_.peer, again_.tag, how_);
  }

 private:
  const kept_arguments again_;
  const p2p::mode how_;
};

class persistent_receive final : public single_message {
 public:
  explicit persistent_receive(kept_arguments again) : again_(std::move(again)) {}
  void start(request_object& r) override {
    const core::communicator& c = *r.comm->comm;
    r.inner = process.engine->irecv(c, p2p::messages_of(c), again_.data, again_.peer, again_.tag);
    SINEW_ENSURE(r.inner != nullptr);  // only sends may be complete at once
  }

 private:
  const kept_arguments again_;
};

class persistent_buffered_send final : public single_message {
 public:
  explicit persistent_buffered_send(kept_arguments again) : again_(std::move(again)) {}
  void start(request_object& r) override {
    send_buffered(*r.comm, again_.data, again_.peer.value(), again_.tag.value());
  }

 private:
  const kept_arguments again_;
};

/// `Kind` is made of the arguments and `more`.
template <class Kind, class... More>
MPI_Request prepare(comm_object& c, const p2p::buffer& data, int peer, int tag, bool receives,
                    More... more) {
  SINEW_EXPECT(data.type != nullptr);
  kept_arguments again{data, layout::share(*data.type), comm_rank{peer}, message_tag{tag}};
  request_object& r = new_request(&c, std::make_unique<Kind>(std::move(again), more...));
  r.receives = receives;
  r.persistent = true;
  r.active = false;
  return handle_of<MPI_Request>(&r);
}

template <class Kind, class... More>
int prepare_send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request, More... more) {
  comm_object& c = comm_of(comm);
  check_dest(c, dest);
  check_tag(tag);
  check_out(request, "request");
  *request = prepare<Kind>(c, data_of(buf, count, datatype), dest, tag, false, more...);
  return MPI_SUCCESS;
}

}  // namespace

int impl::Send_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  return prepare_send<persistent_send>(buf, count, datatype, dest, tag, comm, request,
                                       p2p::mode::standard);
}

int impl::Ssend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send<persistent_send>(buf, count, datatype, dest, tag, comm, request,
                                       p2p::mode::synchronous);
}

int impl::Rsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send<persistent_send>(buf, count, datatype, dest, tag, comm, request,
                                       p2p::mode::ready);
}

int impl::Bsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send<persistent_buffered_send>(buf, count, datatype, dest, tag, comm, request);
}

int impl::Recv_init(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  comm_object& c = comm_of(comm);
  check_source(c, source);
  check_tag_or_any(c, tag);
  check_out(request, "request");
  *request = prepare<persistent_receive>(c, data_of(buf, count, datatype), source, tag, true);
  return MPI_SUCCESS;
}

int impl::Start(MPI_Request* request) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (r == nullptr || !r->persistent) {
    fail(MPI_ERR_REQUEST, "the request is not persistent");
  }
  if (r->active) {
    fail(MPI_ERR_REQUEST, "the request is active: wait for it before starting again");
  }
  r->stands_for->start(*r);
  r->active = true;
  return MPI_SUCCESS;
}

int impl::Startall(int count, MPI_Request array_of_requests[]) {
  check_count(count);
  if (count > 0) {
    check_out(array_of_requests, "array_of_requests");
  }
  for (int i = 0; i < count; ++i) {
    (void)impl::Start(&array_of_requests[i]);
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
