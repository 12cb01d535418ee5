// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 8: Cartesian topologies, and what all topologies share. (Graphs: graph.cpp.)
#include "abi/mpi/topology.hpp"

#include <algorithm>
#include <climits>
#include <vector>

#include "abi/mpi/binding.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/dims.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

std::vector<int> topology::coords_of(int rank) const {
  SINEW_EXPECT(kind == MPI_CART && rank >= 0);
  std::vector<int> coords(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) {
    coords[d] = rank % dims[d];
  }
  SINEW_ENSURE(rank == 0);  // it is one of the grid
  return coords;
}

int topology::rank_at(const std::vector<long long>& coords) const {
  SINEW_EXPECT(coords.size() == dims.size() && periods.size() == dims.size());
  long long rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    long long c = coords[d];
    if (c < 0 || c >= dims[d]) {
      if (periods[d] == 0) {
        return MPI_PROC_NULL;
      }
      c %= dims[d];
      if (c < 0) {
        c += dims[d];
      }
    }
    rank = rank * dims[d] + c;
  }
  SINEW_ENSURE(rank >= 0 && rank <= INT_MAX);
  return static_cast<int>(rank);
}

int topology::shifted(int rank, int dimension, long long by) const {
  SINEW_EXPECT(dimension >= 0 && static_cast<std::size_t>(dimension) < dims.size());
  const auto along = static_cast<std::size_t>(dimension);
  long long stride = 1;  // ranks between two neighbours of this dimension
  for (std::size_t d = dims.size(); --d > along;) {
    stride *= dims[d];
  }
  const long long length = dims[along];
  const long long here = rank / stride % length;
  long long there = here + by;
  if (there < 0 || there >= length) {
    if (periods[along] == 0) {
      return MPI_PROC_NULL;
    }
    there = (there % length + length) % length;
  }
  return static_cast<int>(rank + (there - here) * stride);
}

namespace {

const topology& cart_of(const comm_object& c) {
  if (c.places == nullptr || c.places->kind != MPI_CART) {
    fail(MPI_ERR_TOPOLOGY, "the communicator has no Cartesian topology (MPI_Cart_create)");
  }
  return *c.places;
}

/// How many ranks a grid takes; throws if it is none, or if it is larger than the communicator.
int ranks_of_grid(const comm_object& c, int ndims, const int* dims) {
  if (ndims < 0) {
    fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  }
  if (ndims > 0) {
    check_out(dims, "dims");
  }
  long long ranks = 1;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 1) {
      fail(MPI_ERR_DIMS, "dimension %d has %d ranks: at least 1", d, dims[d]);
    }
    ranks *= dims[d];
    if (ranks > c.comm->size()) {
      fail(MPI_ERR_DIMS, "the grid has more ranks than the %d of the communicator", c.comm->size());
    }
  }
  SINEW_ENSURE(ranks >= 1 && ranks <= c.comm->size());
  return static_cast<int>(ranks);
}

std::size_t entries_to_copy(int most, std::size_t there) {
  if (most < 0) {
    fail(MPI_ERR_ARG, "the length %d of an array is negative", most);
  }
  return std::min(static_cast<std::size_t>(most), there);
}

void check_rank(const comm_object& c, int rank) {
  if (rank < 0 || rank >= c.comm->size()) {
    bad_rank(c, rank, "rank");
  }
}

}  // namespace

MPI_Comm place_first(comm_object& c, int ranks, topology places) {
  SINEW_EXPECT(ranks >= 1 && ranks <= c.comm->size());
  std::vector<job_rank> members(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    members[static_cast<std::size_t>(r)] = c.comm->job_rank(comm_rank{r});
  }
  const MPI_Comm made = adopt(coll::create(participant_of(c), core::group(std::move(members))), c);
  SINEW_ASSERT((made != MPI_COMM_NULL) == c.comm->rank().below(ranks));
  if (made != MPI_COMM_NULL) {
    comm_of(made).places = std::make_shared<const topology>(std::move(places));
  }
  return made;
}

int in_degree(MPI_Comm comm) noexcept {
  const comm_object* c = find_comm(comm);
  if (c == nullptr || c->places == nullptr) {
    return 0;
  }
  const topology& t = *c->places;
  switch (t.kind) {
    case MPI_CART:
      return 2 * static_cast<int>(t.dims.size());
    case MPI_GRAPH: {
      const auto rank = c->comm->rank().index();
      SINEW_ASSERT(rank < t.index.size());
      return t.index[rank] - (rank == 0 ? 0 : t.index[rank - 1]);
    }
    default:
      return static_cast<int>(t.sources.size());
  }
}

int out_degree(MPI_Comm comm) noexcept {
  const comm_object* c = find_comm(comm);
  const bool distributed =
      c != nullptr && c->places != nullptr && c->places->kind == MPI_DIST_GRAPH;
  return distributed ? static_cast<int>(c->places->destinations.size()) : in_degree(comm);
}

int impl::Topo_test(MPI_Comm comm, int* status) {
  check_out(status, "status");
  const comm_object& c = comm_of(comm);
  *status = c.places == nullptr ? MPI_UNDEFINED : c.places->kind;
  return MPI_SUCCESS;
}

