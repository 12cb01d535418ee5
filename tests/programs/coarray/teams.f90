! SPDX-License-Identifier: BSD-3-Clause
! Teams: numbers and synchronisation inside, collectives of a part, memory of a part, nested teams.
program teams
  use check
  use, intrinsic :: iso_fortran_env, only: team_type, lock_type, event_type
  implicit none
  type(team_type) :: halves, quarters, reversed
  integer, save :: box[*]
  integer, allocatable :: own(:)[:]
  real(8), allocatable :: large(:, :)[:]
  type(lock_type), allocatable :: guards(:)[:]
  type(event_type), allocatable :: post[:]
  integer :: me, n, part, mine, members, total, i, image, brought(4)

  me = this_image()
  n = num_images()
  box = me
  part = 1 + mod(me - 1, 2)  ! odd images, even images
  members = (n - part) / 2 + 1
  mine = (me - 1) / 2 + 1
  call expect(team_number() == -1, 'the initial team')
  form team (part, halves)
  do i = 1, 20
    change team (halves)
    call expect(num_images() == members, 'size of the team')
    call expect(this_image() == mine, 'number in the team')
    call expect(team_number() == part, 'number of the team')
    total = me
    call co_sum(total)
    call expect(total == members * part + members * (members - 1), 'co_sum in the team')
    total = me
    call co_max(total, result_image=1)
    if (mine == 1) call expect(total == part + 2 * (members - 1), 'co_max in the team')
    total = me
    call co_broadcast(total, members)
    call expect(total == part + 2 * (members - 1), 'co_broadcast in the team')
    ! A coarray of before, by numbers of this team.
    image = modulo(mine, members) + 1
    box[image] = me + 1000 * i
    sync all
    image = modulo(mine - 2, members) + 1
    call expect(box == part + 2 * (image - 1) + 1000 * i, 'put in the team')
    sync all
    sync images (*)
    end team
  end do
  call expect(num_images() == n .and. this_image() == me .and. team_number() == -1, 'as before')
  sync all

  ! Allocated in a team: by its images alone, released at its end.
  change team (halves)
  allocate (own(part * 10)[*])
  own = me
  sync all
  image = modulo(mine, members) + 1
  call expect(own(part * 10)[image] == part + 2 * (image - 1), 'allocated in the team')
  sync all
  deallocate (own)

  ! A team of a team.
  form team (1 + mod(mine - 1, 2), quarters)
  change team (quarters)
  call expect(num_images() == (members - 1 - mod(mine - 1, 2)) / 2 + 1, 'size of a team of a team')
  call expect(this_image() == (mine - 1) / 2 + 1, 'number in a team of a team')
  total = 1
  call co_sum(total)
  call expect(total == num_images(), 'co_sum in a team of a team')
  sync team (halves)
  end team
  call expect(num_images() == members, 'back in the first team')
  end team

  ! What is allocated in a team is gone at its end; a team that is formed again is no second one.
  ! (One round has 1.1 MiB; a test runs this in a heap that would not hold ten.)
  do i = 1, 100
    form team (part, halves)
    change team (halves)
    allocate (large(140000, 1)[*], guards(2)[*], post[*])
    large = mine + i
    event post (post[modulo(mine, members) + 1])
    event wait (post)
    lock (guards(2)[1])
    unlock (guards(2)[1])
    sync all
    image = modulo(mine, members) + 1
    call expect(large(140000, 1)[image] == image + i, 'allocated in each round')
    end team
    call expect(.not. allocated(large) .and. .not. allocated(guards) .and. .not. allocated(post), &
      'deallocated by end team')
  end do

  ! All in one team, and the initial one again.
  form team (7, reversed)
  change team (reversed)
  call expect(num_images() == n .and. team_number() == 7, 'one team of all')
  sync all
  end team
  sync team (halves)
  sync all

  ! Forming a team leaves alone what others still have to read of a broadcast.
  do i = 1, 100
    brought = merge(i, 0, me == 1)
    call co_broadcast(brought, 1)
    if (mod(i, 2) == 0) form team (part, halves)
    call expect(all(brought == i), 'a broadcast before a team is formed')
  end do

  allocate (own(3)[*])
  own = 2 * me
  sync all
  call expect(own(3)[after(1)] == 2 * after(1), 'allocated after the teams')
  call finish()
end program
