! SPDX-License-Identifier: BSD-3-Clause
program ring
  use mpi_f08
  implicit none
  integer :: rank, ranks, got
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, &
      got, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  print '(a,i0,a,i0)', 'rank ', rank, ' has ', got
  call MPI_Finalize()
end program
