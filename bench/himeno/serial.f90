! SPDX-License-Identifier: BSD-3-Clause
! The Himeno solver on one processor, without communication. Words: sizes=XS,S,M budget_ms=N.
program himeno
  use himeno_kernel
  implicit none
  real(c_double) :: budget_s = 0.5_c_double
  character(40) :: sizes = 'XS,S'
  integer :: comma

  call read_words(sizes, budget_s)
  do while (sizes /= ' ')
    comma = index(trim(sizes) // ',', ',')
    call measure(sizes(:comma - 1))
    sizes = sizes(comma + 1:)
  end do

contains

  subroutine measure(name)
    character(*), intent(in) :: name
    real(c_float), allocatable :: p(:, :, :)
    integer(c_int) :: grid(3)
    integer :: steps
    character(20) :: number
    real(c_double) :: gosa, begin
    grid = grid_of(name)
    if (grid(1) == 0) error stop 'sizes are XS, S and M'
    allocate (p(grid(1) + 1, grid(2) + 1, 0:grid(3) - 1))
    call himeno_set_up(grid, 0, grid(3) - 2, p)
    gosa = 0
    steps = 0
    begin = now_s()
    do while (steps < 3 .or. now_s() - begin < budget_s)
      gosa = himeno_step(p)
      steps = steps + 1
    end do
    if (gosa <= 0) error stop 'there is no residual'
    write (number, '(es14.6)') flops(grid) * steps / (now_s() - begin) / 1e6_c_double
    print '(4a)', '@ ', name, ' rate MFLOPS kind=serial,images=1 ', trim(adjustl(number))
    flush (6)
  end subroutine
end program
