! SPDX-License-Identifier: BSD-3-Clause
! RANDOM_INIT: the same numbers again or others, on all images the same or on each its own.
program numbers
  use check
  implicit none
  real(8) :: first(4), again(4), least(4), most(4)

  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(first)
  call compare()
  call expect(all(least == most), 'the same on all images')
  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(again)
  call expect(all(first == again), 'the same again')

  call random_init(repeatable=.true., image_distinct=.true.)
  call random_number(first)
  call compare()
  if (num_images() > 1) call expect(all(least < most), 'each image its own')
  call random_init(repeatable=.true., image_distinct=.true.)
  call random_number(again)
  call expect(all(first == again), 'its own again')

  call random_init(repeatable=.false., image_distinct=.false.)
  call random_number(first)
  call compare()
  call expect(all(least == most), 'new ones, the same on all images')
  call random_init(repeatable=.false., image_distinct=.false.)
  call random_number(again)
  call expect(any(first /= again), 'new ones each time')

  call random_init(repeatable=.false., image_distinct=.true.)
  call random_number(first)
  call compare()
  if (num_images() > 1) call expect(all(least < most), 'new ones, each image its own')
  call finish()

contains

  subroutine compare()
    least = first
    most = first
    call co_min(least)
    call co_max(most)
  end subroutine
end program
