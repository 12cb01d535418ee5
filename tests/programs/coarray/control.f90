! SPDX-License-Identifier: BSD-3-Clause
! Random sequences of image control and collectives: all images of a team draw the same steps from
! one stream of numbers, and know from it what must come out. Images start each step at different
! times. The teams of a partition draw different steps.
!
! usage: control [SEED [STEPS [say]]]
module steps
  use check
  use, intrinsic :: iso_fortran_env, only: int64, team_type, lock_type, event_type, atomic_int_kind
  implicit none
  integer, parameter :: most = 64, slots = 600, deepest = 3
  type record
    integer, allocatable :: part(:)
  end type

  ! Coarrays of all teams. Those with a dimension of `most` have a column for each first image.
  integer, save :: field(slots, most)[*], marks(4 * most)[*], tally(3)[*]
  integer(8), save :: box(most)[*]
  ! What the neighbour has said before a statement. It is read before the same statement of the same
  ! level comes again, since its counterpart lies between: allocate and deallocate, of the first or
  ! the second coarray, or change team and end team of that depth.
  integer, parameter :: at_allocate = 1, at_deallocate = 2, at_change = 3, at_end = 4
  integer, save :: spoken(most, 4, 0:deepest)[*]
  type(record), save :: owned[*]
  type(lock_type), save :: guards(3)[*]
  type(event_type), save :: told(most)[*]
  ! By depth: END TEAM waits for the images of the inner team only, so that others may already post
  ! in the outer one.
  type(event_type), save :: gathered(0:deepest)[*]
  integer(atomic_int_kind), save :: cell[*], flags(most)[*]

  ! The current team: its images by their index in the first team.
  integer :: depth = 0, np = 0, im = 0, me = 0
  integer :: members(most, 0:deepest) = 0
  integer(int64) :: stream = 1, own = 1
  integer :: seen(most) = 0  ! flags that other images have raised for this one
  integer :: number = 0
  character(20) :: doing = ''
  logical :: verbose = .false.

