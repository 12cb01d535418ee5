// MPI-5.0 sections 6.12 and 6.13: nonblocking and persistent collectives. A call checks its
// arguments and makes a plan of them; the plan is started at once, or by MPI_Start.
#include "abi/mpi/nonblocking.hpp"

#include <memory>
#include <span>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/intercollectives.hpp"
#include "abi/mpi/op.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

void start_collective(request_object& r) {
  SINEW_EXPECT(r.collective != nullptr && r.comm != nullptr);
  SINEW_EXPECT(r.collective->runs == nullptr || r.collective->runs->over.done());
  collective_operation& o = *r.collective;
  o.runs = coll::start(*process.engine, r.comm->together(), o.what, o.tag);
  SINEW_ENSURE(o.runs != nullptr);
}

request_object& request_for(prepared&& p, message_tag tag) {
  SINEW_EXPECT(p.comm != nullptr && p.name != nullptr);
  SINEW_EXPECT(p.root >= -1 && p.root < p.comm->comm->size());
  request_object& r = new_request(p.comm, request_object::sort::collective);
  r.inner = nullptr;
  r.second = nullptr;
  r.collective = std::make_unique<collective_operation>(
      collective_operation{std::move(p.what), tag, {p.name, comm_rank{p.root}}});
  r.owns = true;
  return r;
}

MPI_Request request_of(coll::begun&& begun, prepared&& p) {
  SINEW_EXPECT(begun.done);
  if (begun.runs == nullptr) {
    return done_request();
  }
  try {
    request_object& r = request_for(std::move(p), 0);
    r.collective->runs = std::move(begun.runs);
    return handle_of<MPI_Request>(&r);
  } catch (...) {
    process.runtime->wait(begun.runs->over);  // it has begun; nobody else would see it end
    throw;
  }
}

prepared even(comm_object& c, const char* name, coll::even_call&& what) {
  SINEW_EXPECT(c.sides == nullptr);
  const int root = what.root.value();
  return {&c, nullptr, name, root, std::move(what)};
}

p2p::buffer base_only(const void* base) noexcept { return {const_cast<void*>(base), 0, nullptr}; }

coll::position position_in(core::communicator& c) {
  return coll::position_of({*process.engine, c});
}

prepared barrier_of(MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::barrier(c);
  }
  return even(c, "MPI_Barrier", {.what = coll::even_call::kind::barrier});
}

prepared bcast_of(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::bcast(c, buffer, count, datatype, root);
  }
  check_root(c, root);
  return even(c, "MPI_Bcast",
              {.what = coll::even_call::kind::bcast,
               .recv = receive_of(buffer, count, datatype),
               .root = comm_rank{root}});
}

prepared reduce_of(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::reduce(c, sendbuf, recvbuf, count, datatype, op, root);
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  if (in_place(sendbuf) && !at_root) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
  }
  check_count(count);
  const p2p::buffer into =
      at_root ? receive_of(recvbuf, count, datatype)
              : p2p::buffer{nullptr, static_cast<std::size_t>(count), &layout_of(datatype)};
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  return even(c, "MPI_Reduce",
              {.what = coll::even_call::kind::reduce,
               .send = base_only(sendbuf),
               .recv = into,
               .root = comm_rank{root},
               .o = shared_op(op, datatype, *into.type)});
}

using reduction_plan = coll::plan_ref (*)(coll::position, const void*, p2p::buffer, coll::op_ref);

/// A reduction whose every rank needs a receive buffer: for one group (null: allreduce, an even
/// call), and for two (null: there is no such thing).
struct reduction {
  reduction_plan one;
  prepared (*two)(comm_object&, const void*, void*, MPI_Count, MPI_Datatype, MPI_Op);
  const char* name;
};
constexpr reduction allreduce{nullptr, across::allreduce, "MPI_Allreduce"};
constexpr reduction scan{coll::plan_scan, nullptr, "MPI_Scan"};
constexpr reduction exscan{coll::plan_exscan, nullptr, "MPI_Exscan"};
constexpr reduction reduce_scatter_block{coll::plan_reduce_scatter_block,
                                         across::reduce_scatter_block, "MPI_Reduce_scatter_block"};

prepared reduction_of(const reduction& kind, const void* sendbuf, void* recvbuf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  comm_object& c = kind.two != nullptr ? comm_of(comm) : intracomm_of(comm);
  if (c.sides != nullptr) {
    return kind.two(c, sendbuf, recvbuf, count, datatype, op);
  }
  const p2p::buffer into = receive_of(recvbuf, count, datatype);
  if (!in_place(sendbuf)) {
    (void)data_of(sendbuf, count, datatype);
  }
  coll::op_ref o = shared_op(op, datatype, *into.type);
  if (kind.one == nullptr) {
    return even(c, kind.name,
                {.what = coll::even_call::kind::allreduce,
                 .send = base_only(sendbuf),
                 .recv = into,
                 .o = std::move(o)});
  }
  return {&c, kind.one(position_in(*c.comm), sendbuf, into, std::move(o)), kind.name};
}

