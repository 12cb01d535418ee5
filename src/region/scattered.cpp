// SPDX-License-Identifier: BSD-3-Clause
// Copies whose elements lie apart: indices, or short runs of another rank's private memory.
//
// Addresses of many elements are worked out first, so that their cache misses overlap. What the
// kernel copies is sorted by the address there and joined: reads also over gaps, since a piece
// costs as much as some thousand bytes; writes only where elements touch. ROMIO's data sieving does
// the same with files (Thakur, Gropp and Lusk 1999).
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "region/mover.hpp"

namespace sinew::region {
namespace {

using fabric::direction;

constexpr std::size_t seen_at_once = 1024;    ///< elements; their addresses stay in the cache
constexpr std::size_t far_at_once = 1 << 15;  ///< elements; more lie closer together
constexpr std::size_t most_read = std::size_t{1} << 20;  ///< bytes, with the gaps
/// A piece costs about 0.4 us in the kernel (process_vm_readv pins its pages); gaps of 2 KiB cost
/// as much.
constexpr std::uint64_t widest_gap = 1024;

std::byte* here_at(std::uint64_t address) noexcept { return reinterpret_cast<std::byte*>(address); }

template <std::size_t Bytes>
void move_each(std::span<const std::uint64_t> from, std::span<const std::uint64_t> to) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::memcpy(here_at(to[i]), here_at(from[i]), Bytes);
  }
}

void move_each(std::span<const std::uint64_t> from, std::span<const std::uint64_t> to,
               std::size_t bytes) noexcept {
  SINEW_EXPECT(from.size() == to.size());
  switch (bytes) {
    case 1:
      return move_each<1>(from, to);
    case 2:
      return move_each<2>(from, to);
    case 4:
      return move_each<4>(from, to);
    case 8:
      return move_each<8>(from, to);
    case 16:
      return move_each<16>(from, to);
    default:
      for (std::size_t i = 0; i < from.size(); ++i) {
        std::memcpy(here_at(to[i]), here_at(from[i]), bytes);
      }
  }
}

}  // namespace

/// One of the two sides is seen here.
void mover::copy_scattered(address_list& from, address_list& to, std::uint64_t elements,
                           std::size_t bytes) {
  const bool in = from.far() != every_rank;
  const bool out = to.far() != every_rank;
  if (in && out) {
    throw kernel_refused{};
  }
  const std::size_t most =
      std::min<std::uint64_t>(elements, in || out ? far_at_once : seen_at_once);
  std::vector<std::uint64_t> sources(most);
  std::vector<std::uint64_t> targets(most);
  std::vector<element_move> moves;
  for (std::uint64_t done = 0; done < elements;) {
    const std::size_t n = std::min<std::uint64_t>(most, elements - done);
    const std::span<std::uint64_t> source = std::span(sources).first(n);
    const std::span<std::uint64_t> target = std::span(targets).first(n);
    from.next(source);
    to.next(target);
    done += n;
    if (!in && !out) {
      move_each(source, target, bytes);
      continue;
    }
    moves.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      moves[i] = in ? element_move{source[i], here_at(target[i])}
                    : element_move{target[i], here_at(source[i])};
    }
    sort_by_address(moves);
    in ? gather(from.far(), moves, bytes) : scatter(to.far(), moves, bytes);
  }
}

void mover::gather(job_rank peer, std::span<const element_move> moves, std::size_t bytes) {
  SINEW_EXPECT(!moves.empty() && moves.front().there <= moves.back().there);
  std::vector<std::byte> buffer(std::max(
      bytes, std::min<std::size_t>(most_read, moves.back().there + bytes - moves.front().there)));
  const std::uint64_t gap = peers_.may_read_gaps() ? widest_gap : 0;
  joined_read plan;
  while (!moves.empty()) {
    plan_read(moves, bytes, gap, buffer, plan);
    peers_.copy(peer, direction::in, plan.pieces);
    for (std::size_t i = 0; i < plan.found.size(); ++i) {
      std::memcpy(moves[i].here, plan.found[i], bytes);
    }
    moves = moves.subspan(plan.found.size());
  }
}

void mover::scatter(job_rank peer, std::span<const element_move> moves, std::size_t bytes) {
  SINEW_EXPECT(!moves.empty());
  std::vector<std::byte> packed(moves.size() * bytes);
  peers_.copy(peer, direction::out, plan_write(moves, bytes, packed));
}

}  // namespace sinew::region
