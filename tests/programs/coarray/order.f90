! SPDX-License-Identifier: BSD-3-Clause
! What a program may rely on inside a segment: an image sees its own puts, a source may be changed
! as soon as the statement is over, and all has arrived after the next synchronisation.
program order
  use check
  implicit none
  integer, parameter :: most = 200000
  integer, save :: word[*]
  real(8), save :: field(most)[*]
  real(8), allocatable :: source(:), back(:)
  real(8) :: seen
  integer :: i, n, sizes(9) = [1, 3, 8, 100, 512, 4096, 20000, 65536, most]

  allocate (source(most), back(most))
  do i = 1, 200
    word[after(1)] = i
    call expect(word[after(1)] == i, 'an image sees its own put')
  end do
  sync all
  do i = 1, size(sizes)
    n = sizes(i)
    source(:n) = this_image() + i
    field(:n)[after(1)] = source(:n)
    source(:n) = -1  ! the put must have read it
    back(:n) = field(:n)[after(1)]
    call expect(all(back(:n) == this_image() + i), 'its own put of an array')
    sync all
    call expect(all(field(:n) == before(1) + i), 'what was there when the statement began')
    sync all
  end do
  ! Strided, then contiguous over it, then single elements: the last one wins.
  field = 0
  sync all
  field(1:1000:2)[after(1)] = 1
  field(1:1000)[after(1)] = 2
  field(500)[after(1)] = 3
  do i = 1, 1000
    seen = field(i)[after(1)]  ! gfortran 15 would take its own in one statement
    field(i)[after(1)] = seen + 1
  end do
  sync all
  call expect(all(field(1:499) == 3) .and. field(500) == 4, 'puts keep their order')
  call finish()
end program