prepared reduce_scatter_of(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::reduce_scatter(c, sendbuf, recvbuf, recvcounts, datatype, op);
  }
  check_out(recvcounts, "recvcounts");
  const auto size = static_cast<std::size_t>(c.comm->size());
  for (std::size_t r = 0; r < size; ++r) {
    check_count(recvcounts[r]);
  }
  const auto own = c.comm->rank().index();
  const p2p::buffer into = receive_of(recvbuf, recvcounts[own], datatype);
  return {
      &c,
      coll::plan_reduce_scatter(position_in(*c.comm), sendbuf, recvbuf, std::span(recvcounts, size),
                                *into.type, shared_op(op, datatype, *into.type)),
      "MPI_Reduce_scatter"};
}

prepared gather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::gather(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const p2p::buffer into = at_root ? receive_of(recvbuf, recvcount, recvtype) : p2p::buffer{};
  const p2p::buffer from = at_root ? send_of(sendbuf, sendcount, sendtype)
                                   : receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  return even(
      c, "MPI_Gather",
      {.what = coll::even_call::kind::gather, .send = from, .recv = into, .root = comm_rank{root}});
}

prepared gatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::gatherv(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root);
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const coll::parts into =
      at_root ? parts_of(c.comm->size(), recvbuf, recvcounts, displs, recvtype) : coll::parts{};
  const p2p::buffer from = at_root ? send_of(sendbuf, sendcount, sendtype)
                                   : receive_of(const_cast<void*>(sendbuf), sendcount, sendtype);
  return {&c, coll::plan_gatherv(position_in(*c.comm), from, into, comm_rank{root}), "MPI_Gatherv",
          root};
}

prepared scatter_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::scatter(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const p2p::buffer from =
      at_root ? receive_of(const_cast<void*>(sendbuf), sendcount, sendtype) : p2p::buffer{};
  const p2p::buffer into =
      at_root ? send_of(recvbuf, recvcount, recvtype) : receive_of(recvbuf, recvcount, recvtype);
  return even(c, "MPI_Scatter",
              {.what = coll::even_call::kind::scatter,
               .send = from,
               .recv = into,
               .root = comm_rank{root}});
}

prepared scatterv_of(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::scatterv(c, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root);
  }
  check_root(c, root);
  const bool at_root = c.comm->rank() == comm_rank{root};
  const coll::parts from =
      at_root ? parts_of(c.comm->size(), sendbuf, sendcounts, displs, sendtype) : coll::parts{};
  const p2p::buffer into =
      at_root ? send_of(recvbuf, recvcount, recvtype) : receive_of(recvbuf, recvcount, recvtype);
  return {&c, coll::plan_scatterv(position_in(*c.comm), from, into, comm_rank{root}),
          "MPI_Scatterv", root};
}

prepared allgather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::allgather(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  }
  return even(c, "MPI_Allgather",
              {.what = coll::even_call::kind::allgather,
               .send = send_of(sendbuf, sendcount, sendtype),
               .recv = receive_of(recvbuf, recvcount, recvtype)});
}

prepared allgatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::allgatherv(c, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype);
  }
  return {&c,
          coll::plan_allgatherv(position_in(*c.comm), send_of(sendbuf, sendcount, sendtype),
                                parts_of(c.comm->size(), recvbuf, recvcounts, displs, recvtype)),
          "MPI_Allgatherv"};
}

prepared alltoall_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::alltoall(c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  }
  return even(c, "MPI_Alltoall",
              {.what = coll::even_call::kind::alltoall,
               .send = send_of(sendbuf, sendcount, sendtype),
               .recv = receive_of(recvbuf, recvcount, recvtype)});
}

prepared alltoallv_of(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::alltoallv(c, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                             rdispls, recvtype);
  }
  const int n = c.comm->size();
  const coll::parts from = in_place(sendbuf) ? coll::parts{sendbuf, nullptr, nullptr, nullptr}
                                             : parts_of(n, sendbuf, sendcounts, sdispls, sendtype);
  return {&c,
          coll::plan_alltoallv(position_in(*c.comm), from,
                               parts_of(n, recvbuf, recvcounts, rdispls, recvtype)),
          "MPI_Alltoallv"};
}

prepared alltoallw_of(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  if (c.sides != nullptr) {
    return across::alltoallw(c, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                             rdispls, recvtypes);
  }
  const typed_parts from(c.comm->size(), sendbuf, sendcounts, sdispls, sendtypes);
  const typed_parts into(c.comm->size(), recvbuf, recvcounts, rdispls, recvtypes);
  return {&c, coll::plan_alltoallw(position_in(*c.comm), from, into), "MPI_Alltoallw"};
}

}  // namespace

