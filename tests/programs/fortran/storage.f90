! SPDX-License-Identifier: BSD-3-Clause
! Windows, files and requests of one's own from mpi_f08: sections as buffers, addresses that come
! back, procedures in Fortran that C calls.
module own
  use mpi_f08
  implicit none
  integer :: errors = 0, converted = 0, queried = 0, freed = 0
contains
  subroutine on_win_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    errors = errors + 1
  end subroutine

  subroutine on_file_error(file, code)
    type(MPI_File) :: file
    integer :: code
    errors = errors + 10
  end subroutine

  ! Elements lie in the file with all bits turned over.
  subroutine read_over(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: inside(:), outside(:)
    call c_f_pointer(userbuf, inside, [int(position) + count])
    call c_f_pointer(filebuf, outside, [count])
    inside(int(position) + 1:int(position) + count) = not(outside)
    if (extra_state == 17) converted = converted + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine write_over(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: inside(:), outside(:)
    call c_f_pointer(userbuf, inside, [int(position) + count])
    call c_f_pointer(filebuf, outside, [count])
    outside = not(inside(int(position) + 1:int(position) + count))
    if (extra_state == 17) converted = converted + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_over(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lower
    integer :: ierror
    call MPI_Type_get_extent(datatype, lower, extent)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = MPI_UNDEFINED
    status%MPI_TAG = 3
    queried = queried + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_it(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel_it(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program storage
  use own
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer, parameter :: n = 12
  integer :: rank, ranks, right, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(rank + 1, ranks)
  call windows()
  call files()
  call requests()
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize()
contains

  subroutine windows()
    type(MPI_Win) :: win
    type(MPI_Errhandler) :: handler
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: mine(n, n), back(n, n), code
    logical :: found
    call MPI_Win_allocate(int(4 * n, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [n])
    memory = -1
    mine = reshape([(i + 1000 * rank, i = 1, n * n)], [n, n])
    call MPI_Win_fence(0, win)
    call MPI_Put(mine(3, :), n, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(memory == mine(3, :) - 1000 * rank + 1000 * mod(rank + ranks - 1, ranks)), &
        'a row was put')
    back = 0
    call MPI_Get(back(n:1:-1, 2), n, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(back(n:1:-1, 2) == mine(3, :)), 'got into a section from its end')
    call expect(sum(back) == sum(mine(3, :)), 'nothing beside the section')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, found)
    call expect(found .and. bytes == 4 * n, 'MPI_WIN_SIZE')
    call MPI_Win_create_errhandler(on_win_error, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Put(mine, 1, MPI_INTEGER, ranks, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
    call expect(code /= MPI_SUCCESS .and. errors == 1, 'a window''s error handler')
    call MPI_Errhandler_free(handler)
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
  end subroutine

  subroutine files()
    type(MPI_File) :: file
    type(MPI_Errhandler) :: handler
    type(MPI_Status) :: status
    integer :: mine(n, n), back(n, n), code, many
    character(60) :: name
    character(MPI_MAX_DATAREP_STRING) :: datarep
    integer(MPI_OFFSET_KIND) :: place
    type(MPI_Datatype) :: etype, filetype
    write (name, '(a,i0,a)') 'storage.', ranks, '.data'
    mine = reshape([(i + 1000 * rank, i = 1, n * n)], [n, n])
    call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_RDWR, MPI_MODE_CREATE), MPI_INFO_NULL, file)
    place = 4 * n * rank
    call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_write_all(file, mine(5, :), n, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, many)
    call expect(many == n, 'written')
    back = 0
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, back(:, 7), n, MPI_INTEGER, status)
    call expect(all(back(:, 7) == mine(5, :)), 'a row came back as a column')
    call MPI_Register_datarep('turned over', read_over, write_over, extent_over, &
        17_MPI_ADDRESS_KIND)
    call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'turned over', MPI_INFO_NULL)
    call MPI_File_get_view(file, place, etype, filetype, datarep)
    call expect(datarep == 'turned over', 'MPI_File_get_view')
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, mine(:, 1), n, MPI_INTEGER, status)
    back = 0
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, back(:, 1), n, MPI_INTEGER, status)
    call expect(all(back(:, 1) == mine(:, 1)), 'through the representation and back')
    call expect(converted == 2 * n, 'every element was converted once each way')
    call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, back(:, 1), n, MPI_INTEGER, status)
    call expect(all(not(back(:, 1)) == mine(:, 1)), 'the file has it turned over')
    call MPI_File_create_errhandler(on_file_error, handler)
    call MPI_File_set_errhandler(file, handler)
    call MPI_File_read_at(file, -5_MPI_OFFSET_KIND, back, 1, MPI_INTEGER, status, code)
    call expect(code /= MPI_SUCCESS .and. errors == 11, 'a file''s error handler')
    call MPI_Errhandler_free(handler)
    call MPI_File_close(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL)
  end subroutine

  subroutine requests()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: many
    call MPI_Grequest_start(query, free_it, cancel_it, 5_MPI_ADDRESS_KIND, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, many)
    call expect(many == 5 .and. status%MPI_TAG == 3, 'the status of a generalized request')
    call expect(queried == 1 .and. freed == 1, 'its procedures were called once')
  end subroutine

  subroutine expect(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (is) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
