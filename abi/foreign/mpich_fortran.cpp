// SPDX-License-Identifier: BSD-3-Clause
#include "abi/foreign/mpich_fortran.hpp"

extern "C" {

// Aligned as a compiler may align a COMMON block, else linkers warn.
alignas(64) decltype(mpipriv1_) mpipriv1_{};
alignas(64) decltype(mpipriv2_) mpipriv2_{};
alignas(64) decltype(mpiprivc_) mpiprivc_{};
alignas(64) int mpifcmb5_;
alignas(64) int mpifcmb9_;
alignas(64) int mpifcmba_;

alignas(64) int MPIR_F08_MPI_BOTTOM;
alignas(64) int MPIR_F08_MPI_IN_PLACE;
alignas(64) MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
alignas(64) MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];

}  // extern "C"
