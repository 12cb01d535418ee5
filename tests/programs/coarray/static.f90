! SPDX-License-Identifier: BSD-3-Clause
! Coarrays of several modules are there before the main program, with what they were initialised to;
! their order in memory is the same on all images.
module first
  implicit none
  integer, save :: numbers(5)[*] = [1, 2, 3, 4, 5]
  type pair
    integer :: a = 11
    real(8) :: b = 2.5_8
  end type
  type(pair), save :: pairs(3)[*]
end module

module second
  implicit none
  character(12), save :: name[*] = 'nobody'
  logical(1), save :: flags(7)[*] = .true.
  complex(8), save :: empty(0)[*]
  real(16), save :: wide[2, *] = 1.25_16
end module

program static
  use check
  use first
  use second
  implicit none
  integer, save :: corner(-2:2, 3)[0:1, 3:*]
  integer, allocatable :: grid(:, :)[:, :], none(:)[:]
  character(7) :: word
  integer :: me, n

  me = this_image()
  n = num_images()
  call expect(all(numbers == [1, 2, 3, 4, 5]), 'initialised array')
  call expect(all(pairs%a == 11) .and. all(pairs%b == 2.5_8), 'default initialised')
  call expect(name == 'nobody' .and. all(flags) .and. wide == 1.25_16, 'initialised scalars')
  call expect(all(numbers(:)[after(1)] == [1, 2, 3, 4, 5]), 'initialised on the neighbour')
  call expect(pairs(3)[after(1)]%b == 2.5_8, 'default initialised on the neighbour')
  call expect(name[after(1)] == 'nobody', 'text on the neighbour')
  call expect(size(empty) == 0, 'empty')
  sync all

  pairs(2)[after(1)]%a = me
  word = 'image ' // achar(48 + me)  ! gfortran 12 gives the length 0 to an expression
  name[after(1)] = word
  flags(3)[after(1)] = .false.
  wide[merge(1, 2, mod(after(1), 2) == 1), (after(1) + 1) / 2] = me
  sync all
  call expect(pairs(2)%a == before(1) .and. pairs(1)%a == 11 .and. pairs(3)%a == 11, 'component')
  call expect(name == 'image ' // achar(48 + before(1)), 'text')
  call expect(count(flags) == 6 .and. .not. flags(3), 'one flag')
  call expect(wide == before(1), 'two codimensions')

  ! Bounds and images of codimensions.
  call expect(image_index(corner, [0, 3]) == 1, 'first of the codimensions')
  call expect(all(lcobound(corner) == [0, 3]), 'lower cobounds')
  call expect(this_image(corner, 1) == mod(me - 1, 2), 'first cosubscript')
  call expect(this_image(corner, 2) == 3 + (me - 1) / 2, 'second cosubscript')
  corner = me
  sync all
  call expect(all(corner(:, :)[mod(after(1) - 1, 2), 3 + (after(1) - 1) / 2] == after(1)), 'by them')
  sync all

  allocate (grid(4, 0:3)[2:3, *], none(0)[*])
  grid = 10 * me
  sync all
  call expect(all(grid(:, 2)[mod(after(1) - 1, 2) + 2, 1 + (after(1) - 1) / 2] == 10 * after(1)), &
    'allocatable with codimensions')
  sync all
  deallocate (grid, none)
  call again(3)
  call again(5)
  call expect(n == num_images(), 'as many as before')
  call finish()

contains

  ! Automatic release at the end, and allocation again with another size.
  subroutine again(extent)
    integer, intent(in) :: extent
    real, allocatable :: local(:)[:]
    integer, save :: kept[*] = 0
    integer :: error
    character(60) :: text
    error = 5
    allocate (local(extent * 1000)[*], stat=error, errmsg=text)
    call expect(error == 0, 'stat of allocate')
    local = extent + me
    kept = kept + 1
    sync all
    call expect(local(extent * 1000)[after(1)] == extent + after(1), 'allocated again')
    call expect(kept[after(1)] == merge(1, 2, extent == 3), 'a saved coarray of a procedure')
    sync all
    if (extent == 5) then
      deallocate (local, stat=error, errmsg=text)
      call expect(error == 0, 'stat of deallocate')
      call expect(.not. allocated(local), 'released')
    end if
  end subroutine
end program
