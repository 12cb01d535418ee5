! SPDX-License-Identifier: BSD-3-Clause
! The same sections again and again, more of them than are kept, also with datatypes that are freed
! and made anew, perhaps at the same place.
program repeat
  use mpi_f08
  implicit none
  integer, parameter :: n = 24
  integer :: from(n, n), to(n, n), wanted(n, n), rank, left, right, ranks, round, i, blocks
  type(MPI_Datatype) :: pair
  type(MPI_Request) :: requests(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  do round = 1, 50
    from = reshape([(i * 31 + round * 7, i = 1, n * n)], [n, n])
    to = -1
    do i = 1, n
      call MPI_Irecv(to(i, :), n, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(from(i, :), n, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(2))
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    end do
    call expect(all(to == from), 'rows')
    ! A type of `blocks` integers, of another length in each round.
    blocks = 1 + mod(round, 4)
    call MPI_Type_contiguous(blocks, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    to = -1
    wanted = -1
    wanted(1:12 * 2 - 1:2, 3) = from(1:12 * 2 - 1:2, 3)
    call MPI_Sendrecv(from(1::2, 3), 12 / blocks, pair, right, 0, &
        to(1::2, 3), 12 / blocks, pair, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(to == wanted), 'elements by a datatype of this round')
    call MPI_Type_free(pair)
  end do
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
