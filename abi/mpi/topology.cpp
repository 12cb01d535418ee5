// MPI-5.0 chapter 8: what works without process topologies.
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/dims.hpp"
#include "abi/mpi/generated/impl.hpp"

namespace sinew::mpi {
int impl::Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) fail(MPI_ERR_ARG, "the number of nodes is %d", nnodes);
  if (ndims < 0) fail(MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
  if (ndims == 0) return MPI_SUCCESS;
  check_out(dims, "dims");
  int rest = nnodes;
  int free = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) fail(MPI_ERR_DIMS, "dimension %d is %d", d, dims[d]);
    if (dims[d] == 0) {
      ++free;
    } else if (rest % dims[d] != 0) {
      fail(MPI_ERR_DIMS, "%d nodes are not a multiple of the dimensions given", nnodes);
    } else {
      rest /= dims[d];
    }
  }
  if (free == 0) {
    if (rest != 1) fail(MPI_ERR_DIMS, "the dimensions given do not make %d nodes", nnodes);
    return MPI_SUCCESS;
  }
  const std::vector<int> factors = balanced_factors(rest, free);
  for (int d = 0, next = 0; d < ndims; ++d) {
    if (dims[d] == 0) dims[d] = factors[static_cast<std::size_t>(next++)];
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
