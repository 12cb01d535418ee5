! SPDX-License-Identifier: BSD-3-Clause
! A queue of work: image 1 offers numbered tasks, all images draw the next number by one atomic
! addition, and post an event to image 1 for each task done. No image waits for another.
program queue
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: tasks = 200
  integer(atomic_int_kind), save :: next[*] = 0
  type(event_type), save :: done[*]
  integer(int64), save :: results(tasks)[*] = -1
  integer(atomic_int_kind) :: task
  integer :: i, mine
  integer(int64) :: sum_of_all

  mine = 0
  do
    call atomic_fetch_add(next[1], 1, task)
    if (task >= tasks) exit
    results(task + 1)[1] = work(int(task) + 1)
    event post (done[1])
    mine = mine + 1
  end do
  if (this_image() == 1) then
    event wait (done, until_count=tasks)
    sum_of_all = 0
    do i = 1, tasks
      if (results(i) /= work(i)) error stop 'a result is missing'
      sum_of_all = sum_of_all + results(i)
    end do
    print '(a,i0,a,i0)', 'queue: all ', tasks, ' tasks are done, their sum is ', sum_of_all
  end if
  call co_sum(mine)
  if (mine /= tasks) error stop 'a task was drawn twice'

contains

  pure function work(n)
    integer, intent(in) :: n
    integer(int64) :: work
    integer :: i
    work = n
    do i = 1, 1000
      work = mod(work * 31 + i, 1000003_int64)
    end do
  end function
end program
