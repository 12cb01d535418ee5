// SPDX-License-Identifier: BSD-3-Clause
#include "abi/fortran/standard.hpp"

extern "C" {

// Aligned as a compiler may align a COMMON block, else linkers warn.
alignas(64) int mpi_fortran_bottom_;
alignas(64) int mpi_fortran_in_place_;
alignas(64) int mpi_fortran_automatic_;
alignas(64) int mpi_fortran_unweighted_;
alignas(64) int mpi_fortran_weights_empty_;
alignas(64) int mpi_fortran_errcodes_;
alignas(64) int mpi_fortran_status_[8];
alignas(64) int mpi_fortran_statuses_[8];
alignas(64) char mpi_fortran_argv_;
alignas(64) char mpi_fortran_argvs_;

}  // extern "C"
