! SPDX-License-Identifier: BSD-3-Clause
! Two program units: one with mpif.h, one with mpi_f08, in one program.
subroutine old_unit(comm, n)
  implicit none
  include 'mpif.h'
  integer :: comm, n, ierr
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
end subroutine

program units
  use mpi_f08
  implicit none
  integer :: n, ranks
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  n = 1
  call old_unit(MPI_COMM_WORLD%MPI_VAL, n)
  if (n /= ranks) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Reduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_SELF)
  call MPI_Comm_rank(MPI_COMM_WORLD, n)
  if (n == 0) print '(a)', 'good'
  call MPI_Finalize()
end program
