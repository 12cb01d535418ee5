! SPDX-License-Identifier: BSD-3-Clause
! Atomic subroutines on one's own and on another image's variables, scalars and array elements, with
! values of other kinds, and a flag that is watched while it changes.
program atomics
  use check
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: ik = atomic_int_kind, lk = atomic_logical_kind
  integer(ik), save :: word[*] = 0, words(0:9)[*] = 0
  logical(lk), save :: flag[*] = .false.
  integer(ik), allocatable :: made(:)[:]
  integer(ik) :: value, old, mask, seen
  integer(8) :: wide
  logical(lk) :: truth, was
  integer :: i, me, n, error

  me = this_image()
  n = num_images()
  do i = 1, 200
    call atomic_add(word[1], 1)
    call atomic_add(words(mod(i, 10))[n], me)
  end do
  sync all
  if (me == 1) call expect(word == 200 * n, 'additions of all are counted')
  if (me == n) call expect(all(words == 20 * (n * (n + 1) / 2)), 'additions to elements')
  sync all

  word = 0
  sync all
  mask = 0
  do i = 1, 100
    call atomic_fetch_add(word[1], 1, old)
    call expect(old >= 0 .and. old < 100 * n .and. (i == 1 .or. old > mask), 'tickets go up')
    mask = old
  end do
  sync all
  call atomic_ref(value, word[1])
  call expect(value == 100 * n, 'the last ticket')
  sync all

  call atomic_define(word[after(1)], 5 + me)
  sync all
  call atomic_ref(value, word)
  call expect(value == 5 + before(1), 'define and ref')
  call atomic_ref(wide, word[after(1)], stat=error)
  call expect(wide == 5 + me .and. error == 0, 'ref to a value of another kind')
  sync all
  call atomic_define(word, 7_8)
  call atomic_or(word, 8)
  call atomic_and(word, 12)
  call atomic_xor(word, 5)
  call expect(word == 9, 'or, and, xor')
  call atomic_fetch_or(word, 6, old)
  call expect(old == 9 .and. word == 15, 'fetch or')
  call atomic_fetch_and(word, 10, old)
  call expect(old == 15 .and. word == 10, 'fetch and')
  call atomic_fetch_xor(word, 3, old, stat=error)
  call expect(old == 10 .and. word == 9 .and. error == 0, 'fetch xor')
  call atomic_cas(word, old, 9, 21)
  call expect(old == 9 .and. word == 21, 'cas that succeeds')
  call atomic_cas(word, old, 9, 22)
  call expect(old == 21 .and. word == 21, 'cas that fails')
  sync all

  ! A lock made of cas: exclusion without any other statement.
  word = 0
  words = 0
  sync all
  do i = 1, 50
    do
      call atomic_cas(word[1], old, 0, me)
      if (old == 0) exit
    end do
    sync memory
    seen = words(1)[1]  ! gfortran 15 would take its own in one statement
    words(1)[1] = seen + 1
    sync memory
    call atomic_define(word[1], 0)
  end do
  sync all
  if (me == 1) call expect(words(1) == 50 * n, 'a lock made of cas')

  ! Logical flags, passed round the ring while others watch.
  do i = 1, 20
    truth = mod(i, 2) == 1
    if (me == 1) call atomic_define(flag[after(1)], truth)
    do
      call atomic_ref(was, flag)
      if (was .eqv. truth) exit
    end do
    if (me /= 1) call atomic_define(flag[after(1)], truth)
  end do
  sync all
  call atomic_cas(flag, was, .false._lk, .true._lk)
  call expect((.not. was) .and. flag, 'cas of a flag')

  allocate (made(5)[*])
  made = 0
  sync all
  call atomic_add(made(4)[after(1)], me)
  sync all
  call expect(made(4) == before(1) .and. sum(made) == before(1), 'element of an allocatable')
  deallocate (made)
  call finish()
end program
