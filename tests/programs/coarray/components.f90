! SPDX-License-Identifier: BSD-3-Clause
! Components that are allocatable or pointers: read and written on another image, whose bounds and
! memory are known to that image only; nested ones; pointers to ordinary memory; ALLOCATED of them.
module kinds
  implicit none
  type leaf
    integer, allocatable :: values(:)
    real(8), pointer :: seen(:) => null()
    integer :: number = 0
  end type
  type twig
    integer :: tag = 0
    real(8), allocatable :: table(:, :)
  end type
  type tree
    integer :: tag = 0
    real(8), allocatable :: table(:, :)
    integer, allocatable :: one
    type(leaf) :: leaves(3)
    type(leaf), allocatable :: more(:)
  end type
end module

program components
  use check
  use kinds
  implicit none
  type(tree), save :: here[*]
  type(twig), allocatable :: several(:)[:]
  real(8), allocatable, target :: private(:)
  real(8), target :: fixed(5)
  real(8) :: row(4), got
  integer, allocatable :: list(:)
  integer :: i, k, me, extent, next

  me = this_image()
  next = after(1)
  extent = 2 + me  ! each image has another size
  call expect(.not. allocated(here[next]%table), 'not allocated yet')
  sync all
  allocate (here%table(4, extent), here%one)
  allocate (here%leaves(2)%values(-1:extent))
  do i = 1, extent
    here%table(:, i) = [1, 2, 3, 4] * 10 + i + 1000 * me
  end do
  here%one = me
  here%tag = 50 + me
  here%leaves(2)%values = [(i, i=-1, extent)] * me
  here%leaves(1)%number = 5
  sync all

  call expect(allocated(here[next]%table), 'allocated on the neighbour')
  call expect(here[next]%tag == 50 + next, 'an ordinary component')
  call expect(here[next]%one == next, 'an allocatable scalar')
  call expect(here[next]%table(3, 2 + next) == 32 + next + 1000 * next, 'the last column of its table')
  row = here[next]%table(:, 2)
  call expect(all(row == [12, 22, 32, 42] + 1000 * next), 'a column')
  row(1:3) = here[next]%table(4:2:-1, 1)
  call expect(all(row(1:3) == [41, 31, 21] + 1000 * next), 'backwards')
  row(1:2) = here[next]%table(2, 1:3:2)
  call expect(all(row(1:2) == [21, 23] + 1000 * next), 'a row')
  call expect(here[next]%leaves(2)%values(-1) == -next, 'an element with its own lower bound')
  list = here[next]%leaves(2)%values(0:2)
  call expect(size(list) == 3 .and. all(list == [0, 1, 2] * next), 'nested, into an allocatable')
  sync all

  here[next]%table(1, 1) = -1
  here[next]%table(:, 2) = [5d0, 6d0, 7d0, 8d0]
  here[next]%table(2:4:2, 3) = 0.5d0
  here[next]%one = 100 + me
  here[next]%leaves(2)%values(1:2) = [me, -me]
  sync all
  call expect(here%table(1, 1) == -1 .and. here%table(2, 1) == 21 + 1000 * me, 'an element is put')
  call expect(all(here%table(:, 2) == [5, 6, 7, 8]), 'a column is put')
  call expect(here%table(2, 3) == 0.5d0 .and. here%table(4, 3) == 0.5d0, 'a scalar for a section')
  call expect(here%table(3, 3) == 33 + 1000 * me, 'between them nothing has changed')
  call expect(here%one == 100 + before(1), 'an allocatable scalar is put')
  call expect(all(here%leaves(2)%values(1:2) == before(1) * [1, -1]), 'nested, put')
  sync all

  ! Pointers to memory that no other image knows of: from the heap, of a variable, of a section.
  allocate (private(100))
  private = [(i + 1000 * me, i=1, 100)]
  fixed = 7 * me
  here%leaves(1)%seen => private
  here%leaves(2)%seen => fixed
  here%leaves(3)%seen => private(10:100:10)
  sync all
  got = here[next]%leaves(1)%seen(40)
  call expect(got == 40 + 1000 * next, 'through a pointer to private memory')
  row = here[next]%leaves(1)%seen(2:8:2)
  call expect(all(row == [2, 4, 6, 8] + 1000 * next), 'a section of it')
  call expect(here[next]%leaves(2)%seen(5) == 7 * next, 'of a variable')
  call expect(here[next]%leaves(3)%seen(3) == 30 + 1000 * next, 'of a section')
  sync all
  here[next]%leaves(1)%seen(51) = -me
  here[next]%leaves(1)%seen(61:64) = [1d0, 2d0, 3d0, 4d0] * me
  here[next]%leaves(2)%seen(2) = -me
  sync all
  call expect(private(51) == -before(1) .and. private(52) == 52 + 1000 * me, 'put by a pointer')
  call expect(all(private(61:64) == [1, 2, 3, 4] * before(1)), 'a section is put by a pointer')
  call expect(fixed(2) == -before(1) .and. fixed(3) == 7 * me, 'a variable is put by a pointer')
  sync all

  ! Many single elements in one segment: what this image puts it sees at once, what the owner
  ! assigned after the synchronisation.
  do k = 1, 3
    private = [(i + 1000 * me + k, i=1, 100)]
    sync all
    do i = 5, 9
      call expect(here[next]%leaves(1)%seen(i) == i + 1000 * next + k, 'after a synchronisation')
    end do
    here[next]%leaves(1)%seen(7) = -k
    call expect(here[next]%leaves(1)%seen(7) == -k, 'its own put by a pointer')
    call expect(here[next]%leaves(1)%seen(8) == 8 + 1000 * next + k, 'beside its own put')
    sync all
    call expect(private(7) == -k .and. private(8) == 8 + 1000 * me + k, 'what the other one put')
  end do
  sync all

  ! An array of a type with components.
  allocate (several(2)[*])
  allocate (several(2)%table(2, 2))
  several(2)%table = me
  several%tag = [1, 2] * me
  sync all
  call expect(all(several(:)[next]%tag == [1, 2] * next), 'a component of all elements')
  call expect(several(2)[next]%table(2, 1) == next, 'of an element of an allocatable coarray')
  call expect(.not. allocated(several(1)[next]%table), 'the other element has none')
  call expect(allocated(several(2)[next]%table), 'this one has')
  sync all

  ! From one image's component to another's.
  several(2)%table(2, :) = [2, 3] * me
  allocate (several(1)%table(2, 2))
  several(1)%table = 0
  sync all
  several(1)[next]%table(:, 2) = several(2)[before(1)]%table(2, :)
  several(1)[next]%table(2, 1) = several(2)[before(1)]%table(1, 1)
  sync all
  call expect(all(several(1)%table(:, 2) == [2, 3] * before(2)), 'a section from image to image')
  call expect(several(1)%table(2, 1) == before(2), 'an element from image to image')
  call expect(several(1)%table(1, 1) == 0, 'beside it nothing has changed')
  sync all

  ! Released, and allocated again elsewhere with another size.
  deallocate (here%table)
  sync all
  call expect(.not. allocated(here[next]%table), 'released on the neighbour')
  sync all
  allocate (here%table(2, 50 * me))
  here%table = 3 * me
  sync all
  call expect(here[next]%table(2, 50 * next) == 3 * next, 'allocated again on the neighbour')
  sync all
  deallocate (several)
  call finish()
end program