contains

  ! --- numbers ---

  ! 0 to n - 1, the same for the whole team.
  integer function draw(n)
    integer, intent(in) :: n
    stream = mod(stream * 48271_int64, 2147483647_int64)
    draw = int(mod(stream / 8, int(n, int64)))
  end function

  ! The same, for this image alone.
  integer function pick(n)
    integer, intent(in) :: n
    own = mod(own * 48271_int64, 2147483647_int64)
    pick = int(mod(own / 8, int(n, int64)))
  end function

  ! Few, many, and numbers around the limits of lines and stages.
  integer function extent_of(bytes)
    integer, intent(in) :: bytes
    integer, parameter :: limits(4) = [56, 512, 65536, 65536]
    select case (draw(12))
    case (0:3)
      extent_of = 1 + draw(20)
    case (4:8)
      extent_of = max(1, limits(1 + draw(4)) / bytes - 2 + draw(5))
    case (9:10)
      extent_of = 1 + draw(40000 / bytes)
    case default
      extent_of = 1 + draw(merge(1600000, 300000, depth == 0 .and. draw(2) == 0) / bytes)
    end select
  end function

  subroutine drift()
    real(8), volatile :: x
    integer :: i, most_turns
    most_turns = 0
    if (pick(3) == 0) most_turns = 10**(1 + pick(5))
    if (most_turns > 0) most_turns = pick(most_turns)
    x = 1
    do i = 1, most_turns
      x = x * 0.5d0 + 1
    end do
  end subroutine

  subroutine expect_that(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    character(100) :: text
    if (good) return
    write (text, '(4a,i0,a,i0,a,i0)') trim(doing), ': ', what, ', step ', number, ', image ', me, &
      ' of the first team, depth ', depth
    call expect(good, trim(text))
  end subroutine

  ! --- who meets whom: if an image is in another one's list, that one is in its list ---

  subroutine draw_partners(list, count)
    integer, intent(out) :: list(most), count
    integer :: d, hub, i
    select case (draw(4))
    case (0)  ! a ring
      d = draw(np)
      list(1) = modulo(im - 1 - d, np) + 1
      list(2) = modulo(im - 1 + d, np) + 1
      count = merge(1, 2, list(1) == list(2))
    case (1)  ! pairs
      list(1) = np + 1 - im
      count = 1
    case (2)  ! one with all
      hub = 1 + draw(np)
      list(1:np) = [(i, i=1, np)]
      count = np
      if (im /= hub) then
        list(1) = hub
        count = 1
      end if
    case default
      list(1:np) = [(1 + mod(im + i, np), i=1, np)]
      count = np
    end select
  end subroutine

  ! Afterwards each has seen what its partners did before.
  subroutine meet(list, count)
    integer, intent(in) :: list(most), count
    integer :: i, error
    integer(atomic_int_kind) :: raised
    error = 0
    call drift()
    select case (draw(8))
    case (0)
      sync all
    case (1)
      sync all (stat=error)
    case (2, 3)
      sync images (list(1:count))
    case (4)
      sync images (*)
    case (5, 6)
      do i = 1, count
        event post (told(me)[list(i)])
      end do
      do i = count, 1, -1
        event wait (told(members(list(i), depth)))
      end do
    case default
      sync memory
      do i = 1, count
        call atomic_add(flags(me)[list(i)], 1)
      end do
      do i = 1, count
        seen(members(list(i), depth)) = seen(members(list(i), depth)) + 1
        do
          call atomic_ref(raised, flags(members(list(i), depth)))
          if (raised >= seen(members(list(i), depth))) exit
        end do
      end do
      sync memory
    end select
    call expect_that(error == 0, 'stat')
  end subroutine

  ! To the image whose index in the first team is `to`, a member of the current one.
  subroutine say(stamp, where, level, to)
    integer, intent(in) :: stamp, where, level, to
    spoken(me, where, level)[findloc(members(1:np, depth), to, 1)] = stamp
  end subroutine

  subroutine hear(stamp, where, level, from)
    integer, intent(in) :: stamp, where, level, from
    call expect_that(spoken(from, where, level) == stamp, 'what was said before')
  end subroutine

  ! In the team of that depth.
  integer function neighbour(steps, of_depth)
    integer, intent(in) :: steps, of_depth
    integer :: size, mine
    size = count(members(:, of_depth) /= 0)
    mine = findloc(members(:, of_depth), me, 1)
    neighbour = members(1 + modulo(mine - 1 + steps, size), of_depth)
  end function

  ! --- steps ---

  ! What `from` says to `to`.
  elemental integer function word(stamp, i, from, to)
    integer, intent(in) :: stamp, i, from, to
    word = stamp + 3 * i + 10007 * from + 1000003 * to
  end function

  subroutine do_transfers()
    integer :: list(most), count, stamp, first, last, stride, n, i, k, to, from
    integer, allocatable :: values(:)
    logical :: puts, singly
    call draw_partners(list, count)
    stamp = draw(1000000)
    puts = draw(2) == 0
    singly = draw(4) == 0
    n = 1 + draw(merge(10, 200, singly))
    stride = 1 + draw(3)
    first = 1 + draw(slots - (n - 1) * stride)
    last = first + (n - 1) * stride
    allocate (values(n))
    doing = merge('puts', 'gets', puts)
    if (.not. puts) field(first:last:stride, me) = [(word(stamp, i, me, 0), i=1, n)]
    do k = 1, count
      to = members(list(k), depth)
      if (puts .and. singly) then
        do i = 1, n
          field(first + (i - 1) * stride, me)[list(k)] = word(stamp, i, me, to)
        end do
      else if (puts) then
        values = [(word(stamp, i, me, to), i=1, n)]
        field(first:last:stride, me)[list(k)] = values
        values = 0  ! a put has read its source
      end if
    end do
    call meet(list, count)
    do k = 1, count
      from = members(list(k), depth)
      if (puts) then
        values = field(first:last:stride, from)
      else if (singly) then
        do i = 1, n
          values(i) = field(first + (i - 1) * stride, from)[list(k)]
        end do
      else
        values(:) = field(first:last:stride, from)[list(k)]
      end if
      call expect_that(all(values == [(word(stamp, i, from, merge(me, 0, puts)), i=1, n)]), 'words')
    end do
    call meet(list, count)
  end subroutine

  ! Components: their places are asked for at the other image, and kept for a segment.
  subroutine do_components()
    integer :: list(most), count, stamp, k, i, n, got
    doing = 'components'
    call draw_partners(list, count)
    stamp = draw(1000000)
    owned%part = [(word(stamp, i, me, 0), i=1, 10 + me)]
    call meet(list, count)
    n = draw(10)
    do k = 1, count
      i = members(list(k), depth)
      got = owned[list(k)]%part(i + n)
      call expect_that(got == word(stamp, i + n, i, 0), 'component')
    end do
    call meet(list, count)
  end subroutine

  subroutine do_reduction()
    integer :: result, error, kind_of
    result = 0
    error = 0
    if (draw(3) == 0) result = 1 + draw(np)
    kind_of = draw(4)
    select case (kind_of)
    case (0)
      call reduce_short()
    case (1)
      call reduce_integer()
    case (2)
      call reduce_real()
    case default
      call reduce_complex()
    end select
    call expect_that(error == 0, 'stat')

  contains

    ! What image m has in element i; what is between the elements is -7.
    elemental integer function given(i, m)
      integer, intent(in) :: i, m
      given = merge(mod(i * 7, 801) + 3 * m, mod(i * 7, 801) + 3 * (most - m), mod(i, 2) == 0)
    end function

    integer function outcome(i, how)
      integer, intent(in) :: i, how
      integer :: low, high, total
      low = minval(members(1:np, depth))
      high = maxval(members(1:np, depth))
      select case (how)
      case (0, 3)
        total = sum(members(1:np, depth))
        outcome = np * mod(i * 7, 801) + 3 * merge(total, np * most - total, mod(i, 2) == 0)
        if (how == 3) outcome = mod(outcome, 1009)
      case (1)
        outcome = min(given(i, low), given(i, high))
      case default
        outcome = max(given(i, low), given(i, high))
      end select
    end function

    subroutine draw_shape(bytes, n, stride, all_of, how)
      integer, intent(in) :: bytes
      integer, intent(out) :: n, stride, all_of, how
      n = extent_of(bytes)
      stride = merge(1, 2 + draw(2), draw(3) > 0)
      all_of = n * stride
      how = draw(4)
    end subroutine

    subroutine reduce_short()
      integer(2), allocatable :: x(:)
      integer :: n, stride, all_of, how, i
      call draw_shape(2, n, stride, all_of, how)
      allocate (x(all_of), source=-7_2)
      x(1:all_of:stride) = [(int(given(i, me), 2), i=1, n)]
      select case (how)
      case (0)
        how = 1
        result = 0
        call co_min(x(1:all_of:stride), stat=error)
      case (1)
        if (result == 0) call co_min(x(1:all_of:stride))
        if (result /= 0) call co_min(x(1:all_of:stride), result_image=result)
      case (2)
        if (result == 0) call co_max(x(1:all_of:stride))
        if (result /= 0) call co_max(x(1:all_of:stride), result_image=result, stat=error)
      case default
        if (result == 0) call co_reduce(x(1:all_of:stride), add_short)
        if (result /= 0) call co_reduce(x(1:all_of:stride), add_short, result_image=result)
      end select
      call verdict([(x(1 + (i - 1) * stride) == outcome(i, how), i=1, n)], how, &
        [(mod(i - 1, stride) == 0 .or. x(i) == -7, i=1, all_of)])
    end subroutine

    subroutine reduce_integer()
      integer, allocatable :: x(:)
      integer :: n, stride, all_of, how, i
      call draw_shape(4, n, stride, all_of, how)
      allocate (x(all_of), source=-7)
      x(1:all_of:stride) = [(given(i, me), i=1, n)]
      if (how == 0 .and. result == 0) call co_sum(x(1:all_of:stride))
      if (how == 0 .and. result /= 0) call co_sum(x(1:all_of:stride), result, stat=error)
      if (how == 1 .and. result == 0) call co_min(x(1:all_of:stride), stat=error)
      if (how == 1 .and. result /= 0) call co_min(x(1:all_of:stride), result)
      if (how == 2 .and. result == 0) call co_max(x(1:all_of:stride))
      if (how == 2 .and. result /= 0) call co_max(x(1:all_of:stride), result)
      if (how == 3 .and. result == 0) call co_reduce(x(1:all_of:stride), add_integer)
      if (how == 3 .and. result /= 0) call co_reduce(x(1:all_of:stride), add_integer, result)
      call verdict([(x(1 + (i - 1) * stride) == outcome(i, how), i=1, n)], how, &
        [(mod(i - 1, stride) == 0 .or. x(i) == -7, i=1, all_of)])
    end subroutine

    subroutine reduce_real()
      real(8), allocatable :: x(:)
      integer :: n, stride, all_of, how, i
      call draw_shape(8, n, stride, all_of, how)
      if (how == 3) how = 0
      allocate (x(all_of), source=-7d0)
      x(1:all_of:stride) = [(real(given(i, me), 8), i=1, n)]
      if (how == 0 .and. result == 0) call co_sum(x(1:all_of:stride))
      if (how == 0 .and. result /= 0) call co_sum(x(1:all_of:stride), result)
      if (how == 1 .and. result == 0) call co_min(x(1:all_of:stride))
      if (how == 1 .and. result /= 0) call co_min(x(1:all_of:stride), result)
      if (how == 2 .and. result == 0) call co_max(x(1:all_of:stride))
      if (how == 2 .and. result /= 0) call co_max(x(1:all_of:stride), result)
      call verdict([(nint(x(1 + (i - 1) * stride)) == outcome(i, how), i=1, n)], how, &
        [(mod(i - 1, stride) == 0 .or. nint(x(i)) == -7, i=1, all_of)])
    end subroutine

    subroutine reduce_complex()
      complex(8), allocatable :: x(:)
      integer :: n, stride, all_of, how, i
      call draw_shape(16, n, stride, all_of, how)
      how = 0
      allocate (x(all_of), source=(-7d0, 0d0))
      x(1:all_of:stride) = [(cmplx(given(i, me), -given(i, me), 8), i=1, n)]
      if (result == 0) call co_sum(x(1:all_of:stride))
      if (result /= 0) call co_sum(x(1:all_of:stride), result)
      call verdict([(nint(real(x(1 + (i - 1) * stride))) == outcome(i, how) .and. &
        nint(aimag(x(1 + (i - 1) * stride))) == -outcome(i, how), i=1, n)], how, &
        [(mod(i - 1, stride) == 0 .or. nint(real(x(i))) == -7, i=1, all_of)])
    end subroutine

    subroutine verdict(elements, how, between)
      logical, intent(in) :: elements(:), between(:)
      integer, intent(in) :: how
      write (doing, '(3(a,i0))') 'reduction', how, '/', result, '/', size(elements)
      if (result == 0 .or. result == im) call expect_that(all(elements), 'elements')
      call expect_that(all(between), 'between the elements')
    end subroutine
  end subroutine

  pure function add_short(a, b) result(c)
    integer(2), intent(in) :: a, b
    integer(2) :: c
    c = int(mod(int(a) + b, 1009), 2)
  end function

  pure function add_integer(a, b) result(c)
    integer, intent(in) :: a, b
    integer :: c
    c = mod(a + b, 1009)
  end function

  subroutine do_broadcast()
    integer, allocatable :: x(:)
    real(8), allocatable :: y(:, :)
    integer :: n, stride, source, stamp, i, said
    doing = 'broadcast'
    source = 1 + draw(np)
    said = members(source, depth)
    stamp = draw(1000000)
    n = extent_of(8)
    stride = 1 + draw(2)
    if (draw(2) == 0) then
      allocate (x(n * stride), source=-me)
      if (im == source) x(1::stride) = [(word(stamp, i, me, 0), i=1, n)]
      if (stride == 1) call co_broadcast(x, source)
      if (stride /= 1) call co_broadcast(x(1::stride), source)
      call expect_that(all(x(1::stride) == [(word(stamp, i, said, 0), i=1, n)]), 'elements')
      if (stride /= 1) call expect_that(all(x(2::stride) == -me), 'between the elements')
    else
      allocate (y(stride, n), source=-real(me, 8))
      if (im == source) y(stride, :) = [(word(stamp, i, me, 0), i=1, n)]
      call co_broadcast(y(stride, :), source)
      call expect_that(all(nint(y(stride, :)) == [(word(stamp, i, said, 0), i=1, n)]), 'elements')
      if (stride /= 1) call expect_that(all(nint(y(1, :)) == -me), 'between the elements')
    end if
  end subroutine

  ! Small ones, one right after the other.
  subroutine do_storm()
    integer :: i, x, y(4), source, total, stamp
    doing = 'storm'
    total = sum(members(1:np, depth))
    stamp = draw(1000)
    do i = 1, 2 + draw(20)
      call drift()
      select case (draw(4))
      case (0)
        x = me + i
        call co_sum(x)
        call expect_that(x == total + np * i, 'sum')
      case (1)
        y = [1, -1, 2, -2] * me
        call co_max(y)
        call expect_that(y(1) == maxval(members(1:np, depth)) .and. &
          y(4) == -2 * minval(members(1:np, depth)), 'maximum')
      case (2)
        source = 1 + draw(np)
        y = me
        if (im == source) y = [i, stamp, me, 5]
        call co_broadcast(y, source)
        call expect_that(all(y == [i, stamp, members(source, depth), 5]), 'broadcast')
      case default
        sync all
      end select
    end do
  end subroutine

  ! Sums of what each image adds while it is alone.
  subroutine do_locks()
    integer :: which, rounds, a, b, q, i, expected, value, to
    logical :: got
    doing = 'locks'
    which = 1 + draw(3)
    rounds = 1 + draw(5)
    a = draw(7)
    b = draw(7)
    tally(which) = 0
    sync all
    do q = 1, rounds
      to = 1 + mod(im * a + q * b, np)
      if (mod(q, 2) == 0) then
        lock (guards(which)[to])
      else
        do
          lock (guards(which)[to], acquired_lock=got)
          if (got) exit
        end do
      end if
      value = tally(which)[to]
      call drift()
      tally(which)[to] = value + im * q
      unlock (guards(which)[to])
    end do
    sync all
    expected = 0
    do q = 1, rounds
      do i = 1, np
        if (1 + mod(i * a + q * b, np) == im) expected = expected + i * q
      end do
    end do
    call expect_that(tally(which) == expected, 'sum')
    sync all
  end subroutine

  subroutine do_critical()
    integer :: to, rounds, q, value
    doing = 'critical'
    to = 1 + draw(np)
    rounds = 1 + draw(5)
    tally(1) = 0
    sync all
    do q = 1, rounds
      call drift()
      critical
        value = tally(1)[to]
        tally(1)[to] = value + im * q
      end critical
    end do
    sync all
    if (im == to) call expect_that(tally(1) == np * (np + 1) / 2 * rounds * (rounds + 1) / 2, 'sum')
    sync all
  end subroutine

  subroutine do_atomics()
    integer :: to, rounds, q
    integer(atomic_int_kind) :: old, wanted, ticket
    doing = 'atomics'
    to = 1 + draw(np)
    rounds = 1 + draw(4)
    call atomic_define(cell, 0)
    marks = 0
    sync all
    do q = 1, rounds
      call drift()
      if (mod(q + im, 2) == 0) then
        call atomic_fetch_add(cell[to], 1, ticket)
      else
        call atomic_ref(old, cell[to])
        do
          wanted = old
          call atomic_cas(cell[to], old, wanted, wanted + 1)
          if (old == wanted) exit
        end do
        ticket = wanted
      end if
      marks(1 + ticket)[to] = me
    end do
    sync all
    if (im == to) then
      call atomic_ref(old, cell)
      call expect_that(old == np * rounds, 'number')
      do q = 1, np
        call expect_that(count(marks == members(q, depth)) == rounds, 'tickets')
      end do
    end if
    sync all
  end subroutine

  ! All post to one, which takes the posts in two portions and answers.
  subroutine do_gathering()
    integer :: hub, i, total, first, left, stamp
    doing = 'gathering'
    hub = 1 + draw(np)
    total = sum([(1 + mod(i, 3), i=1, np)])
    first = 1 + draw(total)
    stamp = draw(100000)
    box(me)[hub] = stamp + me
    do i = 1, 1 + mod(im, 3)
      call drift()
      event post (gathered(depth)[hub])
    end do
    if (im == hub) then
      event wait (gathered(depth), until_count=first)
      if (total > first) then
        event wait (gathered(depth), until_count=total - first)
      end if
      call event_query(gathered(depth), left)
      call expect_that(left == 0, 'nothing left')
      call expect_that(all(box(members(1:np, depth)) == stamp + members(1:np, depth)), 'boxes')
      do i = 1, np
        event post (told(me)[i])
      end do
    end if
    event wait (told(members(hub, depth)))
  end subroutine

  ! Coarrays that live while other things happen. What a procedure has of its own the compiler keeps
  ! once, even for recursive calls.
  recursive subroutine do_memory(left)
    integer, intent(in) :: left
    logical, save :: first = .false., second = .false.
    if (.not. first) then
      first = .true.
      call in_first()
      first = .false.
    else if (.not. second) then
      second = .true.
      call in_second()
      second = .false.
    end if

  contains

    recursive subroutine in_first()
      integer, allocatable :: block(:)[:]
      real(8), allocatable :: table(:, :)[:]
      call with_memory(block, table, 0, left)
    end subroutine

    recursive subroutine in_second()
      integer, allocatable :: block(:)[:]
      real(8), allocatable :: table(:, :)[:]
      call with_memory(block, table, 1, left)
    end subroutine
  end subroutine

  ! What it leaves allocated the caller's end deallocates.
  recursive subroutine with_memory(block, table, level, left)
    integer, allocatable, intent(inout) :: block(:)[:]
    real(8), allocatable, intent(inout) :: table(:, :)[:]
    integer, intent(in) :: level, left
    integer :: n, k, i, stamp, list(most), count
    logical :: free
    doing = 'memory'
    n = 1 + draw(10**(1 + draw(4)) / 4)
    stamp = draw(1000000)
    free = draw(2) == 0
    call say(stamp, at_allocate, level, neighbour(1, depth))
    allocate (block(2 * n)[*])
    call hear(stamp, at_allocate, level, neighbour(-1, depth))
    if (draw(2) == 0) allocate (table(3, n)[*])
    block = [(word(stamp, i, me, 0), i=1, 2 * n)]
    k = 1 + mod(im, np)
    sync all
    block(1:n)[k] = [(word(stamp, i, me, 1), i=1, n)]
    sync all
    if (left > 0 .and. draw(2) == 0) call stretch(1 + draw(3), left)
    doing = 'memory'
    k = members(1 + modulo(im - 2, np), depth)
    call expect_that(all(block(1:n) == [(word(stamp, i, k, 1), i=1, n)]), 'what the neighbour has put')
    call expect_that(all(block(n + 1:) == [(word(stamp, i, me, 0), i=n + 1, 2 * n)]), 'own part')
    if (allocated(table)) then
      call draw_partners(list, count)
      table = me
      call meet(list, count)
      do i = 1, count
        call expect_that(nint(table(3, n)[list(i)]) == members(list(i), depth), 'table')
      end do
      if (draw(2) == 0) deallocate (table)
    end if
    if (free) then
      call say(stamp + 1, at_deallocate, level, neighbour(1, depth))
      deallocate (block)
      call hear(stamp + 1, at_deallocate, level, neighbour(-1, depth))
    end if
  end subroutine

  ! Events and locks in memory that was something else's before.
  subroutine do_new_ones()
    type(event_type), allocatable :: posts(:)[:]
    type(lock_type), allocatable :: doors(:)[:]
    integer, allocatable :: sums(:)[:]
    integer :: n, k, to, got
    doing = 'new events'
    n = 1 + draw(9)
    k = 1 + draw(n)
    to = 1 + mod(im, np)
    allocate (posts(n)[*], doors(n)[*], sums(n)[*])
    call event_query(posts(n + 1 - k), got)
    call expect_that(got == 0 .or. n + 1 - k == k, 'nothing posted yet')
    event post (posts(k)[to])
    event wait (posts(k))
    call event_query(posts(k), got)
    call expect_that(got == 0, 'nothing left')
    sums = 0
    sync all
    to = 1 + draw(np)
    lock (doors(k)[to])
    sums(k)[to] = sums(k)[to] + im
    unlock (doors(k)[to])
    sync all
    if (im == to) call expect_that(sums(k) == np * (np + 1) / 2, 'sum')
    if (draw(2) == 0) deallocate (posts, sums)
  end subroutine

  ! --- teams ---

  integer function colour_of(how, k, salt, i)
    integer, intent(in) :: how, k, salt, i
    select case (how)
    case (0)
      colour_of = 1 + mod(i - 1, k)
    case (1)
      colour_of = 1 + ((i - 1) * k) / np
    case (2)
      colour_of = 1 + mod((i * (salt + 5)) / 3, k)
    case (3)
      colour_of = 7
    case (4)
      colour_of = 100 + i
    case default
      colour_of = merge(3, 9, i == 1 + mod(salt, np))
    end select
  end function

  recursive subroutine do_team(left)
    integer, intent(in) :: left
    type(team_type) :: team
    integer :: how, k, salt, colour, rounds, visits, r, v, stamp, i, outer_np, outer_im
    integer(int64) :: outer_stream
    how = draw(6)
    k = 1 + draw(4)
    salt = draw(1000)
    colour = colour_of(how, k, salt, im)
    rounds = 1 + draw(2)
    visits = draw(3)
    outer_np = np
    outer_im = im
    do r = 1, rounds
      doing = 'form team'
      call drift()
      form team (colour, team)
      if (draw(3) == 0) then
        sync team (team)
      end if
      do v = 1, visits
        call gather_members()
        stamp = 1 + draw(1000000)
        outer_stream = stream
        call say(stamp, at_change, depth + 1, neighbour(1, depth + 1))
        change team (team)
          depth = depth + 1
          np = count(members(:, depth) /= 0)
          im = findloc(members(:, depth), me, 1)
          doing = 'change team'
          call expect_that(num_images() == np .and. this_image() == im .and. team_number() == colour, &
            'who is in the team')
          call hear(stamp, at_change, depth, neighbour(-1, depth))
          stream = 1 + mod(stream * 31 + colour * 7919_int64, 2147483646_int64)
          call stretch(1 + draw(6), left - 1)
          call drift()
          call say(-stamp, at_end, depth, neighbour(1, depth))
          depth = depth - 1
        end team
        doing = 'end team'
        call hear(-stamp, at_end, depth + 1, neighbour(-1, depth + 1))
        np = outer_np
        im = outer_im
        stream = outer_stream
        i = draw(2)
        call expect_that(num_images() == np .and. this_image() == im, 'who is in the outer team')
      end do
    end do

  contains

    subroutine gather_members()
      integer :: j, many
      many = 0
      members(:, depth + 1) = 0
      do j = 1, np
        if (colour_of(how, k, salt, j) /= colour) cycle
        many = many + 1
        members(many, depth + 1) = members(j, depth)
      end do
    end subroutine
  end subroutine

  recursive subroutine stretch(count, left)
    integer, intent(in) :: count, left
    integer :: s, what
    do s = 1, count
      number = number + 1
      call drift()
      what = draw(24)
      if (verbose) print '(4(a,i0))', 'image ', me, ' step ', number, ' depth ', depth, &
        ' does ', what
      select case (what)
      case (0:3)
        call do_transfers()
      case (4:7)
        call do_reduction()
      case (8:10)
        call do_broadcast()
      case (11)
        call do_storm()
      case (12)
        call do_locks()
      case (13)
        call do_critical()
      case (14)
        call do_atomics()
      case (15)
        call do_gathering()
      case (16)
        call do_components()
      case (17)
        call do_new_ones()
      case (18:19)
        call do_memory(left)
      case (20)
        sync memory
      case default
        if (left > 0) call do_team(left)
      end select
    end do
  end subroutine
end module

program control
  use steps
  implicit none
  integer :: seed, count, i
  character(20) :: text

  seed = 1
  count = 60
  call get_command_argument(1, text)
  if (text /= '') read (text, *) seed
  call get_command_argument(2, text)
  if (text /= '') read (text, *) count
  call get_command_argument(3, text)
  verbose = text /= ''
  np = num_images()
  im = this_image()
  me = im
  members(1:np, 0) = [(i, i=1, np)]
  stream = seed * 2654435_int64 + 1
  own = seed + me * 7919_int64
  allocate (owned%part(10 + me))
  sync all
  call stretch(count, deepest)
  call finish()
end program
