// MPI-5.0 section 3.9: persistent requests. The arguments are kept and used by each start.
#include "abi/mpi/message.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

using sort = request_object::sort;

void start_send(request_object& r) {
  SINEW_EXPECT(r.inner == nullptr && r.comm != nullptr);
  SINEW_EXPECT(r.again.type != nullptr);
  core::communicator& c = *r.comm->comm;
  r.inner =
      process.engine->isend(c, p2p::messages_of(c), {r.again.base, r.again.count, r.again.type},
                            comm_rank{r.again.peer}, message_tag{r.again.message_tag}, r.again.how);
}

void start_receive(request_object& r) {
  SINEW_EXPECT(r.inner == nullptr && r.comm != nullptr);
  SINEW_EXPECT(r.again.type != nullptr);
  core::communicator& c = *r.comm->comm;
  r.inner =
      process.engine->irecv(c, p2p::messages_of(c), {r.again.base, r.again.count, r.again.type},
                            comm_rank{r.again.peer}, message_tag{r.again.message_tag});
  SINEW_ENSURE(r.inner != nullptr);  // only sends may be complete at once
}

void start_buffered(request_object& r) {
  SINEW_EXPECT(r.comm != nullptr && r.again.type != nullptr);
  send_buffered(*r.comm, {r.again.base, r.again.count, r.again.type}, r.again.peer,
                r.again.message_tag);
}

MPI_Request prepare(comm_object& c, const p2p::buffer& data, int peer, int tag, starter start,
                    sort what, p2p::mode how = p2p::mode::standard) {
  SINEW_EXPECT(start != nullptr && data.type != nullptr);
  SINEW_EXPECT(what == sort::send || what == sort::receive);
  request_object& r = new_request(&c, what);
  r.persistent = true;
  r.active = false;
  r.again = {start, data.base, data.count, data.type, peer, tag, how};
  r.keeps = layout::share(*data.type);
  r.owns = true;
  return handle_of<MPI_Request>(&r);
}

int prepare_send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request, starter start,
                 p2p::mode how = p2p::mode::standard) {
  comm_object& c = comm_of(comm);
  check_dest(c, dest);
  check_tag(tag);
  check_out(request, "request");
  *request = prepare(c, data_of(buf, count, datatype), dest, tag, start, sort::send, how);
  return MPI_SUCCESS;
}

}  // namespace

int impl::Send_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  return prepare_send(buf, count, datatype, dest, tag, comm, request, start_send);
}

int impl::Ssend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send(buf, count, datatype, dest, tag, comm, request, start_send,
                      p2p::mode::synchronous);
}

int impl::Rsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send(buf, count, datatype, dest, tag, comm, request, start_send, p2p::mode::ready);
}

int impl::Bsend_init(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return prepare_send(buf, count, datatype, dest, tag, comm, request, start_buffered);
}

int impl::Recv_init(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  comm_object& c = comm_of(comm);
  check_source(c, source);
  check_tag_or_any(c, tag);
  check_out(request, "request");
  *request = prepare(c, data_of(buf, count, datatype), source, tag, start_receive, sort::receive);
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
  SINEW_ASSERT(r->again.start != nullptr);
  r->again.start(*r);
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