int impl::Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) {
    fail(MPI_ERR_ARG, "the number of nodes is %d", nnodes);
  }
  if (ndims < 0) {
    fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  }
  if (ndims == 0) {
    return MPI_SUCCESS;
  }
  check_out(dims, "dims");
  int rest = nnodes;
  int free = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) {
      fail(MPI_ERR_DIMS, "dimension %d is %d", d, dims[d]);
    }
    if (dims[d] == 0) {
      ++free;
    } else if (rest % dims[d] != 0) {
      fail(MPI_ERR_DIMS, "%d nodes are not a multiple of the dimensions given", nnodes);
    } else {
      rest /= dims[d];
    }
  }
  if (free == 0) {
    if (rest != 1) {
      fail(MPI_ERR_DIMS, "the dimensions given do not make %d nodes", nnodes);
    }
    return MPI_SUCCESS;
  }
  const std::vector<int> factors = balanced_factors(rest, free);
  SINEW_ASSERT(factors.size() == static_cast<std::size_t>(free));
  for (int d = 0, next = 0; d < ndims; ++d) {
    if (dims[d] == 0) {
      dims[d] = factors[static_cast<std::size_t>(next++)];
    }
  }
  return MPI_SUCCESS;
}

int impl::Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                      int /*reorder*/, MPI_Comm* comm_cart) {
  comm_object& c = intracomm_of(comm_old);
  check_out(comm_cart, "comm_cart");
  *comm_cart = MPI_COMM_NULL;
  const int ranks = ranks_of_grid(c, ndims, dims);
  if (ndims > 0) {
    check_out(periods, "periods");
  }
  topology t;
  t.kind = MPI_CART;
  for (int d = 0; d < ndims; ++d) {
    t.dims.push_back(dims[d]);
    t.periods.push_back(periods[d] != 0 ? 1 : 0);
  }
  *comm_cart = place_first(c, ranks, std::move(t));
  return MPI_SUCCESS;
}

int impl::Cart_map(MPI_Comm comm, int ndims, const int dims[], const int /*periods*/[],
                   int* newrank) {
  const comm_object& c = intracomm_of(comm);
  check_out(newrank, "newrank");
  const int ranks = ranks_of_grid(c, ndims, dims);
  *newrank = c.comm->rank().below(ranks) ? c.comm->rank().value() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int impl::Cartdim_get(MPI_Comm comm, int* ndims) {
  check_out(ndims, "ndims");
  *ndims = static_cast<int>(cart_of(comm_of(comm)).dims.size());
  return MPI_SUCCESS;
}

int impl::Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  const comm_object& c = comm_of(comm);
  const topology& t = cart_of(c);
  const std::size_t n = entries_to_copy(maxdims, t.dims.size());
  if (n == 0) {
    return MPI_SUCCESS;
  }
  check_out(dims, "dims");
  check_out(periods, "periods");
  check_out(coords, "coords");
  const std::vector<int> here = t.coords_of(c.comm->rank().value());
  std::copy_n(t.dims.begin(), n, dims);
  std::copy_n(t.periods.begin(), n, periods);
  std::copy_n(here.begin(), n, coords);
  return MPI_SUCCESS;
}

int impl::Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  const topology& t = cart_of(comm_of(comm));
  check_out(rank, "rank");
  if (!t.dims.empty()) {
    check_out(coords, "coords");
  }
  const int found = t.rank_at(std::vector<long long>(coords, coords + t.dims.size()));
  if (found == MPI_PROC_NULL) {
    fail(MPI_ERR_ARG, "the coordinates lie outside of a dimension that is not periodic");
  }
  *rank = found;
  return MPI_SUCCESS;
}

int impl::Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  const comm_object& c = comm_of(comm);
  const topology& t = cart_of(c);
  check_rank(c, rank);
  const std::size_t n = entries_to_copy(maxdims, t.dims.size());
  if (n == 0) {
    return MPI_SUCCESS;
  }
  check_out(coords, "coords");
  const std::vector<int> there = t.coords_of(rank);
  std::copy_n(there.begin(), n, coords);
  return MPI_SUCCESS;
}

int impl::Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const comm_object& c = comm_of(comm);
  const topology& t = cart_of(c);
  check_out(rank_source, "rank_source");
  check_out(rank_dest, "rank_dest");
  if (direction < 0 || direction >= static_cast<int>(t.dims.size())) {
    fail(MPI_ERR_ARG, "the direction %d is not one of the grid's %zu dimensions, from 0 on",
         direction, t.dims.size());
  }
  *rank_source = t.shifted(c.comm->rank().value(), direction, -static_cast<long long>(disp));
  *rank_dest = t.shifted(c.comm->rank().value(), direction, disp);
  return MPI_SUCCESS;
}

int impl::Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  comm_object& c = comm_of(comm);
  const topology& t = cart_of(c);
  check_out(newcomm, "newcomm");
  if (!t.dims.empty()) {
    check_out(remain_dims, "remain_dims");
  }
  const std::vector<int> here = t.coords_of(c.comm->rank().value());
  topology rest;
  rest.kind = MPI_CART;
  int color = 0;
  int key = 0;
  for (std::size_t d = 0; d < t.dims.size(); ++d) {
    if (remain_dims[d] != 0) {
      rest.dims.push_back(t.dims[d]);
      rest.periods.push_back(t.periods[d]);
      key = key * t.dims[d] + here[d];
    } else {
      color = color * t.dims[d] + here[d];
    }
  }
  const MPI_Comm made = adopt(coll::split(participant_of(c), color, key), c);
  SINEW_ASSERT(made != MPI_COMM_NULL);
  comm_of(made).places = std::make_shared<const topology>(std::move(rest));
  *newcomm = made;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
