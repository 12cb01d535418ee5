! SPDX-License-Identifier: BSD-3-Clause
! Events: counts, waits for several, queries, arrays of events, and the data that a post covers.
program events
  use check
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: rounds = 300
  type(event_type), save :: ready[*], slots(3)[*]
  type(event_type), allocatable :: made(:)[:]
  integer, save :: box[*], ring(3)[*]
  integer :: i, k, error, count, me, n
  character(60) :: text

  me = this_image()
  n = num_images()
  call event_query(ready, count)
  call expect(count == 0, 'nothing posted yet')
  sync all

  ! Each hands a number to the next and waits for its own to be taken.
  do i = 1, rounds
    box[after(1)] = i * 10 + me
    event post (ready[after(1)])
    event wait (ready)
    call expect(box == i * 10 + before(1), 'a post covers the puts before it')
    sync all
  end do

  ! Three slots between producer and consumer.
  do k = 1, 3
    event post (slots(k)[before(1)])  ! free
  end do
  sync all
  allocate (made(0:2)[*])
  do i = 0, rounds - 1
    k = mod(i, 3)
    event wait (slots(k + 1))
    ring(k + 1)[after(1)] = i + me
    event post (made(k)[after(1)])
    event wait (made(k))
    call expect(ring(k + 1) == i + before(1), 'a ring of slots')
    event post (slots(k + 1)[before(1)])
  end do
  sync all
  do k = 1, 3
    call event_query(slots(k), count, stat=error)
    call expect(count == 1 .and. error == 0, 'one post is left in each slot')
  end do

  ! Everybody posts to everybody; one wait takes them all.
  do i = 1, n
    event post (ready[i], stat=error, errmsg=text)
    call expect(error == 0, 'stat of event post')
  end do
  event wait (ready, until_count=n, stat=error, errmsg=text)
  call expect(error == 0, 'stat of event wait')
  call event_query(ready, count)
  call expect(count == 0, 'all are taken')
  sync all
  do i = 1, 3
    event post (ready)
  end do
  event wait (ready, until_count=2)
  call event_query(ready, count)
  call expect(count == 1, 'until_count takes as many')
  event wait (ready)
  sync all
  call finish()
end program
