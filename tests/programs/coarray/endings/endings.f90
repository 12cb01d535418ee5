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
  type(record), save :: held[*]
  integer, allocatable :: large(:)[:], who(:)
  integer :: error, me, n, value

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
    if (me == 2) call execute_command_line('kill -9 $PPID')
    sync all
  case ('failed')
    if (me == 2) fail image
    do
      sync all (stat=error, errmsg=text)
      if (error /= 0) exit
    end do
    who = failed_images()
    if (error /= stat_failed_image .or. size(who) /= 1 .or. any(who /= 2)) error stop 21
    if (image_status(2) /= stat_failed_image .or. image_status(me) /= 0) error stop 22
    if (size(stopped_images()) /= 0) error stop 23
    error = 0
    sync images (2, stat=error)
    if (error /= stat_failed_image) error stop 24
    if (n > 2) then
      sync images (merge(3, 1, me == 1), stat=error)
      if (error /= 0) error stop 25
    end if
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
  case ('stopped, no stat')
    if (me == 2) stop
    sync all
  case ('no such image')
    value = n + 1
    box(1)[value] = 5
  case ('no image 0')
    value = n - n
    box(1) = box(2)[value]
  case ('not allocated')
    value = held[me]%values(1)
    print *, value
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
    error stop 'no such ending'
  end select
end program
