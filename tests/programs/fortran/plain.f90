! SPDX-License-Identifier: BSD-3-Clause
! Module mpi: any buffer, explicit interfaces, types of mpi_f08 beside it.
module helpers
  use mpi
  implicit none
  integer :: errors = 0
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    integer :: ierr
    print '(a)', 'wrong: ' // what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
  subroutine on_error(comm, code)
    integer :: comm, code
    errors = errors + 1
  end subroutine
  subroutine longest(a, b, n, datatype)
    integer :: n, datatype
    real(8) :: a(n), b(n)
    if (datatype /= MPI_DOUBLE_PRECISION) call wrong('the datatype of an operation')
    b = max(a, b)
  end subroutine
end module

program plain
  use helpers
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, ranks, ierr, n, op, handler, status(MPI_STATUS_SIZE), datatype
  integer(MPI_ADDRESS_KIND) :: address, lower, extent
  real(8) :: matrix(6, 5), row(5), most
  real(8), pointer :: given(:)
  type(c_ptr) :: at
  type(MPI_Status) :: new_status
  type(MPI_Comm) :: typed
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Get_processor_name(name, n, ierr)
  if (len_trim(name) /= n) call wrong('MPI_Get_processor_name')

  ! A section goes through a temporary, which a blocking call allows.
  matrix = rank
  call MPI_Sendrecv(matrix(2, :), 5, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 4, row, 5, &
      MPI_REAL8, mod(rank + ranks - 1, ranks), 4, MPI_COMM_WORLD, status, ierr)
  if (any(row /= mod(rank + ranks - 1, ranks))) call wrong('a row')
  call MPI_Get_count(status, MPI_REAL8, n, ierr)
  if (n /= 5 .or. status(MPI_TAG) /= 4) call wrong('a status')
  call MPI_Status_f2f08(status, new_status, ierr)
  if (new_status%MPI_TAG /= 4) call wrong('MPI_Status_f2f08')
  call MPI_Status_f082f(new_status, status, ierr)
  if (status(MPI_SOURCE) /= mod(rank + ranks - 1, ranks)) call wrong('MPI_Status_f082f')

  call MPI_Op_create(longest, .true., op, ierr)
  call MPI_Allreduce(real(rank, 8), most, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
  if (most /= ranks - 1) call wrong('a user operation')
  call MPI_Op_free(op, ierr)

  call MPI_Comm_create_errhandler(on_error, handler, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
  call MPI_Send(1, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierr)
  if (errors /= 1) call wrong('an error handler')

  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, at, ierr)
  call c_f_pointer(at, given, [10])
  given = 1
  call MPI_Free_mem(given, ierr)
  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierr)
  if (address == 0) call wrong('MPI_Alloc_mem')

  call MPI_Sizeof(most, n, ierr)
  if (n /= 8) call wrong('MPI_Sizeof of a scalar')
  call MPI_Sizeof(cmplx(row, kind=8), n, ierr)
  if (n /= 16) call wrong('MPI_Sizeof of an array')
  call MPI_Type_create_f90_real(15, 300, datatype, ierr)
  call MPI_Type_get_extent(datatype, lower, extent, ierr)
  if (extent /= 8) call wrong('MPI_Type_create_f90_real')
  typed = MPI_Comm(MPI_COMM_WORLD)
  if (.not. typed == MPI_Comm(MPI_COMM_WORLD) .or. typed /= MPI_Comm(MPI_COMM_WORLD)) &
    call wrong('operators on handles')
  if (MPI_Aint_diff(MPI_Aint_add(1000_MPI_ADDRESS_KIND, 24_MPI_ADDRESS_KIND), &
      1000_MPI_ADDRESS_KIND) /= 24) call wrong('arithmetic of addresses')
  if (PMPI_Wtime() <= 0 .or. MPI_Wtick() <= 0) call wrong('clocks')
  if (rank == 0) print '(a)', 'good'
  call MPI_Finalize(ierr)
end program
