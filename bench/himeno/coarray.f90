! SPDX-License-Identifier: BSD-3-Clause
! The Himeno solver with coarrays: planes of k are shared among the images, which put their outer
! planes into their neighbours before each step. Words: sizes=XS,S,M budget_ms=N. Ends with an error
! if the residual is not that of one image alone.
include '../common/images.f90'

program himeno
  use himeno_kernel
  use images, only: line_open, line_trip, report
  implicit none
  real(c_double) :: budget_s = 0.5_c_double
  character(40) :: sizes = 'XS,S'
  integer :: comma, left, right

  call read_words(sizes, budget_s)
  call line_open()
  left = this_image() - 1
  right = this_image() + 1
  do while (sizes /= ' ')
    comma = index(trim(sizes) // ',', ',')
    call measure(sizes(:comma - 1))
    sizes = sizes(comma + 1:)
  end do

contains

  subroutine measure(name)
    character(*), intent(in) :: name
    integer, parameter :: warm = 4, samples = 5
    real(c_float), allocatable :: p(:, :, :)[:]
    integer(c_int) :: grid(3), first, count, next_first, next_count
    integer :: step, steps, sample, left_planes
    real(c_double) :: gosa, alone, begin, spent, line
    character(40) :: params
    grid = grid_of(name)
    if (grid(1) == 0) error stop 'sizes are XS, S and M'
    if (this_image() == 1) alone = himeno_alone(grid, warm)
    call himeno_share(grid(3), num_images(), this_image() - 1, first, count)
    left_planes = 0
    if (left >= 1) then
      call himeno_share(grid(3), num_images(), left - 1, next_first, next_count)
      left_planes = next_count
    end if
    ! A coarray has one shape on all images: the largest part's.
    call himeno_share(grid(3), num_images(), 0, next_first, next_count)
    allocate (p(grid(1) + 1, grid(2) + 1, 0:next_count + 1)[*])
    call himeno_set_up(grid, first, count, p)
    sync all
    begin = now_s()
    do step = 1, warm
      gosa = exchange_and_step(p, count, left_planes)
      call co_sum(gosa)
    end do
    spent = now_s() - begin
    if (this_image() == 1) then
      if (abs(gosa - alone) > 1e-5_c_double * alone) error stop 'another residual than one image alone'
      steps = max(1, int(budget_s / (spent / warm) / samples))
    end if
    call co_broadcast(steps, 1)
    sync all
    write (params, '(a,i0)') 'kind=coarray,images=', num_images()
    do sample = 1, samples
      line = line_trip()
      begin = now_s()
      do step = 1, steps
        gosa = exchange_and_step(p, count, left_planes)
        call co_sum(gosa)
      end do
      spent = now_s() - begin
      call report(name, 'rate', 'MFLOPS', trim(params), &
        flops(grid) * steps / spent / 1e6_c_double, line)
    end do
    sync all
  end subroutine

  ! The neighbours' planes are there when they have synchronised; after the step they may be
  ! overwritten, which the sum over all images tells.
  function exchange_and_step(p, count, left_planes) result(gosa)
    real(c_float), intent(inout) :: p(:, :, 0:)[*]
    integer, intent(in) :: count, left_planes
    real(c_double) :: gosa
    if (left >= 1) p(:, :, left_planes + 1)[left] = p(:, :, 1)
    if (right <= num_images()) p(:, :, 0)[right] = p(:, :, count)
    if (left >= 1 .and. right <= num_images()) then
      sync images ([left, right])
    else if (left >= 1) then
      sync images (left)
    else if (right <= num_images()) then
      sync images (right)
    end if
    gosa = himeno_step(p)
  end function
end program
