! SPDX-License-Identifier: BSD-3-Clause
! Exchanges as a fire simulation has them: the domain is a grid of small meshes, some of them solid,
! dealt to the ranks one by one, so that nearly all neighbours are remote; in each step every mesh
! sends each of up to 26 neighbours a message for each of four quantities, with a tag of its own.
! A rank has posted a thousand receives when the messages come, in another order than posted. The
! meshes smooth the quantities; the sum at the end must be that of one rank alone, to the last bit.
include '../common/measure.f90'

module meshes
  use measure
  implicit none
  integer, parameter :: n = 4, quantities = 4, deep = 4

  type mesh
    integer :: id
    real(real64) :: u(0:n + 1, 0:n + 1, 0:n + 1, quantities)
  end type

  ! What mesh `mine` (a place in the list) sends to mesh `other` in direction `d`, and gets back.
  type link
    integer :: mine, other, d(3), owner
    real(real64) :: outgoing(n * n, quantities), incoming(n * n, quantities)
  end type

  type domain
    type(mesh), allocatable :: all(:)
    type(link), allocatable :: links(:)
    integer :: wide, high
  end type

contains

  pure logical function solid(id)
    integer, intent(in) :: id
    solid = mod(id * 7 + 3, 11) == 0
  end function

  ! The meshes of one of `ranks`; across the edges of the domain it goes on at the other side.
  subroutine set_up(x, count, rank, ranks)
    type(domain), intent(out) :: x
    integer, intent(in) :: count, rank, ranks
    type(link), allocatable :: links(:)
    integer :: id, i, k, d(3), place(3), other, many
    x%wide = 4
    x%high = count / (x%wide * deep)
    x%all = [mesh ::]
    allocate (links(26 * (count / ranks + 1)))
    many = 0
    do id = 0, count - 1
      if (solid(id) .or. mod(id, ranks) /= rank) cycle
      x%all = [x%all, fresh(id)]
      do i = 0, 26
        d = [mod(i, 3), mod(i / 3, 3), i / 9] - 1
        if (all(d == 0)) cycle
        place = modulo([mod(id, x%wide), mod(id / x%wide, deep), id / (x%wide * deep)] + d, &
            [x%wide, deep, x%high])
        other = place(1) + x%wide * (place(2) + deep * place(3))
        if (solid(other)) cycle
        many = many + 1
        links(many)%mine = size(x%all)
        links(many)%other = other
        links(many)%d = d
        links(many)%owner = mod(other, ranks)
      end do
    end do
    allocate (x%links(many))
    do k = 1, many
      x%links(k) = links(k)
    end do
  end subroutine

  type(mesh) function fresh(id)
    integer, intent(in) :: id
    integer :: i, j, k, q
    fresh%id = id
    fresh%u = 0
    do q = 1, quantities
      do k = 1, n
        do j = 1, n
          do i = 1, n
            fresh%u(i, j, k, q) = mod(id * 31 + i * 7 + j * 5 + k * 3 + q, 97)
          end do
        end do
      end do
    end do
  end function

  ! Cells along one axis: the own boundary that goes in direction d, or the halo that is there.
  pure subroutine range(d, halo, first, last)
    integer, intent(in) :: d
    logical, intent(in) :: halo
    integer, intent(out) :: first, last
    first = 1
    last = n
    if (d < 0) last = 1
    if (d > 0) first = n
    if (halo .and. d < 0) first = 0
    if (halo .and. d < 0) last = 0
    if (halo .and. d > 0) first = n + 1
    if (halo .and. d > 0) last = n + 1
  end subroutine

  integer function cells(l)
    type(link), intent(in) :: l
    cells = n**count(l%d == 0)
  end function

  subroutine pack(x, l, q)
    type(domain), intent(in) :: x
    type(link), intent(inout) :: l
    integer, intent(in) :: q
    integer :: f(3), t(3), a
    do a = 1, 3
      call range(l%d(a), .false., f(a), t(a))
    end do
    l%outgoing(:cells(l), q) = reshape(x%all(l%mine)%u(f(1):t(1), f(2):t(2), f(3):t(3), q), [cells(l)])
  end subroutine

  subroutine unpack(x, l, q)
    type(domain), intent(inout) :: x
    type(link), intent(in) :: l
    integer, intent(in) :: q
    integer :: f(3), t(3), a
    do a = 1, 3
      call range(l%d(a), .true., f(a), t(a))
    end do
    x%all(l%mine)%u(f(1):t(1), f(2):t(2), f(3):t(3), q) = &
        reshape(l%incoming(:cells(l), q), t - f + 1)
  end subroutine

  ! Tells direction and quantity, too: in a small domain two meshes are neighbours in several.
  integer function tag(from, to, d, q)
    integer, intent(in) :: from, to, d(3), q
    tag = ((from * 64 + to) * 27 + (d(1) + 1) + 3 * (d(2) + 1) + 9 * (d(3) + 1)) * quantities + q - 1
  end function

  subroutine exchange(x, rank)
    type(domain), intent(inout), target :: x
    integer, intent(in) :: rank
    type(MPI_Request) :: requests(2 * quantities * size(x%links))
    integer :: i, q, many
    many = 0
    do q = 1, quantities
      do i = 1, size(x%links)
        associate (l => x%links(i))
          if (l%owner == rank) cycle
          many = many + 1
          call MPI_Irecv(l%incoming(1, q), cells(l), MPI_DOUBLE_PRECISION, l%owner, &
              tag(l%other, x%all(l%mine)%id, -l%d, q), MPI_COMM_WORLD, requests(many))
        end associate
      end do
    end do
    do i = size(x%links), 1, -1
      do q = 1, quantities
        associate (l => x%links(i))
          call pack(x, l, q)
          if (l%owner == rank) cycle
          many = many + 1
          call MPI_Isend(l%outgoing(1, q), cells(l), MPI_DOUBLE_PRECISION, l%owner, &
              tag(x%all(l%mine)%id, l%other, l%d, q), MPI_COMM_WORLD, requests(many))
        end associate
      end do
    end do
    call copy_own(x, rank)
    call MPI_Waitall(many, requests, MPI_STATUSES_IGNORE)
    do i = 1, size(x%links)
      do q = 1, quantities
        call unpack(x, x%links(i), q)
      end do
    end do
  end subroutine

  ! Between meshes of one rank nothing is sent.
  subroutine copy_own(x, rank)
    type(domain), intent(inout) :: x
    integer, intent(in) :: rank
    integer :: i, k
    do i = 1, size(x%links)
      if (x%links(i)%owner /= rank) cycle
      do k = 1, size(x%links)
        if (x%links(k)%owner == rank .and. x%all(x%links(k)%mine)%id == x%links(i)%other .and. &
            x%links(k)%other == x%all(x%links(i)%mine)%id .and. &
            all(x%links(k)%d == -x%links(i)%d)) then
          x%links(i)%incoming = x%links(k)%outgoing
          exit
        end if
      end do
    end do
  end subroutine

  subroutine smooth(x)
    type(domain), intent(inout) :: x
    real(real64) :: next(n, n, n, quantities)
    integer :: m, i, j, k
    do m = 1, size(x%all)
      next = x%all(m)%u(1:n, 1:n, 1:n, :)
      do k = -1, 1
        do j = -1, 1
          do i = -1, 1
            next = next + x%all(m)%u(1 + i:n + i, 1 + j:n + j, 1 + k:n + k, :) / 32
          end do
        end do
      end do
      x%all(m)%u(1:n, 1:n, 1:n, :) = next / 2
    end do
  end subroutine

  ! In the order of the meshes of the whole domain, so that every split adds up alike.
  real(real64) function total(x, count, comm)
    type(domain), intent(in) :: x
    integer, intent(in) :: count
    type(MPI_Comm), intent(in) :: comm
    real(real64) :: sums(0:count - 1)
    integer :: m
    sums = 0
    do m = 1, size(x%all)
      sums(x%all(m)%id) = sum(x%all(m)%u(1:n, 1:n, 1:n, :))
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    total = sum(sums)
  end function

