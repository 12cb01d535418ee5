! SPDX-License-Identifier: BSD-3-Clause
! One ending for each first argument; endings_test.py starts it and looks at what is left.
program endings
  use, intrinsic :: iso_fortran_env
  implicit none
  type record
    integer, allocatable :: values(:)
  end type
  character(30) :: ending
  character(200) :: text
  integer, save :: box(4)[*]
  type(lock_type), save :: guard[*]
  type pointing
    integer, pointer :: values(:)
  end type
  type(record), save :: held[*]
  type(pointing), save :: pointer_to[*]
  integer, target, save :: private(1000)
  type(record) :: sent
  integer, allocatable :: large(:)[:], who(:)
  integer :: error, me, n, value, unit
  integer(int64) :: wide
  logical :: got
  integer(atomic_int_kind), save :: number[*]
  type(event_type), save :: happened[*]
  type(team_type) :: one
  ! Not before the others have come out of the `sync all` below, which has no STAT.
  character(*), parameter :: dies = 'sleep 0.3; kill -9 $PPID'

  call get_command_argument(1, ending)
  me = this_image()
  n = num_images()
  box = me
  sync all
  select case (ending)
  case ('end')
  case ('stop')
    stop
  case ('stop 3')
    stop 3
  case ('stop text')
    if (me == 1) stop 'that was all'
  case ('stop early')
    if (me == 2) stop
    call execute_command_line('sleep 0.3')
    if (me == 1) print '(a,i0)', 'reached ', box(2)[n]
  case ('error stop')
    if (me == 2) error stop 7
    sync all
  case ('error stop text')
    if (me == n) error stop 'no way on'
    sync images (*)
  case ('killed')
    if (me == 2) call execute_command_line(dies)
    sync all
  case ('failed', 'died', 'cut off')
    if (me == 2 .and. ending == 'cut off') then  ! whoever has started it ends its host
      print '(a)', 'waits'
      flush (6)
      call sleep(40)
    end if
    if (me == 2 .and. ending == 'died') call execute_command_line(dies)
    if (me == 2) fail image
    do
      sync all (stat=error, errmsg=text)
      if (error /= 0) exit
    end do
    who = failed_images()
    if (error /= stat_failed_image .or. size(who) /= 1 .or. any(who /= 2)) error stop 21
    if (image_status(2) /= stat_failed_image .or. image_status(me) /= 0) error stop 22
    if (any(stopped_images() == 2)) error stop 23  ! others may have come to their end
    error = 0
    sync images (2, stat=error)
    if (error /= stat_failed_image) error stop 24
    if (me == 1) print '(a)', 'went on without it'
  case ('stopped')
    if (me == 2) stop
    do
      sync all (stat=error, errmsg=text)
      if (error /= 0) exit
    end do
    who = stopped_images()
    ! Others may have come to their end in the meantime.
    if (error /= stat_stopped_image .or. .not. any(who == 2) .or. any(who == me)) error stop 21
    if (image_status(2) /= stat_stopped_image) error stop 22
    if (text == '') error stop 23
    ! What a stopped image holds can still be read.
    if (box(3)[2] /= 2) error stop 24
    if (me == 1) print '(a)', 'went on without it'
  case ('stopped, all statements')
    if (me == 2) stop
    call every_statement(stat_stopped_image)
    if (me == 1) print '(a)', 'went on without it'
  case ('stopped, one ahead')
    ! One that has given up a barrier comes to no later one in the place of who has stopped.
    if (me == 2) stop
    if (me == n) call execute_command_line('sleep 0.3')
    do value = 1, 2
      sync all (stat=error)
      call check(error, stat_stopped_image, value)
    end do
    if (me == 1) print '(a)', 'went on without it'
  case ('failed, all statements', 'died, all statements')
    if (me == 2 .and. ending(1:4) == 'died') call execute_command_line(dies)
    if (me == 2) fail image
    call every_statement(stat_failed_image)
    if (me == 1) print '(a)', 'went on without it'
  case ('failed, then a team')
    ! What is broadcast before looks like the word with which image 2 would join team 1.
    wide = 2_8**32
    call co_broadcast(wide, 2)
    call co_broadcast(wide, 2)
    if (me == 2) fail image
    do
      sync all (stat=error)
      if (error /= 0) exit
    end do
    form team (1, one)
    change team (one)
    value = this_image()
    sync all
    call co_sum(value)
    if (num_images() /= n - 1 .or. value /= n * (n - 1) / 2) error stop 21
    allocate (large(2)[*])
    large = me
    sync all
    if (large(1)[num_images()] /= n) error stop 22
    deallocate (large)
    end team
    if (me == 1) print '(a)', 'went on without it'
  case ('failed, then deallocate')
    allocate (large(2)[*])
    if (me == 2) fail image
    deallocate (large)
    error stop 21
  case ('put after deallocate', 'get after deallocate')
    allocate (large(2)[*])
    deallocate (large)
    if (ending == 'put after deallocate') large(1)[n] = 1
    value = large(2)[1]
    print '(a,i0)', 'never', value
  case ('stopped, then deallocate')
    allocate (large(2)[*])
    if (me == 2) stop
    error = 0
    deallocate (large, stat=error, errmsg=text)
    call check(error, stat_stopped_image, 21)
    if (allocated(large) .or. index(text, 'stopped') == 0) error stop 22
    if (me == 1) print '(a)', 'went on without it'
  case ('stopped in a team')
    form team (1, one)
    change team (one)
    if (me == 2) stop
    do
      sync all (stat=error)
      if (error /= 0) exit
    end do
    if (error /= stat_stopped_image .or. .not. any(stopped_images() == 2)) error stop 21
    if (me == 1) print '(a)', 'went on without it'
    stop
    end team
  case ('died in a lock')
    ! Those who wait for it already get it too, one of them told why; so does who only looks.
    if (me == 2) lock (guard[1])
    if (me == 2) lock (guard[n])
    sync all
    if (me == 2) call execute_command_line(dies)
    error = 0
    lock (guard[1], stat=error)
    if (error /= 0 .and. error /= 6002) error stop 21
    value = merge(1, 0, error == 6002)
    unlock (guard[1], stat=error)
    if (error /= 0) error stop 22
    if (me == n) then
      got = .false.
      do while (.not. got)
        error = 0
        lock (guard[n], acquired_lock=got, stat=error)
      end do
      if (error /= 6002) error stop 23
      unlock (guard[n])
    end if
    do
      sync all (stat=error)
      if (error /= 0) exit
    end do
    form team (1, one)
    change team (one)
    call co_sum(value)
    if (value /= 1) error stop 24
    end team
    if (me == 1) print '(a)', 'went on without it'
  case ('died when asked')
    ! What the kernel does not show of its own memory it would have to send.
    private = me
    pointer_to%values => private
    sync all
    if (me == 2) call execute_command_line(dies)
    value = pointer_to[2]%values(3)
    print '(a,i0)', 'never', value
  case ('failed in a lock')
    if (me == 2) lock (guard[1])
    sync all
    if (me == 2) fail image
    do
      sync images (*, stat=error)
      if (error /= 0) exit
    end do
    ! It comes free, and whoever gets it first is told why.
    error = 0
    if (me == 1) then
      lock (guard[1], stat=error, errmsg=text)
      if (error /= 6002) error stop 21  ! STAT_UNLOCKED_FAILED_IMAGE, which gfortran 12 has not
      unlock (guard[1])
      lock (guard[1], stat=error)
      if (error /= 0) error stop 22
      unlock (guard[1])
      print '(a)', 'went on without it'
    end if
  case ('stopped in a lock')
    ! Nobody will unlock it: whoever asks for it is told, each time.
    if (me == 2) lock (guard[1])
    sync all
    if (me == 2) stop
    lock (guard[1], stat=error, errmsg=text)
    call check(error, stat_stopped_image, 21)
    if (index(text, 'stopped') == 0) error stop 22
    if (n == 2) then  ! of more, one may just be finding out
      lock (guard[1], acquired_lock=got, stat=error)
      call check(error, stat_stopped_image, 23)
      if (got) error stop 24
    end if
    if (me == 1) print '(a)', 'went on without it'
  case ('nobody to post')
    if (me == 1) event post (happened[2])
    if (me /= 2) stop
    event wait (happened, stat=error)
    call check(error, 0, 21)
    event wait (happened, stat=error, errmsg=text)
    ! Neither of the two that name images (Fortran 2018, 11.6.11).
    if (any(error == [0, stat_stopped_image, stat_failed_image]) .or. text == '') error stop 22
    print '(a)', 'went on without it'
  case ('nobody to post, no stat')
    if (me == 2) event wait (happened)
  case ('stopped, no stat')
    if (me == 2) stop
    sync all
  case ('no such image')
    value = n + 1
    box(1)[value] = 5
  case ('no image 0')
    value = n - n
    box(1) = box(2)[value]
  case ('no such image, printing')
    value = n + 1
    print '(a,i0)', 'never', box(1)[value]
  case ('no such image, writing two')
    ! One unit is locked by the statement around the function, another by the function's own.
    open (newunit=unit, status='scratch')
    print '(a,i0)', 'never', writes(n + 1)
  case ('error stop, printing')
    if (me == 2) print '(a,i0)', 'never', ends('error stop')
    sync all
  case ('error stop text, printing')
    if (me == 2) print '(a,i0)', 'never', ends('error stop text')
    sync all
  case ('error stop, other units')
    ! A unit that no statement holds is flushed.
    if (me == 2) then
      call get_command_argument(2, text)
      open (71, file=text)
      write (71, '(a)') 'kept'
      print '(a,i0)', 'never', ends('error stop')
    end if
    sync all
  case ('stop, printing')
    print '(a,i0)', 'never', ends('stop')
  case ('stop text, printing')
    print '(a,i0)', 'never', ends('stop text')
  case ('failed, printing')
    if (me == 2) print '(a,i0)', 'never', ends('fail image')
    do
      sync all (stat=error)
      if (error /= 0) exit
    end do
    call check(error, stat_failed_image, 21)
    if (me == 1) print '(a)', 'went on without it'
  case ('locked twice, printing')
    lock (guard[me])
    print '(a,i0)', 'never', ends('lock')
  case ('not allocated')
    value = held[me]%values(1)
    print *, value
  case ('broadcast, allocated at source')
    if (me == 1) allocate (sent%values(5))
    call co_broadcast(sent, 1)
  case ('broadcast, allocated elsewhere')
    if (me /= 1) allocate (sent%values(1000000))
    call co_broadcast(sent, 1)
  case ('twice')
    sync images ([1, 1])
  case ('not locked')
    unlock (guard[1])
  case ('locked twice')
    lock (guard[me])
    lock (guard[me])
  case ('too large')
    allocate (large(2_8**44)[*])
  case ('too large, stat')
    allocate (large(2_8**44)[*], stat=error, errmsg=text)
    if (error == 0) error stop 21
    if (me == 1) print '(2a)', 'told: ', trim(text)
    sync all
    allocate (large(10)[*])
  case default
    if (ending(1:13) /= 'failed, last ') error stop 'no such ending'
    call last_statement(ending(14:))
  end select

