! SPDX-License-Identifier: BSD-3-Clause
! Fortran that calls C that calls Fortran, with each other's handles.
module back
  use mpi_f08
  implicit none
contains
  subroutine sum_in_fortran(comm, datatype, values) bind(C, name="sum_in_fortran")
    integer :: comm, datatype, values(2)
    type(MPI_Comm) :: there
    there%MPI_VAL = comm
    call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_SUM, there)
  end subroutine
end module

program mixed
  use mpi_f08
  implicit none
  external :: sum_in_c
  integer, external :: tag_in_c
  type(MPI_Datatype) :: two
  type(MPI_Status) :: status
  integer :: rank, ranks, values(2), ierr
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, two)
  call MPI_Type_commit(two)
  values = [1, rank]
  call sum_in_c(MPI_COMM_WORLD%MPI_VAL, two%MPI_VAL, values, ierr)
  if (ierr /= MPI_SUCCESS .or. any(values /= [ranks, ranks * (ranks - 1) / 2])) then
    print '(a)', 'wrong: the sum'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end if
  call MPI_Sendrecv_replace(values, 1, two, rank, 77, rank, 77, MPI_COMM_WORLD, status)
  if (tag_in_c(status) /= 77) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
end program
