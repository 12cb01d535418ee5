// MPI-5.0 sections 8.6 to 8.8: collectives among the neighbours of a topology, in all three forms.
#include <vector>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/nonblocking.hpp"
#include "abi/mpi/topology.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// This rank's neighbours in the order of its blocks. Lives as long as the call that uses it.
class neighbour_lists {
 public:
  explicit neighbour_lists(const comm_object& c) {
    if (c.places == nullptr) {
      fail(MPI_ERR_TOPOLOGY,
           "the communicator has no topology, so its ranks have no neighbours (MPI_Cart_create, "
           "MPI_Graph_create, MPI_Dist_graph_create)");
    }
    const topology& t = *c.places;
    const int rank = c.comm->rank().value();
    if (t.kind == MPI_CART) {
      own_.reserve(2 * t.dims.size());
      for (int d = 0; d < static_cast<int>(t.dims.size()); ++d) {
        add(t.shifted(rank, d, -1));
        add(t.shifted(rank, d, 1));
      }
      both_ = {own_, own_, true};
      SINEW_ASSERT(own_.size() == 2 * t.dims.size());
    } else if (t.kind == MPI_GRAPH) {
      const auto r = static_cast<std::size_t>(rank);
      SINEW_ASSERT(r < t.index.size());
      const auto begin = static_cast<std::size_t>(r == 0 ? 0 : t.index[r - 1]);
      SINEW_ASSERT(begin <= static_cast<std::size_t>(t.index[r]));
      const std::span<const int> edges(t.edges.data() + begin,
                                       static_cast<std::size_t>(t.index[r]) - begin);
      both_ = {edges, edges};
    } else {
      both_ = {t.sources, t.destinations};
    }
  }
  operator const coll::neighbours&() const noexcept { return both_; }
  [[nodiscard]] int in() const noexcept { return static_cast<int>(both_.sources.size()); }
  [[nodiscard]] int out() const noexcept { return static_cast<int>(both_.destinations.size()); }

 private:
  void add(int rank) { own_.push_back(rank == MPI_PROC_NULL ? -1 : rank); }

  std::vector<int> own_;
  coll::neighbours both_;
};

/// MPI_IN_PLACE has no meaning here.
p2p::buffer from_of(const void* base, MPI_Count count, MPI_Datatype type) {
  return receive_of(const_cast<void*>(base), count, type);
}

void not_in_place(const void* base) {
  if (in_place(base)) {
    fail(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed among neighbours");
  }
}

/// Checks the arguments of one collective, and returns then(c, neighbours, sent, received). Even:
/// blocks of one length, as allgather and alltoall have them.
template <class Then>
auto neighbor_even_with(const Then& then, const void* sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const neighbour_lists n(c);
  return then(c, n, from_of(sendbuf, sendcount, sendtype),
              receive_of(recvbuf, recvcount, recvtype));
}
prepared neighbor_allgather_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm) {
  return neighbor_even_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return prepared{&c, coll::plan_neighbour_allgather(n, data...), "MPI_Neighbor_allgather"};
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

template <class Then>
auto neighbor_allgatherv_with(const Then& then, const void* sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const neighbour_lists n(c);
  not_in_place(recvbuf);
  return then(c, n, from_of(sendbuf, sendcount, sendtype),
              parts_of(n.in(), recvbuf, recvcounts, displs, recvtype));
}
prepared neighbor_allgatherv_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_allgatherv_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return prepared{&c, coll::plan_neighbour_allgatherv(n, data...), "MPI_Neighbor_allgatherv"};
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

prepared neighbor_alltoall_of(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm) {
  return neighbor_even_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return prepared{&c, coll::plan_neighbour_alltoall(n, data...), "MPI_Neighbor_alltoall"};
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

template <class Then>
auto neighbor_alltoallv_with(const Then& then, const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const neighbour_lists n(c);
  not_in_place(sendbuf);
  not_in_place(recvbuf);
  return then(c, n, parts_of(n.out(), sendbuf, sendcounts, sdispls, sendtype),
              parts_of(n.in(), recvbuf, recvcounts, rdispls, recvtype));
}
prepared neighbor_alltoallv_of(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoallv_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return prepared{&c, coll::plan_neighbour_alltoallv(n, data...), "MPI_Neighbor_alltoallv"};
      },
      sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

template <class Then>
auto neighbor_alltoallw_with(const Then& then, const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm) {
  comm_object& c = comm_of(comm);
  const neighbour_lists n(c);
  not_in_place(sendbuf);
  not_in_place(recvbuf);
  const typed_parts from(n.out(), sendbuf, sendcounts, sdispls, sendtypes);
  const typed_parts into(n.in(), recvbuf, recvcounts, rdispls, recvtypes);
  return then(c, n, from, into);
}
prepared neighbor_alltoallw_of(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void* recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm) {
  return neighbor_alltoallw_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return prepared{&c, coll::plan_neighbour_alltoallw(n, data...), "MPI_Neighbor_alltoallw"};
      },
      sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

}  // namespace

int impl::Neighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm) {
  return neighbor_even_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return end(c, coll::neighbour_allgather(participant_of(c), n, data...));
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int impl::Ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request* request) {
  return start_now(
      neighbor_allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
      request);
}

int impl::Neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(
      neighbor_allgather_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
      request);
}

int impl::Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_allgatherv_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return end(c, coll::neighbour_allgatherv(participant_of(c), n, data...));
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

int impl::Ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start_now(neighbor_allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm),
                   request);
}

int impl::Neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request) {
  return start_later(neighbor_allgatherv_of(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                            displs, recvtype, comm),
                     info, request);
}

int impl::Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm) {
  return neighbor_even_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return end(c, coll::neighbour_alltoall(participant_of(c), n, data...));
      },
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int impl::Ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Request* request) {
  return start_now(
      neighbor_alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
      request);
}

int impl::Neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(
      neighbor_alltoall_of(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
      request);
}

int impl::Neighbor_alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm) {
  return neighbor_alltoallv_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return end(c, coll::neighbour_alltoallv(participant_of(c), n, data...));
      },
      sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int impl::Ineighbor_alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start_now(neighbor_alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm),
                   request);
}

int impl::Neighbor_alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return start_later(neighbor_alltoallv_of(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                           recvcounts, rdispls, recvtype, comm),
                     info, request);
}

int impl::Neighbor_alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return neighbor_alltoallw_with(
      [](comm_object& c, const coll::neighbours& n, const auto&... data) {
        return end(c, coll::neighbour_alltoallw(participant_of(c), n, data...));
      },
      sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int impl::Ineighbor_alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return start_now(neighbor_alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm),
                   request);
}

int impl::Neighbor_alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                  void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return start_later(neighbor_alltoallw_of(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                           recvcounts, rdispls, recvtypes, comm),
                     info, request);
}

}  // namespace sinew::mpi
