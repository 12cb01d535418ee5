// Copies whose elements lie apart: indices, or short runs of another rank's private memory.
//
// Addresses of many elements are worked out first, so that their cache misses overlap. What the
// kernel copies is sorted by the address there and joined: reads also over gaps, since a piece
// costs as much as some thousand bytes; writes only where elements touch.
#include <algorithm>
#include <cstring>

#include "region/body.hpp"

namespace sinew::region {
namespace {

using fabric::direction;
using fabric::piece;

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

bool earlier(const element_move& a, const element_move& b) noexcept { return a.there < b.there; }

}  // namespace

void addresses::next(std::span<std::uint64_t> to, std::uint64_t done,
                     std::size_t bytes) const noexcept {
  if (at != nullptr) {
    return at->addresses(bases, to);
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = reinterpret_cast<std::uintptr_t>(here) + (done + i) * bytes;
  }
}

addresses system::body::addresses_of(const walk& w) const {
  addresses a;
  a.at = w.at.get();
  for (std::uint32_t p = 0; p < w.what->where.parts; ++p) {
    const std::byte* base = reach(*w.what, p);
    a.bases.push_back(base != nullptr ? reinterpret_cast<std::uintptr_t>(base)
                                      : w.what->place(p).address);
  }
  a.far = sees(*w.what) ? -1 : w.what->private_to();
  return a;
}

/// One of the two sides is seen here.
void system::body::copy_scattered(const addresses& from, const addresses& to,
                                  std::uint64_t elements, std::size_t bytes) {
  const bool far = from.far != -1 || to.far != -1;
  const std::size_t most = std::min<std::uint64_t>(elements, far ? far_at_once : seen_at_once);
  std::vector<std::uint64_t> sources(most);
  std::vector<std::uint64_t> targets(most);
  std::vector<element_move> moves;
  for (std::uint64_t done = 0; done < elements;) {
    const std::size_t n = std::min<std::uint64_t>(most, elements - done);
    const std::span<std::uint64_t> source = std::span(sources).first(n);
    const std::span<std::uint64_t> target = std::span(targets).first(n);
    from.next(source, done, bytes);
    to.next(target, done, bytes);
    done += n;
    if (!far) {
      move_each(source, target, bytes);
      continue;
    }
    const bool in = from.far != -1;
    moves.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      moves[i] = in ? element_move{source[i], here_at(target[i])}
                    : element_move{target[i], here_at(source[i])};
    }
    if (!std::is_sorted(moves.begin(), moves.end(), earlier)) {
      std::stable_sort(moves.begin(), moves.end(), earlier);
    }
    in ? gather_far(from.far, moves, bytes) : scatter_far(to.far, moves, bytes);
  }
}

void system::body::gather_far(int peer, std::vector<element_move>& moves, std::size_t bytes) {
  std::vector<std::byte> read(std::max(
      bytes, std::min<std::size_t>(most_read, moves.back().there + bytes - moves.front().there)));
  std::vector<piece> pieces;
  std::vector<const std::byte*> found;
  std::size_t first = 0;  // of the elements read together
  std::size_t used = 0;
  // What lies between is read to spare system calls; others may be writing there.
  const std::uint64_t gap = rma.runtime().endpoint().in_one_process() ? 0 : widest_gap;
  for (std::size_t i = 0; i <= moves.size(); ++i) {
    if (i < moves.size()) {
      const std::uint64_t there = moves[i].there;
      const std::uint64_t end = pieces.empty() ? 0 : pieces.back().remote + pieces.back().bytes;
      const bool joins = !pieces.empty() && there <= end + gap;
      const std::uint64_t more = !joins ? bytes : there + bytes > end ? there + bytes - end : 0;
      if (used + more <= read.size()) {
        if (joins) {
          pieces.back().bytes += more;
        } else {
          pieces.push_back({read.data() + used, there, bytes});
        }
        used += more;
        const piece& last = pieces.back();
        found.push_back(static_cast<const std::byte*>(last.local) + (there - last.remote));
        continue;
      }
    }
    kernel(peer, direction::in, pieces);
    for (std::size_t j = first; j < i; ++j) {
      std::memcpy(moves[j].here, found[j - first], bytes);
    }
    if (i == moves.size()) {
      return;
    }
    pieces.clear();
    found.clear();
    used = 0;
    first = i--;  // this one again, with room
  }
}

void system::body::scatter_far(int peer, std::vector<element_move>& moves, std::size_t bytes) {
  std::vector<std::byte> packed(moves.size() * bytes);
  std::vector<piece> pieces;
  std::byte* at = packed.data();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (i + 1 < moves.size() && moves[i + 1].there == moves[i].there) {
      continue;  // the last one to the same element counts
    }
    std::memcpy(at, moves[i].here, bytes);
    if (!pieces.empty() && pieces.back().remote + pieces.back().bytes == moves[i].there) {
      pieces.back().bytes += bytes;
    } else {
      pieces.push_back({at, moves[i].there, bytes});
    }
    at += bytes;
  }
  kernel(peer, direction::out, pieces);
}

}  // namespace sinew::region
