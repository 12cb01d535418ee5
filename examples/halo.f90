! SPDX-License-Identifier: BSD-3-Clause
! A halo exchange in two ways. With allocatable components each image puts its edge into a box of its
! neighbour. With pointer components it reads the edge out of the neighbour's own memory, which is an
! ordinary allocatable array that no other image knows: Sinew goes and gets it.
program halo
  implicit none
  integer, parameter :: width = 64
  type box
    real(8), allocatable :: edge(:)
  end type
  type window
    real(8), pointer :: field(:, :) => null()
  end type
  type(box), save :: inbox[*]
  type(window), save :: view[*]
  real(8), allocatable, target :: field(:, :)
  real(8) :: edge(width)
  integer :: me, n, left, right, height

  me = this_image()
  n = num_images()
  left = modulo(me - 2, n) + 1
  right = modulo(me, n) + 1
  height = 10 + me  ! every image has its own
  allocate (field(width, height))
  field = me
  field(:, height) = me + 0.5d0

  allocate (inbox%edge(width))
  sync all
  inbox[right]%edge(:) = field(:, height)
  sync all
  if (any(inbox%edge /= left + 0.5d0)) error stop 'the edge that was put is wrong'

  view%field => field
  sync all
  edge = view[left]%field(:, 10 + left)
  if (any(edge /= left + 0.5d0)) error stop 'the edge that was read is wrong'
  sync all
  if (me == 1) print '(a,i0,a)', 'halo: ', n, ' images have their neighbours'' edges'
end program
