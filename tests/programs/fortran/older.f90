! SPDX-License-Identifier: BSD-3-Clause
! Module mpi as MPI-3.1 has it, which programs of other MPIs use: special addresses, statuses, sizes,
! procedures that MPI calls, memory.
module helpers
  use mpi
  implicit none
  integer :: deletions = 0
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    integer :: ierr
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
  subroutine longest(a, b, n, datatype)
    integer :: n, datatype
    real(8) :: a(n), b(n)
    if (datatype /= MPI_DOUBLE_PRECISION) call wrong('the datatype of an operation')
    b = max(a, b)
  end subroutine
  subroutine count_it(comm, key, value, state, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: value, state
    if (value /= 17 .or. state /= 4) call wrong('what a deleted attribute is')
    deletions = deletions + 1
    ierr = MPI_SUCCESS
  end subroutine
end module

program older
  use helpers
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, ranks, ierr, n, op, key, comm, twin, win, code, class
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), requests(2), from(4), to(4)
  integer(MPI_ADDRESS_KIND) :: value, state, bytes
  real(8) :: most(3)
  real(8), pointer :: given(:)
  complex :: one
  type(c_ptr) :: at
  logical :: found
  character(len=MPI_MAX_ERROR_STRING) :: text
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  from = rank
  call MPI_Irecv(to, 4, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(from, 4, MPI_INTEGER, mod(rank + 1, ranks), 8, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  call MPI_Get_count(statuses(:, 1), MPI_INTEGER, n, ierr)
  if (n /= 4 .or. statuses(MPI_SOURCE, 1) /= to(1)) call wrong('a status of MPI_Waitall')
  if (to(4) /= mod(rank + ranks - 1, ranks)) call wrong('a message')
  call MPI_Sendrecv_replace(to, 4, MPI_INTEGER, mod(rank + 1, ranks), 9, MPI_ANY_SOURCE, 9, &
      MPI_COMM_WORLD, status, ierr)
  if (status(MPI_TAG) /= 9) call wrong('a status')
  call MPI_Sendrecv(from, 4, MPI_INTEGER, MPI_PROC_NULL, 0, to, 4, MPI_INTEGER, MPI_PROC_NULL, 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)

  call MPI_Op_create(longest, .true., op, ierr)
  most = [rank, -rank, 5]
  call MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
  if (any(most /= [ranks - 1, 0, 5])) call wrong('a user operation')
  call MPI_Op_free(op, ierr)
  if (op /= MPI_OP_NULL) call wrong('MPI_Op_free')

  state = 4
  value = 17
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_it, key, state, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
  call MPI_Comm_set_attr(comm, key, value, ierr)
  call MPI_Comm_dup(comm, twin, ierr)
  value = 0
  call MPI_Comm_get_attr(twin, key, value, found, ierr)
  if (.not. found .or. value /= 17) call wrong('a copied attribute')
  call MPI_Comm_free(twin, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(from, 4, MPI_INTEGER, 3, 0, comm, code)
  call MPI_Error_class(code, class, ierr)
  call MPI_Error_string(code, text, n, ierr)
  if (class /= MPI_ERR_RANK .or. len_trim(text) /= n) call wrong('an error')
  call MPI_Comm_free(comm, ierr)
  if (deletions /= 2) call wrong('the procedure that deletes attributes')

  call MPI_Sizeof(most, n, ierr)
  call MPI_Sizeof(one, class, ierr)
  if (n /= 8 .or. class /= 8) call wrong('MPI_Sizeof')
  bytes = 80
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, at, win, ierr)
  call c_f_pointer(at, given, [10])
  given = -1
  bytes = 2
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(most, 3, MPI_REAL8, mod(rank + 1, ranks), bytes, 3, MPI_REAL8, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  if (any(given(3:5) /= most) .or. given(6) /= -1) call wrong('MPI_Put')
  call MPI_Win_free(win, ierr)
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize(ierr)
end program
