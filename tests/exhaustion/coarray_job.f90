! SPDX-License-Identifier: BSD-3-Clause
! Coarrays that are allocated, read, written and reduced; a lock, an event, a team.
program coarray_job
  use, intrinsic :: iso_fortran_env
  implicit none
  type box
    integer, allocatable :: inside(:)
  end type
  integer, allocatable :: a(:)[:], r(:)
  type(box), allocatable :: b[:]
  type(lock_type) :: guard[*]
  type(event_type) :: ready[*]
  type(team_type) :: half
  integer :: me, next, total, bad
  me = this_image()
  next = merge(1, me + 1, me == num_images())
  bad = 0
  allocate(a(1000)[*], b[*])
  a = me
  allocate(b%inside(10 * me))
  b%inside = me
  sync all
  r = a(::3)[next]
  if (any(r /= next)) bad = bad + 1
  r = b[next]%inside
  if (size(r) /= 10 * next .or. any(r /= next)) bad = bad + 1
  sync all
  a(1:10)[next] = me
  sync all
  lock (guard[1])
  a(20)[1] = a(20)[1] + 1
  unlock (guard[1])
  event post (ready[next])
  event wait (ready)
  total = me
  call co_sum(total)
  if (total /= num_images() * (num_images() + 1) / 2) bad = bad + 1
  form team (1 + mod(me, 2), half)
  change team (half)
    sync all
  end team
  deallocate(a, b)
  call co_sum(bad)
  if (me == 1) print '(a)', trim(merge('good ', 'wrong', bad == 0))
end program