end module

program fire
  use meshes
  implicit none
  integer, parameter :: checked = 3
  type(domain) :: x, alone
  real(real64) :: us(most_batches), begin, of_all, line
  integer :: rank, ranks, many, i, sample, samples, batch, batches, repetitions
  character(60) :: params
  call start(2)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  many = nint(option('meshes', 48d0))
  write (params, '(a,i0,a,i0)') 'meshes=', many, ',ranks=', ranks
  call line_open(rank)
  call set_up(x, many, rank, ranks)
  call set_up(alone, many, 0, 1)
  do i = 1, checked
    call exchange(alone, 0)
    call smooth(alone)
    call exchange(x, rank)
    call smooth(x)
  end do
  of_all = total(alone, many, MPI_COMM_SELF)
  if (total(x, many, MPI_COMM_WORLD) /= of_all) call stop_all('another sum than one rank alone')
  call MPI_Barrier(MPI_COMM_WORLD)
  begin = MPI_Wtime()
  call steps(checked)
  call make_plan((MPI_Wtime() - begin) * 1d9 / checked, option('budget_ms', 200d0), batches, repetitions)
  samples = min(batches, most_samples)
  batches = batches / samples
  do sample = 1, samples
    line = line_trip(rank)
    do batch = 1, batches
      begin = MPI_Wtime()
      call steps(repetitions)
      us(batch) = (MPI_Wtime() - begin) * 1d6 / repetitions
    end do
    if (rank == 0) call report('fire', 'latency', 'us', trim(params), median(us(:batches)), line)
  end do
  call MPI_Finalize()
contains
  subroutine steps(number)
    integer, intent(in) :: number
    integer :: step
    do step = 1, number
      call exchange(x, rank)
      call smooth(x)
    end do
  end subroutine
end program
