! SPDX-License-Identifier: BSD-3-Clause
! Large counts of mpi_f08: a user operation, a message, a datatype, by names of their own.
module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) call wrong('the datatype of an operation')
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine
end module

program large
  use operations
  implicit none
  integer, parameter :: n = 7
  integer(MPI_COUNT_KIND), parameter :: many = n
  integer :: rank, ranks, counts(5), from(2, n), to(2, n)
  integer(MPI_COUNT_KIND) :: received, bytes
  type(MPI_Op) :: op
  type(MPI_Datatype) :: row
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Op_create_c(add, .true., op)
  counts = rank
  call MPI_Allreduce(MPI_IN_PLACE, counts, 5_MPI_COUNT_KIND, MPI_INTEGER, op, MPI_COMM_WORLD)
  if (any(counts /= ranks * (ranks - 1) / 2)) call wrong('a user operation')
  call MPI_Op_free(op)
  from = rank
  to = -1
  call MPI_Sendrecv(from(1, :), many, MPI_INTEGER, mod(rank + 1, ranks), 3, to(2, :), many, &
      MPI_INTEGER, mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, received)
  if (received /= n .or. any(to(2, :) /= mod(rank + ranks - 1, ranks)) .or. any(to(1, :) /= -1)) &
      call wrong('MPI_Sendrecv')
  call MPI_Type_contiguous(many, MPI_REAL8, row)
  call MPI_Type_size(row, bytes)
  if (bytes /= 8 * n) call wrong('MPI_Type_contiguous')
  call MPI_Type_free(row)
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
end program
