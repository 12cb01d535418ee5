// SPDX-License-Identifier: BSD-3-Clause
// MPI-1's functions that the standard has removed and that old programs still call, over their
// successors.
#include "abi/foreign/convert.hpp"

using namespace sinew;
using namespace sinew::foreign;

namespace {

/// One of the two bounds; an error is the successor's own.
template <class Choose>
int bound_of(foreign::datatype datatype, MPI_Aint* to, Choose choose) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int code = standard().Type_get_extent(from_foreign<MPI_Datatype>(datatype), &lower,
                                              to == nullptr ? nullptr : &extent);
  if (code == MPI_SUCCESS) {
    *to = choose(lower, extent);
  }
  return code_to(code);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int PMPI_Comm_create_errhandler(void (*function)(foreign::comm*, int*, ...),
                                foreign::errhandler* errhandler);
int PMPI_Errhandler_create(void (*function)(foreign::comm*, int*, ...),
                           foreign::errhandler* errhandler) {
  return PMPI_Comm_create_errhandler(function, errhandler);
}
SINEW_TWIN(MPI_Errhandler_create)
int MPI_Errhandler_create(void (*function)(foreign::comm*, int*, ...),
                          foreign::errhandler* errhandler);

#define SINEW_REMOVED(Name, parameters, call) \
  int PMPI_##Name parameters { return call; } \
  SINEW_TWIN(MPI_##Name) int MPI_##Name parameters
SINEW_REMOVED(Address, (void* location, MPI_Aint* to),
              code_to(standard().Get_address(address_from(location), to)));
SINEW_REMOVED(Errhandler_get, (foreign::comm comm, foreign::errhandler* errhandler),
              code_to(standard().Comm_get_errhandler(from_foreign<MPI_Comm>(comm),
                                                     handle_out<MPI_Errhandler>(errhandler).at())));
SINEW_REMOVED(Errhandler_set, (foreign::comm comm, foreign::errhandler errhandler),
              code_to(standard().Comm_set_errhandler(from_foreign<MPI_Comm>(comm),
                                                     from_foreign<MPI_Errhandler>(errhandler))));
SINEW_REMOVED(Type_extent, (foreign::datatype datatype, MPI_Aint* extent),
              bound_of(datatype, extent, [](MPI_Aint, MPI_Aint size) { return size; }));
SINEW_REMOVED(Type_lb, (foreign::datatype datatype, MPI_Aint* bound),
              bound_of(datatype, bound, [](MPI_Aint lower, MPI_Aint) { return lower; }));
SINEW_REMOVED(Type_ub, (foreign::datatype datatype, MPI_Aint* bound),
              bound_of(datatype, bound,
                       [](MPI_Aint lower, MPI_Aint size) { return lower + size; }));
SINEW_REMOVED(
    Type_hindexed,
    (int count, int lengths[], MPI_Aint places[], foreign::datatype old, foreign::datatype* made),
    code_to(standard().Type_create_hindexed(count, lengths, places, from_foreign<MPI_Datatype>(old),
                                            handle_out<MPI_Datatype>(made).at())));
SINEW_REMOVED(
    Type_hvector,
    (int count, int length, MPI_Aint stride, foreign::datatype old, foreign::datatype* made),
    code_to(standard().Type_create_hvector(count, length, stride, from_foreign<MPI_Datatype>(old),
                                           handle_out<MPI_Datatype>(made).at())));
SINEW_REMOVED(Type_struct,
              (int count, int lengths[], MPI_Aint places[], foreign::datatype types[],
               foreign::datatype* made),
              code_to(standard().Type_create_struct(count, lengths, places,
                                                    handles_in<MPI_Datatype>(types, count).data(),
                                                    handle_out<MPI_Datatype>(made).at())));
#undef SINEW_REMOVED

}  // extern "C"
#pragma GCC visibility pop
