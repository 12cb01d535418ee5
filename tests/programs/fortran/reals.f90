! SPDX-License-Identifier: BSD-3-Clause
! Default REALs of whatever size the options give them (-fdefault-real-8).
program reals
  use mpi_f08
  implicit none
  real :: single(3)
  double precision :: double(3)
  complex :: pair
  integer :: rank, ranks, bytes
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  single = 1.5
  double = 2.5d0
  pair = (1.0, 2.0)
  call MPI_Allreduce(MPI_IN_PLACE, single, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call expect(all(single == 1.5 * ranks), 'MPI_REAL')
  call expect(pair == (1.0, 2.0) * ranks, 'MPI_COMPLEX')
  call MPI_Type_size(MPI_DOUBLE_PRECISION, bytes)
  call expect(bytes == storage_size(double) / 8, 'MPI_DOUBLE_PRECISION')
  call MPI_Type_size(MPI_DOUBLE_COMPLEX, bytes)
  call expect(bytes == 2 * storage_size(double) / 8, 'MPI_DOUBLE_COMPLEX')
  call MPI_Bcast(double, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  call MPI_Type_size(MPI_2REAL, bytes)
  call expect(bytes == 2 * storage_size(single) / 8, 'MPI_2REAL')
  call expect(MPI_Wtime() > 0 .and. MPI_Wtick() < 1, 'MPI_Wtime')
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
contains
  subroutine expect(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (is) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
