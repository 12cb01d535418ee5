! SPDX-License-Identifier: BSD-3-Clause
! Barriers, pairs, memory; their stat and errmsg; critical sections. Each order that a statement
! promises is used to carry data, many times over.
program synchronise
  use check
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: rounds = 500
  integer, save :: box[*], many(64)[*]
  integer, allocatable :: partners(:)
  integer :: i, error, me, n, total, seen
  character(60) :: text

  me = this_image()
  n = num_images()
  call expect(me >= 1 .and. me <= n, 'this image is one of them')
  many = 0

  do i = 1, rounds
    box[after(1)] = 1000 * i + me
    sync all
    call expect(box == 1000 * i + before(1), 'sync all carries')
    sync all
  end do

  ! Pairs in a ring: a token per neighbour, no barrier.
  partners = pack([before(1), after(1)], [.true., before(1) /= after(1)])
  do i = 1, rounds
    box[after(1)] = 7 * i + me
    sync images (partners)
    call expect(box == 7 * i + before(1), 'sync images carries')
    sync images (partners)
  end do

  ! One waits for all others, each of which waits for the one.
  do i = 1, rounds
    if (me == 1) then
      sync images (*)
      total = sum(many(1:n))
      call expect(total == i * n * (n + 1) / 2 - i, 'sync images(*) gathers')
      sync images (*)
    else
      many(me)[1] = i * me
      sync images (1)
      sync images (1)
    end if
  end do
  ! An image may wait for itself, and for nobody.
  sync images (me)
  sync images ([integer ::])

  ! Unequal numbers of waits must pair up in order: image 1 is two ahead at most.
  if (n > 1) then
    do i = 1, 5
      if (me == 1) sync images (2)
      if (me == 2) sync images (1)
    end do
  end if
  sync all

  ! A flag by volatile definition and SYNC MEMORY is tested in atomics.f90.
  sync memory
  error = 99
  text = 'untouched'
  sync all (stat=error, errmsg=text)
  call expect(error == 0, 'stat of sync all')
  call expect(text == 'untouched', 'errmsg of sync all stays without an error')
  error = 99
  sync memory (stat=error, errmsg=text)
  call expect(error == 0, 'stat of sync memory')
  error = 99
  sync images (partners, stat=error, errmsg=text)
  call expect(error == 0, 'stat of sync images')
  call expect(text == 'untouched', 'errmsg of sync images stays without an error')

  box = 0
  sync all
  do i = 1, 100
    critical
      seen = box[1]  ! gfortran 15 would take its own in one statement
      box[1] = seen + 1
    end critical
  end do
  sync all
  if (me == 1) call expect(box == 100 * n, 'critical excludes')
  sync all
  do i = 1, 20
    critical
      seen = box[n]
      box[n] = seen + 2
    end critical
    critical
      seen = many(1)[n]
      many(1)[n] = seen + 1
    end critical
  end do
  sync all
  call finish()
end program
