// SPDX-License-Identifier: BSD-3-Clause
// Communicators made from groups, without a parent (MPI-5.0 section 7.4.2).
#pragma once

#include <new>
#include <string>

#include "abi/mpi/comm.hpp"

namespace sinew::mpi {

/// The number that stands for a string tag: makings with overlapping groups at the same time need
/// different ones, and get them by nearly all chances. Throws MPI_ERR_ARG. Cold.
[[nodiscard]] int tag_of(const char* stringtag);
/// Throws MPI_ERR_GROUP if this rank is not in `members`.
void check_member(const core::group& members);
/// Throws MPI_ERR_ERRHANDLER if it is not for communicators.
[[nodiscard]] errhandler_object* comm_errhandler_of(MPI_Errhandler handle);

/// Lets `errors` decide what becomes of an error; returns what it leaves.
int raise_error_by(errhandler_object& errors, int code, const std::string& sentence) noexcept;

/// The errors of a making are the new communicator's handler's.
template <class Making>
int made_by(errhandler_object& errors, const Making& making) try {
  making();
  return MPI_SUCCESS;
} catch (const failure& f) {
  return raise_error_by(errors, f.code, f.sentence);
} catch (const sinew::error& e) {
  return raise_error_by(errors, class_of(e), e.what());
} catch (const std::bad_alloc&) {
  return raise_error_by(errors, MPI_ERR_NO_MEM, "out of memory");
}

}  // namespace sinew::mpi
