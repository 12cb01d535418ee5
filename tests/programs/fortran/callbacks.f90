! SPDX-License-Identifier: BSD-3-Clause
! Procedures in Fortran that MPI calls, by mpi_f08: operations, error handlers, attributes.
module procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: errors = 0, copies = 0, deletions = 0, last_error = MPI_SUCCESS
  integer(MPI_ADDRESS_KIND) :: last_state = 0
  logical :: refuses = .true.
  type(MPI_Comm) :: last_comm = MPI_COMM_NULL
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Composition of x -> a x + b, which does not commute, of a datatype of the program's own.
  subroutine compose(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: first(:, :), second(:, :)
    integer :: i, bytes
    call MPI_Type_size(datatype, bytes)
    if (bytes /= 8) call wrong('the datatype of a user operation')
    call c_f_pointer(invec, first, [2, len])
    call c_f_pointer(inoutvec, second, [2, len])
    do i = 1, len
      second(2, i) = mod(second(1, i) * first(2, i) + second(2, i), 10007)
      second(1, i) = mod(first(1, i) * second(1, i), 10007)
    end do
  end subroutine

  subroutine on_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    errors = errors + 1
    last_error = error_code
    last_comm = comm
  end subroutine

  subroutine copy_it(oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    last_state = extra_state
    attribute_val_out = attribute_val_in + 1
    flag = mod(attribute_val_in, 2_MPI_ADDRESS_KIND) == 0
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_it(comm, keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    extra_state = extra_state + 1
    ierror = MPI_SUCCESS
    if (attribute_val == 666 .and. refuses) ierror = MPI_ERR_OTHER
  end subroutine

  subroutine copy_of_type(oldtype, keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
                          ierror)
    type(MPI_Datatype) :: oldtype
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * 2
    flag = oldtype /= MPI_DATATYPE_NULL
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use procedures
  implicit none
  integer :: rank, ranks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call operations()
  call handlers()
  call attributes()
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
contains
  subroutine operations()
    type(MPI_Datatype) :: two
    type(MPI_Op) :: op
    logical :: commutes
    integer :: mine(2, 3), all(2, 3), want(2), i
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Op_create(compose, .false., op)
    call MPI_Op_commutative(op, commutes)
    if (commutes) call wrong('MPI_Op_commutative')
    mine = reshape([(rank + 2, i = 1, 6)], [2, 3])
    call MPI_Allreduce(mine, all, 3, two, op, MPI_COMM_WORLD)
    want = 2
    do i = 1, ranks - 1
      want = [mod(want(1) * (i + 2), 10007), mod((i + 2) * want(2) + (i + 2), 10007)]
    end do
    if (any(all /= spread(want, 2, 3))) call wrong('a user operation')
    call MPI_Op_free(op)
    if (op /= MPI_OP_NULL) call wrong('MPI_Op_free')
    do i = 1, 1000  ! one procedure, many operations
      call MPI_Op_create(compose, .true., op)
      call MPI_Op_free(op)
    end do
    call MPI_Type_free(two)
  end subroutine

  subroutine handlers()
    type(MPI_Errhandler) :: handler, there
    type(MPI_Comm) :: own
    integer :: code, class
    call MPI_Comm_dup(MPI_COMM_WORLD, own)
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_set_errhandler(own, handler)
    call MPI_Comm_get_errhandler(own, there)
    if (there /= handler) call wrong('MPI_Comm_get_errhandler')
    call MPI_Send(rank, 1, MPI_INTEGER, ranks + 5, 0, own, code)
    call MPI_Error_class(last_error, class)
    if (errors /= 1 .or. class /= MPI_ERR_RANK) call wrong('an error handler')
    if (last_comm /= own) call wrong('the communicator of an error handler')
    call MPI_Send(rank, 1, MPI_INTEGER, ranks + 5, 0, own)  ! without ierror
    if (errors /= 2) call wrong('an error handler without ierror')
    call MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks + 5, 0, own, code)
    call MPI_Error_class(code, class)
    if (errors /= 2 .or. class /= MPI_ERR_RANK) call wrong('ierror')
    call MPI_Errhandler_free(handler)
    call MPI_Errhandler_free(there)
    call MPI_Comm_free(own)
    if (own /= MPI_COMM_NULL) call wrong('MPI_Comm_free')
  end subroutine

  subroutine attributes()
    integer :: key, dup_key, type_key, code
    integer(MPI_ADDRESS_KIND) :: value, state
    logical :: found
    type(MPI_Comm) :: one, two
    type(MPI_Datatype) :: datatype, twin
    state = 42
    call MPI_Comm_create_keyval(copy_it, delete_it, key, state)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, state)
    call MPI_Comm_dup(MPI_COMM_SELF, one)
    call MPI_Comm_get_attr(one, key, value, found)
    if (found) call wrong('an attribute that is not there')
    value = -8
    call MPI_Comm_set_attr(one, key, value)
    value = huge(value)
    call MPI_Comm_set_attr(one, dup_key, value)
    call MPI_Comm_dup(one, two)
    if (copies /= 1 .or. last_state /= 42) call wrong('the copy procedure')
    call MPI_Comm_get_attr(two, key, value, found)
    if (.not. found .or. value /= -7) call wrong('a copied attribute')
    call MPI_Comm_get_attr(two, dup_key, value, found)
    if (.not. found .or. value /= huge(value)) call wrong('MPI_COMM_DUP_FN')
    deletions = 0
    call MPI_Comm_free(two)
    if (deletions /= 1) call wrong('the delete procedure')
    value = 666
    call MPI_Comm_set_attr(one, key, value)
    call MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN)
    call MPI_Comm_delete_attr(one, key, code)
    if (code == MPI_SUCCESS) call wrong('a delete procedure that fails')
    refuses = .false.
    value = 1
    call MPI_Comm_set_attr(one, key, value)
    call MPI_Comm_free(one)
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(dup_key)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found)
    if (.not. found .or. value < 32767) call wrong('MPI_TAG_UB')

    call MPI_Type_create_keyval(copy_of_type, MPI_TYPE_NULL_DELETE_FN, type_key, state)
    call MPI_Type_contiguous(3, MPI_REAL, datatype)
    value = 21
    call MPI_Type_set_attr(datatype, type_key, value)
    call MPI_Type_dup(datatype, twin)
    call MPI_Type_get_attr(twin, type_key, value, found)
    if (.not. found .or. value /= 42) call wrong('the attribute of a datatype')
    call MPI_Type_free(datatype)
    call MPI_Type_free(twin)
    call MPI_Type_free_keyval(type_key)
  end subroutine
end program
