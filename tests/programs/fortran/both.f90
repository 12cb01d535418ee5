! SPDX-License-Identifier: BSD-3-Clause
! Coarrays and MPI in one program, on one runtime: caf.sinew --mpi.
program both
  use mpi_f08
  implicit none
  integer :: there[*], rank, ranks, got
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (rank + 1 /= this_image() .or. ranks /= num_images()) call MPI_Abort(MPI_COMM_WORLD, 1)
  there[mod(rank + 1, ranks) + 1] = rank
  sync all
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, got, 1, MPI_INTEGER, &
      mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (got /= there) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
end program