coll::op_ref shared_op(MPI_Op op, MPI_Datatype datatype, const layout::datatype& of) {
  if (const coll::op* const known = predefined(op, datatype, of)) {
    return {coll::op_ref(), known};  // lives for ever
  }
  auto bound = std::make_shared<bound_op>(op, datatype, of);
  const coll::op& inside = *bound;
  return {std::move(bound), &inside};
}

int start_now(prepared&& p, MPI_Request* request) {
  check_out(request, "request");
  *request = MPI_REQUEST_NULL;
  const coll::communicator_ref& over = p.comm->together();
  if (p.what == nullptr) {
    coll::begun begun = coll::begin(*process.engine, over, p.even);
    if (begun.done) {
      *request = request_of(std::move(begun), std::move(p));
      return MPI_SUCCESS;
    }
    p.what = coll::plan_of(position_in(*over), p.even);
  }
  request_object& r = request_for(std::move(p), coll::nonblocking_tag(*over));
  start_collective(r);
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int start_later(prepared&& p, MPI_Info info, MPI_Request* request) {
  check_out(request, "request");
  *request = MPI_REQUEST_NULL;
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);
  }
  if (p.what == nullptr) {
    p.what = coll::plan_of(position_in(*p.comm->together()), p.even);
  }
  const message_tag tag = coll::persistent_tag(*p.comm->together());
  request_object& r = request_for(std::move(p), tag);
  r.persistent = true;
  r.active = false;
  r.again.start = start_collective;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int start_and_wait(prepared&& p) {
  MPI_Request request = MPI_REQUEST_NULL;
  (void)start_now(std::move(p), &request);
  SINEW_ASSERT(request != MPI_REQUEST_NULL);
  return impl::Wait(&request, MPI_STATUS_IGNORE);
}

// --- the two forms of each ---

int impl::Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return start_now(barrier_of(comm), request);
}

int impl::Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(barrier_of(comm), info, request);
}

int impl::Ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                 MPI_Request* request) {
  return start_now(bcast_of(buffer, count, datatype, root, comm), request);
}

int impl::Bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
  return start_later(bcast_of(buffer, count, datatype, root, comm), info, request);
}

int impl::Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  return start_now(reduce_of(sendbuf, recvbuf, count, datatype, op, root, comm), request);
}

int impl::Reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(reduce_of(sendbuf, recvbuf, count, datatype, op, root, comm), info, request);
}

int impl::Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return start_now(reduction_of(allreduce, sendbuf, recvbuf, count, datatype, op, comm), request);
}

int impl::Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(reduction_of(allreduce, sendbuf, recvbuf, count, datatype, op, comm), info,
                     request);
}

int impl::Iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return start_now(reduction_of(scan, sendbuf, recvbuf, count, datatype, op, comm), request);
}

int impl::Scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(reduction_of(scan, sendbuf, recvbuf, count, datatype, op, comm), info,
                     request);
}

int impl::Iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return start_now(reduction_of(exscan, sendbuf, recvbuf, count, datatype, op, comm), request);
}

int impl::Exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(reduction_of(exscan, sendbuf, recvbuf, count, datatype, op, comm), info,
                     request);
}

int impl::Ireduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return start_now(reduce_scatter_of(sendbuf, recvbuf, recvcounts, datatype, op, comm), request);
}

int impl::Reduce_scatter_init(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return start_later(reduce_scatter_of(sendbuf, recvbuf, recvcounts, datatype, op, comm), info,
                     request);
}

int impl::Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                MPI_Request* request) {
  return start_now(
      reduction_of(reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, comm), request);
}

int impl::Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  return start_later(
      reduction_of(reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, comm), info,
      request);
}

int impl::Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request* request) {
  return start_now(
      gather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int impl::Gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(
      gather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), info,
      request);
}

int impl::Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request* request) {
  return start_now(
      gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
      request);
}

int impl::Gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
  return start_later(
      gatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
      info, request);
}

int impl::Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request* request) {
  return start_now(
      scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int impl::Scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(
      scatter_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), info,
      request);
}

int impl::Iscatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return start_now(
      scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
      request);
}

int impl::Scatterv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
  return start_later(
      scatterv_of(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
      info, request);
}

int impl::Iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request* request) {
  return start_now(allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                   request);
}

int impl::Allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request) {
  return start_later(allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                     info, request);
}

int impl::Iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start_now(
      allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
      request);
}

int impl::Allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  return start_later(
      allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
      info, request);
}

int impl::Ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
  return start_now(alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                   request);
}

int impl::Alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
  return start_later(alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                     info, request);
}

int impl::Ialltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request* request) {
  return start_now(alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm),
                   request);
}

int impl::Alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  return start_later(alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm),
                     info, request);
}

int impl::Ialltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                     MPI_Request* request) {
  return start_now(alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm),
                   request);
}

int impl::Alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  return start_later(alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes, comm),
                     info, request);
}

}  // namespace sinew::mpi
