! SPDX-License-Identifier: BSD-3-Clause
! Attributes that one language sets and the other reads, as MPI-5.0 section 19.3.7 wants it; the
! conversions of handles and statuses that C has for Fortran. On Sinew's libmpi_abi alone.
program languages
  use mpi
  implicit none
  integer, external :: reads_in_c, seen_in_c, statuses
  integer(MPI_ADDRESS_KIND), external :: address_in_c
  external :: sets_in_c, key_of_c
  integer :: rank, key, old_key, key_in_c, there, twin, ierr, status(MPI_STATUS_SIZE), value
  integer(MPI_ADDRESS_KIND) :: wide
  logical :: found
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, there, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old_key, 0, ierr)
  call key_of_c(key_in_c)

  call MPI_Comm_set_attr(there, key, shiftl(7_MPI_ADDRESS_KIND, 33), ierr)
  call MPI_Attr_put(there, old_key, -9, ierr)
  call expect(reads_in_c(there, key, old_key) == 0, 'Fortran sets, C reads')
  call MPI_Comm_get_attr(there, old_key, wide, found, ierr)
  call expect(found .and. wide == -9, 'an old value is extended by its sign')

  call MPI_Comm_set_attr(there, key_in_c, 21_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_dup(there, twin, ierr)
  call expect(reads_in_c(twin, key, old_key) == 0, 'copies keep their language')
  call MPI_Comm_get_attr(twin, key_in_c, wide, found, ierr)
  call expect(found .and. wide == 21, 'a copy by a function of C')
  call MPI_Comm_free(twin, ierr)
  call expect(seen_in_c() == 11, 'functions of C see Fortran''s values')

  call sets_in_c(there, key)
  call MPI_Comm_get_attr(there, key, wide, found, ierr)
  call expect(found .and. wide == address_in_c(), 'C sets, Fortran reads')
  call MPI_Comm_get_attr(there, MPI_TAG_UB, wide, found, ierr)
  call expect(found .and. wide >= 32767, 'MPI''s own attributes are the integers')
  call MPI_Comm_free(there, ierr)
  call expect(seen_in_c() == 12, 'the delete function of C')

  value = rank
  call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, rank, 5, rank, 5, MPI_COMM_WORLD, status, ierr)
  call expect(statuses(status) == 0, 'statuses')
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize(ierr)
contains
  subroutine expect(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (.not. is) then
      print '(2a)', 'wrong: ', what
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine
end program