contains

  ! Image 2 has left, or is about to: each statement that needs it ends with that stat, and no
  ! statement waits for ever. Collectives and synchronisations may come before it is known.
  subroutine every_statement(wanted)
    integer, intent(in) :: wanted
    integer(atomic_int_kind) :: old
    integer :: status, x
    real, allocatable :: more(:)[:]
    do
      sync all (stat=status, errmsg=text)
      if (status /= 0) exit
    end do
    call check(status, wanted, 31)
    status = 0
    sync images (2, stat=status, errmsg=text)
    call check(status, wanted, 32)
    status = 0
    sync images (*, stat=status)
    call check(status, wanted, 33)
    status = 9
    sync memory (stat=status)
    call check(status, 0, 34)
    x = me
    status = 0
    call co_sum(x, stat=status, errmsg=text)
    call check(status, wanted, 35)
    status = 0
    call co_max(x, stat=status)
    call check(status, wanted, 36)
    status = 0
    call co_broadcast(x, 1, stat=status)
    call check(status, wanted, 37)
    status = 0
    call co_reduce(x, larger, stat=status)
    call check(status, wanted, 38)
    ! With a failed image the others are allocated theirs; gfortran 12 has no place for its stat.
    status = 9
    allocate (more(10)[*], stat=status, errmsg=text)
    call check(status, merge(wanted, 0, wanted == stat_stopped_image), 39)
    if (allocated(more) .neqv. status == 0) error stop 39
    if (allocated(more)) deallocate (more, stat=status, errmsg=text)
    call check(status, wanted, 40)
    if (allocated(more) .or. text == '') error stop 40
    ! What concerns one image alone: a stopped one still has its memory, a failed one has none.
    ! (STAT= of an image selector gfortran 12 does not pass on in puts.)
    x = merge(0, wanted, wanted == stat_stopped_image)
    status = 9
    call atomic_add(number[2], 1, stat=status)
    call check(status, x, 41)
    status = 9
    call atomic_ref(old, number[2], stat=status)
    call check(status, x, 42)
    status = 9
    event post (happened[2], stat=status)
    call check(status, x, 43)
    status = 9
    lock (guard[2], stat=status)
    call check(status, x, 44)
    if (x == 0) then
      unlock (guard[2], stat=status)
      call check(status, x, 45)
    end if
    if (image_status(2) /= wanted) error stop 46
    if (wanted == stat_failed_image) then
      if (any(failed_images() /= 2) .or. size(failed_images()) /= 1) error stop 47
      if (num_images(failed=.true.) /= 1 .or. num_images(failed=.false.) /= n - 1) error stop 48
    end if
  end subroutine

  ! Image 2 fails. The last image has ended when image 1 comes to its statement: it is a stopped
  ! image, but has taken part in it, and what image 1 is told of is the failed one.
  subroutine last_statement(statement)
    character(*), intent(in) :: statement
    integer, allocatable :: first(:)[:], second(:)[:]
    integer :: x, many(400000)
    if (statement == 'deallocate') then
      allocate (first(2)[*])
      call move_alloc(first, second)
    end if
    if (me == 2) fail image
    if (me == 1) call execute_command_line('sleep 0.4')
    x = me
    many = me
    error = 0
    select case (statement)
    case ('sync all')
      sync all (stat=error)
    case ('co_sum')
      call co_sum(x, stat=error)
    case ('co_sum, long')
      call co_sum(many, stat=error)
    case ('co_min')
      call co_min(many(:20000), stat=error)
    case ('co_broadcast')
      call co_broadcast(many, n, stat=error)
    case ('deallocate')
      deallocate (second, stat=error)
      if (allocated(first) .or. allocated(second)) error stop 21
    case ('form team')
      form team (1, one)
      sync all (stat=error)
    case default
      error stop 'no such statement'
    end select
    call check(error, stat_failed_image, 22)
    ! Each has come to it in the same number of steps.
    error = 0
    sync all (stat=error)
    call check(error, stat_failed_image, 23)
    if (me == 1) print '(a)', 'went on without it'
  end subroutine

  subroutine check(status, wanted, code)
    integer, intent(in) :: status, wanted, code
    if (status == wanted) return
    print *, 'image', me, 'statement', code, 'gave', status, 'not', wanted
    flush (6)
    error stop 30
  end subroutine

  ! Called from an I/O statement, which holds its unit.
  integer function ends(how)
    character(*), intent(in) :: how
    ends = 0
    select case (how)
    case ('error stop')
      error stop 7
    case ('error stop text')
      error stop 'no way on'
    case ('stop')
      stop 3
    case ('stop text')
      stop 'that was all'
    case ('fail image')
      fail image
    case ('lock')
      lock (guard[me])
    end select
  end function

  integer function writes(image)
    integer, intent(in) :: image
    write (unit, *) box(1)[image]
    writes = 0
  end function

  pure integer function larger(a, b)
    integer, intent(in) :: a, b
    larger = max(a, b)
  end function
end program
