! SPDX-License-Identifier: BSD-3-Clause
! What a call from mpi_f08 costs, beside c.c, which does the same in C: a message of 8 bytes, a test
! and a wait; the halos of a 1000 x 1000 array, given as sections. A sample is the median of batches,
! in ns.
include '../common/measure.f90'

module calls
  use measure
  implicit none
  integer, parameter :: n = 1000
  real, target :: a(n, n)
  character(8) :: outgoing = '12345678', incoming
  real(real64) :: budget_ms
  integer :: rank, peer
  type(MPI_Datatype) :: row
  type(MPI_Request) :: pending
  abstract interface
    subroutine repeated(count)
      integer, intent(in) :: count
    end subroutine
  end interface

contains

  subroutine run(what, name, params, messages)
    procedure(repeated) :: what
    character(*), intent(in) :: name, params
    integer, intent(in) :: messages
    real(real64) :: ns(most_batches), begin, line
    integer :: sample, samples, batch, batches, repetitions
    call what(20)
    begin = MPI_Wtime()
    call what(200)
    call make_plan((MPI_Wtime() - begin) * 1d9 / 200, budget_ms, batches, repetitions)
    samples = min(batches, most_samples)
    batches = batches / samples
    do sample = 1, samples
      line = line_trip(rank)
      call what(min(repetitions, 20))
      do batch = 1, batches
        begin = MPI_Wtime()
        call what(repetitions)
        ns(batch) = (MPI_Wtime() - begin) * 1d9 / repetitions / messages
      end do
      if (rank == 0) call report(name, 'latency', 'ns', params, median(ns(:batches)), line)
    end do
  end subroutine

  subroutine bounce(count)
    integer, intent(in) :: count
    integer :: i
    do i = 1, count
      if (rank == 0) then
        call MPI_Send(outgoing, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD)
        call MPI_Recv(incoming, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      else
        call MPI_Recv(incoming, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Send(outgoing, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD)
      end if
    end do
  end subroutine

  subroutine test(count)
    integer, intent(in) :: count
    logical :: done
    integer :: i
    do i = 1, count
      call MPI_Test(pending, done, MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine wait(count)
    integer, intent(in) :: count
    type(MPI_Request) :: none
    integer :: i
    do i = 1, count
      none = MPI_REQUEST_NULL
      call MPI_Wait(none, MPI_STATUS_IGNORE)
    end do
  end subroutine

  ! The neighbour's boundary beside the own one. Blocking calls, since not every library takes
  ! sections in others.
  subroutine rows(count)
    integer, intent(in) :: count
    integer :: i
    do i = 1, count
      call MPI_Sendrecv(a(2, :), n, MPI_REAL, peer, 2, a(1, :), n, MPI_REAL, peer, 2, &
          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine rows_by_type(count)
    integer, intent(in) :: count
    integer :: i
    do i = 1, count
      call MPI_Sendrecv(a(2, 1), 1, row, peer, 3, a(1, 1), 1, row, peer, 3, &
          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine columns(count)
    integer, intent(in) :: count
    integer :: i
    do i = 1, count
      call MPI_Sendrecv(a(:, 2), n, MPI_REAL, peer, 4, a(:, 1), n, MPI_REAL, peer, 4, &
          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine check(halo, what)
    real, intent(in) :: halo(:)
    character(*), intent(in) :: what
    if (any(halo(2:) /= peer)) call stop_all('wrong: ' // what)
    a = rank
  end subroutine

end module

program f08
  use calls
  implicit none
  call start(2)
  budget_ms = option('budget_ms', 50d0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = 1 - rank
  call line_open(rank)
  a = rank
  call MPI_Type_vector(n, 1, n, MPI_REAL, row)
  call MPI_Type_commit(row)
  call MPI_Irecv(incoming, 8, MPI_BYTE, rank, 99, MPI_COMM_WORLD, pending)
  call run(bounce, 'one-way', 'by=f08', 2)
  call run(test, 'test', 'by=f08', 1)
  call run(wait, 'wait', 'by=f08', 1)
  call run(rows, 'row', 'by=section', 1)
  call check(a(1, :), 'rows by sections')
  call run(rows_by_type, 'row', 'by=type', 1)
  call check(a(1, :), 'rows by a type')
  call run(columns, 'column', 'by=section', 1)
  call check(a(:, 1), 'columns by sections')
  call MPI_Send(outgoing, 8, MPI_BYTE, rank, 99, MPI_COMM_WORLD)
  call MPI_Wait(pending, MPI_STATUS_IGNORE)
  call MPI_Type_free(row)
  call MPI_Finalize()
end program
