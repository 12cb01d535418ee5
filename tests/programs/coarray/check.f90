! SPDX-License-Identifier: BSD-3-Clause
! What the programs of this folder share: assertions, and a verdict that all images agree on.
module check
  implicit none
  private
  public :: expect, finish, after, before
  integer, save :: failures = 0

contains

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failures = failures + 1
    if (failures <= 10) print '(a,i0,a,i0,2a)', 'image ', this_image(), ' of ', num_images(), &
      ': not so: ', what
  end subroutine

  ! The image `steps` behind this one, in a ring.
  integer function after(steps)
    integer, intent(in) :: steps
    after = modulo(this_image() - 1 + steps, num_images()) + 1
  end function

  integer function before(steps)
    integer, intent(in) :: steps
    before = after(-steps)
  end function

  ! Every image must come here: one that found a fault ends all with code 9.
  subroutine finish()
    flush (6)
    if (failures > 0) error stop 9
    sync all
    if (this_image() == 1) print '(a)', 'good'
  end subroutine
end module
