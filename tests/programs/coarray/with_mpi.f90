! SPDX-License-Identifier: BSD-3-Clause
! Coarrays and MPI in one program. MPI's functions are called by their C names, since Sinew has no
! Fortran modules of MPI: the handles are those of the standard ABI.
module mpi_by_c
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_intptr_t), parameter :: mpi_comm_world = int(z'101', c_intptr_t)
  integer(c_intptr_t), parameter :: mpi_int32_t = int(z'250', c_intptr_t)
  integer(c_intptr_t), parameter :: mpi_sum = int(z'21', c_intptr_t)
  interface
    integer(c_int) function mpi_init(argc, argv) bind(c, name='MPI_Init')
      import
      type(c_ptr), value :: argc, argv
    end function
    integer(c_int) function mpi_finalize() bind(c, name='MPI_Finalize')
      import
    end function
    integer(c_int) function mpi_comm_rank(comm, rank) bind(c, name='MPI_Comm_rank')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int) :: rank
    end function
    integer(c_int) function mpi_comm_size(comm, size) bind(c, name='MPI_Comm_size')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int) :: size
    end function
    integer(c_int) function mpi_barrier(comm) bind(c, name='MPI_Barrier')
      import
      integer(c_intptr_t), value :: comm
    end function
    integer(c_int) function mpi_sendrecv(out, out_count, out_type, to, out_tag, in, in_count, &
                                         in_type, from, in_tag, comm, status) &
      bind(c, name='MPI_Sendrecv')
      import
      integer(c_int32_t) :: out(*), in(*)
      integer(c_int), value :: out_count, to, out_tag, in_count, from, in_tag
      integer(c_intptr_t), value :: out_type, in_type, comm
      type(c_ptr), value :: status
    end function
    integer(c_int) function mpi_allreduce(in, out, count, what, op, comm) &
      bind(c, name='MPI_Allreduce')
      import
      integer(c_int32_t) :: in(*), out(*)
      integer(c_int), value :: count
      integer(c_intptr_t), value :: what, op, comm
    end function
  end interface
end module

program with_mpi
  use check
  use mpi_by_c
  implicit none
  integer, parameter :: most = 100000, lengths(3) = [1, 1000, most]
  integer(c_int32_t), save :: box(most)[*]
  integer(c_int32_t), allocatable :: sent(:), received(:)
  integer(c_int32_t) :: mine(1), sum_by_mpi(1), sum_by_images
  integer(c_int) :: rank, size_of_world
  integer :: round, i, n

  allocate (sent(most), received(most))
  call expect(mpi_init(c_null_ptr, c_null_ptr) == 0, 'MPI_Init')
  call expect(mpi_comm_rank(mpi_comm_world, rank) == 0 .and. rank == this_image() - 1, 'rank')
  call expect(mpi_comm_size(mpi_comm_world, size_of_world) == 0, 'MPI_Comm_size')
  call expect(size_of_world == num_images(), 'size')

  do round = 1, 30
    n = lengths(mod(round, 3) + 1)
    sent(:n) = [(1000000 * this_image() + round + i, i=1, n)]
    received = -1
    ! The message to the next image, the put to the one before, both at a time.
    box(:n)[before(1)] = sent(:n)
    call expect(mpi_sendrecv(sent, n, mpi_int32_t, after(1) - 1, round, received, n, mpi_int32_t, &
                             before(1) - 1, round, mpi_comm_world, c_null_ptr) == 0, 'MPI_Sendrecv')
    call expect(all(received(:n) == [(1000000 * before(1) + round + i, i=1, n)]), 'the message')
    if (mod(round, 2) == 0) then
      sync all
    else  ! MPI's barrier with the memory in order, as such programs do
      sync memory
      call expect(mpi_barrier(mpi_comm_world) == 0, 'MPI_Barrier')
      sync memory
    end if
    call expect(all(box(:n) == [(1000000 * after(1) + round + i, i=1, n)]), 'the put')
    mine = this_image() * round
    sum_by_images = mine(1)
    call co_sum(sum_by_images)
    call expect(mpi_allreduce(mine, sum_by_mpi, 1, mpi_int32_t, mpi_sum, mpi_comm_world) == 0, &
                'MPI_Allreduce')
    call expect(sum_by_mpi(1) == sum_by_images, 'the sums')
    call expect(sum_by_images == round * num_images() * (num_images() + 1) / 2, 'the sum')
    sync memory  ! the sums have come from all: nobody reads its box any more
  end do
  call expect(mpi_finalize() == 0, 'MPI_Finalize')
  box(1)[after(1)] = this_image()  ! coarrays go on after MPI's end
  sync all
  call expect(box(1) == before(1), 'a put after MPI')
  call finish()
end program
