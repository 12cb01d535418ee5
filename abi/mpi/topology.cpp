// MPI-5.0 chapter 8: what works without process topologies.
#include <climits>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"

namespace sinew::mpi {
namespace {

/// The most even way to write `rest` as a product of the factors from `at` on, none larger than
/// the one before. Small: the divisors of a number of ranks, a handful of dimensions.
struct balance {
  std::vector<int> now, best;
  int best_spread = INT_MAX;

  void search(std::size_t at, int rest, int most) {
    if (at + 1 == now.size()) {
      if (rest > most) return;
      now[at] = rest;
      if (now.front() - now.back() < best_spread) {
        best_spread = now.front() - now.back();
        best = now;
      }
      return;
    }
    for (int factor = rest < most ? rest : most; factor >= 1; --factor) {
      if (rest % factor != 0) continue;
      now[at] = factor;
      search(at + 1, rest / factor, factor);
    }
  }
};

}  // namespace

int impl::Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) fail(MPI_ERR_ARG, "the number of nodes is %d", nnodes);
  if (ndims < 0) fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  if (ndims == 0) return MPI_SUCCESS;
  check_out(dims, "dims");
  int rest = nnodes;
  balance b;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) fail(MPI_ERR_DIMS, "dimension %d is %d", d, dims[d]);
    if (dims[d] == 0) {
      b.now.push_back(0);
    } else if (rest % dims[d] != 0) {
      fail(MPI_ERR_DIMS, "%d nodes are not a multiple of the dimensions given", nnodes);
    } else {
      rest /= dims[d];
    }
  }
  if (b.now.empty()) {
    if (rest != 1) fail(MPI_ERR_DIMS, "the dimensions given do not make %d nodes", nnodes);
    return MPI_SUCCESS;
  }
  b.search(0, rest, rest);
  for (int d = 0, next = 0; d < ndims; ++d) {
    if (dims[d] == 0) dims[d] = b.best[static_cast<std::size_t>(next++)];
  }
  return MPI_SUCCESS;
}

int impl::Topo_test(MPI_Comm comm, int* status) {
  check_out(status, "status");
  (void)comm_of(comm);
  *status = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
