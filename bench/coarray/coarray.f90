! SPDX-License-Identifier: BSD-3-Clause
! Puts, gets and synchronisations between two images, after the method of the EPCC suite: whoever is
! active works, then a synchronisation makes the other active; half a round trip is one phase.
! Words: sizes=N,N budget_ms=N; halo=no leaves out what stops OpenCoarrays. Prints lines
! "@ case metric unit params value" as all measuring programs do.
include '../common/images.f90'

module timing
  use images
  implicit none
  integer, parameter :: most_batches = 100, most_samples = 5
  integer :: me, other
  real(real64) :: budget_ns = 50e6_real64
  integer :: sizes(32) = 8, size_count = 1
  logical :: with_halo = .true.

  abstract interface
    subroutine work(repetitions)
      integer, intent(in) :: repetitions
    end subroutine
  end interface

contains

  subroutine read_words()
    integer :: i, comma
    character(300) :: word
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      if (word(:10) == 'budget_ms=') then
        read (word(11:), *) budget_ns
        budget_ns = budget_ns * 1e6_real64
      else if (word == 'halo=no') then
        with_halo = .false.
      else if (word(:6) == 'sizes=') then
        word = word(7:)
        size_count = 0
        do while (word /= ' ' .and. size_count < 32)
          comma = index(trim(word) // ',', ',')
          size_count = size_count + 1
          read (word(:comma - 1), *) sizes(size_count)
          word = word(comma + 1:)
        end do
      end if
    end do
  end subroutine

  ! What image 1 measures of one repetition, in us, divided by `parts`. Each sample is the median of
  ! its share of the batches, with the line's trip before it; with `moved` bytes also GB/s.
  subroutine measure(act, name, params, parts, moved)
    procedure(work) :: act
    character(*), intent(in) :: name, params
    integer, intent(in), optional :: parts, moved
    real(real64) :: ns(most_batches), begin, us, line
    integer :: s, b, repetitions, batches, samples
    call make_plan(act, batches, repetitions)
    samples = min(batches, most_samples)
    batches = batches / samples
    do s = 1, samples
      line = line_trip()
      do b = 1, batches
        begin = now_ns()
        call act(repetitions)
        ns(b) = (now_ns() - begin) / repetitions
      end do
      us = median(ns(:batches)) / 1000
      if (present(parts)) us = us / parts
      call report(name, 'latency', 'us', params, us, line)
      if (present(moved)) call report(name, 'bandwidth', 'GB/s', params, moved / us / 1000, line)
    end do
    sync all
  end subroutine

  ! How many batches of how many repetitions, by what one takes on image 1.
  subroutine make_plan(act, batches, repetitions)
    procedure(work) :: act
    integer, intent(out) :: batches, repetitions
    integer, save :: plan(2)[*]
    real(real64) :: begin, each
    call act(20)
    sync all
    begin = now_ns()
    call act(50)
    each = max(1.0_real64, (now_ns() - begin) / 50)
    if (me == 1) then
      plan = [most_batches, int(min(20000.0_real64, budget_ns / most_batches / each))]
      if (plan(2) < 1) plan = [max(3, min(most_batches, int(budget_ns / each))), 1]
      plan(:)[other] = plan(:)
    end if
    sync all
    batches = plan(1)
    repetitions = plan(2)
  end subroutine
end module

! What is timed. Both images call each of these with the same number of repetitions.
module acts
  use timing
  implicit none
  type parcel
    real(real64), pointer :: values(:) => null()
  end type
  real(real64), allocatable :: field(:)[:], target_field(:)
  real(real64), save :: v1(131072)[*], v2(131072)[*], v3(131072)[*], v4(131072)[*]
  real(real64), save :: v5(131072)[*], v6(131072)[*], v7(131072)[*], v8(131072)[*]
  real(real64), save :: scattered(4000)[*], small(1024)[*]
  type(parcel), save :: boundary[*]
  real(real64), allocatable, target :: own(:)
  real(real64), allocatable :: ghost(:), sums(:)
  integer :: chosen(1000), n, variables
  logical :: blocking

contains

  ! The passive image waits for the active one's synchronisation.
  subroutine put(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      if (me == 1) then
        field(1:n)[2] = target_field(1:n)
        sync images (2)
        sync images (2)
      else
        sync images (1)
        field(1:n)[1] = target_field(1:n)
        sync images (1)
      end if
    end do
  end subroutine

  subroutine get(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      if (me == 1) then
        target_field(1:n) = field(1:n)[2]
        sync images (2)
        sync images (2)
      else
        sync images (1)
        target_field(1:n) = field(1:n)[1]
        sync images (1)
      end if
    end do
  end subroutine

  ! In an expression the compiler makes a temporary array and copies it: the seed's GET(a).
  subroutine get_by_temporary(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      if (me == 1) then
        target_field(1:n) = (field(1:n)[2])
        sync images (2)
        sync images (2)
      else
        sync images (1)
        target_field(1:n) = (field(1:n)[1])
        sync images (1)
      end if
    end do
  end subroutine

  ! So many variables, one after the other; blocking: each has arrived before the next begins.
  subroutine put_variables()
    v1(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    if (variables < 2) return
    v2(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    if (variables < 4) return
    v3(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    v4(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    if (variables < 8) return
    v5(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    v6(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    v7(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
    v8(1:n)[other] = target_field(1:n)
    if (blocking) sync memory
  end subroutine

  subroutine variables_there_and_back(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      if (me == 2) sync images (1)
      call put_variables()
      sync images (other)
      if (me == 1) sync images (2)
    end do
  end subroutine

  ! One-sided: image 1 works, image 2 does nothing until the end.
  subroutine put_strided(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    if (me == 1) then
      do i = 1, repetitions
        scattered(1:3997:4)[2] = small(1:1000)
      end do
    end if
    sync all
  end subroutine

  subroutine get_vector(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    if (me == 1) then
      do i = 1, repetitions
        small(1:1000) = scattered(chosen)[2]
      end do
    end if
    sync all
  end subroutine

  ! A thousand puts of one number each.
  subroutine put_stream(repetitions)
    integer, intent(in) :: repetitions
    integer :: i, k
    if (me == 1) then
      do i = 1, repetitions
        do k = 1, 1000
          small(k)[2] = real(i, real64)
        end do
      end do
    end if
    sync all
  end subroutine

  subroutine barrier(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      sync all
    end do
  end subroutine

  subroutine pair(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      sync images (other)
    end do
  end subroutine

  subroutine add_up(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      call co_sum(sums(1:n))
      sums(1:n) = 1
    end do
  end subroutine

  ! Each reads what it needs through a pointer component of the other, whose target is no coarray.
  subroutine halo_section(repetitions)
    integer, intent(in) :: repetitions
    integer :: i
    do i = 1, repetitions
      sync images (other)
      ghost(1:n) = boundary[other]%values(1:n)
      sync images (other)
    end do
  end subroutine

  subroutine halo_elements(repetitions)
    integer, intent(in) :: repetitions
    integer :: i, k
    do i = 1, repetitions
      sync images (other)
      do k = 1, n
        ghost(k) = boundary[other]%values(4 * k)
      end do
      sync images (other)
    end do
  end subroutine
end module

program coarray
  use acts
  implicit none
  integer :: s, bytes, largest
  character(60) :: params
  integer, parameter :: sum_lengths(3) = [1, 1024, 524288]

  if (num_images() /= 2) error stop 'two images are needed'
  me = this_image()
  other = 3 - me
  call read_words()
  call line_open()
  largest = max(8, maxval(sizes(:size_count)))
  allocate (field(largest / 8)[*])
  allocate (target_field(largest / 8), own(4096), ghost(4096), sums(524288))
  field = 1
  target_field = 2
  own = me
  sums = 1
  chosen = [(mod(s * 797, 4000) + 1, s=1, 1000)]
  boundary%values => own
  v1 = 0; v2 = 0; v3 = 0; v4 = 0; v5 = 0; v6 = 0; v7 = 0; v8 = 0
  scattered = 0
  small = 1
  sync all

  do s = 1, size_count
    bytes = sizes(s)
    n = max(1, bytes / 8)
    write (params, '(a,i0)') 'bytes=', bytes
    if (bytes >= 32768) then
      call measure(put, 'put', trim(params), 2, bytes)
      call measure(get, 'get', trim(params) // ',into=target', 2, bytes)
    else
      call measure(put, 'put', trim(params), 2)
      call measure(get, 'get', trim(params) // ',into=target', 2)
    end if
    call measure(get_by_temporary, 'get', trim(params) // ',into=temporary', 2)
    if (bytes > 8 * size(v1)) cycle
    call each_number_of_variables()
  end do
  call measure(put_strided, 'put-strided', 'bytes=8000')
  call measure(get_vector, 'get-vector', 'bytes=8000')
  call measure(put_stream, 'put-stream', 'bytes=8', 1000)
  call measure(barrier, 'sync-all', 'images=2')
  call measure(pair, 'sync-images', 'images=2')
  do s = 1, size(sum_lengths)
    n = sum_lengths(s)
    write (params, '(a,i0)') 'bytes=', 8 * n
    call measure(add_up, 'co-sum', trim(params))
  end do
  if (with_halo) then
    n = 128
    call measure(halo_section, 'halo', 'bytes=1024,kind=section')
    n = 16
    call measure(halo_elements, 'halo', 'bytes=128,kind=elements')
  end if

contains

  subroutine each_number_of_variables()
    integer :: k
    do k = 1, 8
      variables = 2**((k - 1) / 2)
      blocking = mod(k, 2) == 1
      write (params, '(a,i0,a,i0,2a)') 'bytes=', bytes, ',variables=', variables, ',way=', &
        trim(merge('blocking   ', 'nonblocking', blocking))
      if (variables == 8) then
        call measure(variables_there_and_back, 'put-variables', trim(params), 2, variables * bytes)
      else
        call measure(variables_there_and_back, 'put-variables', trim(params), 2)
      end if
    end do
  end subroutine
end program
