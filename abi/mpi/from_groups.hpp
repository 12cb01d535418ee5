// Communicators made from groups, without a parent (MPI-5.0 section 7.4.2).
#pragma once

#include "abi/mpi/comm.hpp"

namespace sinew::mpi {

/// The number that stands for a string tag: makings with overlapping groups at the same time need
/// different ones, and get them by nearly all chances. Throws MPI_ERR_ARG. Cold.
[[nodiscard]] int tag_of(const char* stringtag);
/// Throws MPI_ERR_GROUP if this rank is not in `members`.
void check_member(const core::group& members);
/// Throws MPI_ERR_ERRHANDLER if it is not for communicators.
[[nodiscard]] errhandler_object* comm_errhandler_of(MPI_Errhandler handle);

}  // namespace sinew::mpi
