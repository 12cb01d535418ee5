! SPDX-License-Identifier: BSD-3-Clause
! Image 1 (all but image 2, where the statement is for all) comes into what the first argument names
! and waits for ever; image 2 never comes.
program hangs
  use, intrinsic :: iso_fortran_env
  implicit none
  character(30) :: what
  integer, allocatable :: large(:)[:]
  integer(atomic_int_kind), save :: number[*]
  type(event_type), save :: happened[*]
  type(lock_type), save :: guard(3)[*]
  type(team_type) :: half
  integer :: me, n, value

  call get_command_argument(1, what)
  me = this_image()
  n = num_images()
  value = me
  if (me == 2 .and. what == 'lock') lock (guard(3)[n])
  form team (mod(me, 2) + 1, half)
  sync all
  if (me == 2) call execute_command_line('sleep 200')
  select case (what)
  case ('sync all')
    sync all
  case ('sync images')
    if (me == 1) sync images ([2, 3])
  case ('sync images, all')
    if (me == 1) sync images (*)
  case ('event wait')
    if (me == 3) event post (happened[1])
    if (me == 1) event wait (happened, until_count=3)
  case ('lock')
    if (me == 1) lock (guard(3)[n])
  case ('co_sum')
    call co_sum(value)
  case ('co_broadcast')
    call co_broadcast(value, 2)
  case ('allocate')
    allocate (large(10)[*])
  case ('form team')
    form team (1, half)
  case ('sync all in a team')
    change team (half)
    sync all
    end team
    if (me == 4) call execute_command_line('sleep 200')
    sync all
  case ('atomic_ref')
    do while (value /= 7)
      call atomic_ref(value, number)
    end do
  case ('event_query')
    do while (value /= 7)
      call event_query(happened, value)
    end do
  case ('stop')
    stop
  end select
end program
