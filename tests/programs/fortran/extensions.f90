! SPDX-License-Identifier: BSD-3-Clause
! What Open MPI and MPICH have in Fortran for surviving the death of ranks, without a death.
program extensions
  implicit none
  include 'mpif.h'
  integer :: comm, shrunk, failed, rank, ranks, there, flag, request, ierr, code, class
  logical :: revoked
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  flag = ibset(7, 3 + rank)
  call mpix_comm_agree(comm, flag, ierr)
  if (ranks > 1 .and. flag /= 7) call wrong('mpix_comm_agree')
  flag = 6
  call mpix_comm_iagree(comm, flag, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  if (flag /= 6) call wrong('mpix_comm_iagree')
  call mpix_comm_get_failed(comm, failed, ierr)
  call MPI_Group_size(failed, there, ierr)
  if (there /= 0) call wrong('mpix_comm_get_failed')
  call mpix_comm_ack_failed(comm, 0, there, ierr)
  if (there /= 0) call wrong('mpix_comm_ack_failed')
  call mpix_comm_failure_ack(comm, ierr)
  call mpix_comm_failure_get_acked(comm, failed, ierr)
  call MPI_Group_size(failed, there, ierr)
  if (there /= 0) call wrong('mpix_comm_failure_get_acked')
  revoked = .true.
  call mpix_comm_is_revoked(comm, revoked, ierr)
  if (revoked) call wrong('mpix_comm_is_revoked, before')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call mpix_comm_revoke(comm, ierr)
  call mpix_comm_is_revoked(comm, revoked, ierr)
  if (.not. revoked) call wrong('mpix_comm_is_revoked, after')
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class, ierr)
  if (class == MPI_SUCCESS) call wrong('a barrier of a revoked communicator')
  call mpix_comm_shrink(comm, shrunk, ierr)
  call MPI_Comm_size(shrunk, there, ierr)
  if (there /= ranks) call wrong('mpix_comm_shrink')
  call MPI_Comm_free(shrunk, ierr)
  call MPI_Comm_free(comm, ierr)
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize(ierr)
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
