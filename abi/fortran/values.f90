! SPDX-License-Identifier: BSD-3-Clause
! The compiler's own values of LOGICALs, for the C++ side.
module mpi_fortran_values
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int), bind(C, name="mpi_fortran_true") :: yes = transfer(.true., 0_c_int)
  integer(c_int), bind(C, name="mpi_fortran_false") :: no = transfer(.false., 0_c_int)
end module
