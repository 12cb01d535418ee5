// SPDX-License-Identifier: BSD-3-Clause
// The planner of transfers: which rank does one, in which way, and which bytes belong together.
// Pure: it computes from layouts, sections and numbers, reads no instance, sends nothing and waits
// for nothing. mover.cpp and operations.cpp carry out what it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "region/instance_table.hpp"
#include "region/messages.hpp"
#include "region/record.hpp"
#include "region/walker.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::region {

// --- who, and how -------------------------------------------------------------------------------

/// Whose private memory the two sides of a transfer are, or every_rank.
struct owners {
  job_rank source = every_rank;
  job_rank target = every_rank;

  [[nodiscard]] bool source_is_far(job_rank from) const noexcept {
    return source != every_rank && source != from;
  }
  [[nodiscard]] bool target_is_far(job_rank from) const noexcept {
    return target != every_rank && target != from;
  }
};

/// The rank that begins it: one that sees both sides, if there is one; `me`, if the kernel copies
/// between processes and one side is seen here; else the owner of the source.
[[nodiscard]] job_rank choose_executor(action what, owners of, job_rank me,
                                       bool kernel_copies) noexcept;
/// The rank that sends the source by messages, where the kernel copies nothing.
[[nodiscard]] job_rank choose_sender(owners of, job_rank me) noexcept;

/// A node that has parts of an instance, and a rank there that can touch all of these.
struct share {
  int node;
  job_rank rank;
  friend bool operator==(const share&, const share&) = default;
};
/// Of an instance: in the order of its parts. On the node of `me` that is `me`, if it can be.
[[nodiscard]] std::vector<share> shares_of(const known& k, const shared_heaps& heaps, job_rank me);

/// Who carries out a transfer whose sides lie on any nodes.
struct division {
  std::vector<job_rank> executors;
  bool spread = false;  ///< transfer::spread
};
/// A copy or a reduction by who sees the source: the target is sent, since a message that brings
/// what was asked for and one that pushes it cost the same, and a push needs no question. Both
/// sides on one node: one rank, as within a node.
[[nodiscard]] division divide(std::span<const share> source, std::span<const share> target,
                              owners of);
/// A fill: each node its own.
[[nodiscard]] division divide(std::span<const share> target);

enum class copy_way : std::uint8_t {
  nothing,    ///< no elements
  by_runs,    ///< run by run
  scattered,  ///< addresses first, then sorted and joined
  messages,   ///< neither side is seen here
};

/// Contiguous pieces of another rank's private memory that are shorter are worth sorting and
/// joining.
inline constexpr std::uint64_t least_piece = 512;

struct copy_facts {
  std::uint64_t elements = 0;
  std::size_t bytes = 0;         ///< of an element
  std::uint64_t contiguous = 0;  ///< bytes on both sides, as the first run has them
  bool listed = false;           ///< a side goes by indices
};
[[nodiscard]] copy_way choose_copy_way(const copy_facts& facts, owners of, job_rank me) noexcept;

// --- both sides' runs ---------------------------------------------------------------------------

/// Two walkers advanced together: the runs on which both sides go on alike.
class paired_walk {
 public:
  /// As many elements on both sides. Both outlive this.
  paired_walk(walker& from, walker& to) noexcept : from_(from), to_(to) {
    SINEW_EXPECT(from.left() == to.left());
  }
  struct pair {
    run from;
    run to;
    std::uint64_t count;  ///< elements; 1 at least
  };
  [[nodiscard]] bool done() const noexcept { return from_.done(); }
  /// Not if done().
  [[nodiscard]] pair now() const noexcept {
    const run a = from_.now();
    const run b = to_.now();
    return {a, b, std::min(a.count, b.count)};
  }
  void skip(std::uint64_t elements) noexcept {
    SINEW_EXPECT(elements != 0);
    from_.skip(elements);
    to_.skip(elements);
    SINEW_ENSURE(from_.left() == to_.left());
  }
  /// Bytes that lie side by side on both sides, as the first run has them. Not if done().
  [[nodiscard]] std::uint64_t contiguous(std::size_t bytes) const noexcept {
    const pair p = now();
    const auto size = static_cast<std::int64_t>(bytes);
    return p.from.step == size && p.to.step == size ? p.count * bytes : bytes;
  }

 private:
  walker& from_;
  walker& to_;
};

// --- pieces for the kernel ----------------------------------------------------------------------

/// A run here and one in another rank's memory, where addresses count.
struct far_run {
  std::byte* here;
  std::int64_t here_step;
  std::uint64_t there;
  std::int64_t there_step;
  std::uint64_t count;
  std::size_t bytes;  ///< of an element
};

/// Collects pieces of one peer and direction at a time, and gives each full or finished batch to
/// copy(peer, direction, pieces).
template <class Copy>
class piece_batch {
 public:
  static constexpr std::size_t most_pieces = 256;

  explicit piece_batch(Copy copy) : copy_(std::move(copy)) {}

  /// One piece if both sides are contiguous, else one for each element.
  void add(job_rank peer, fabric::direction way, far_run r) {
    SINEW_EXPECT(peer >= 0 && r.count != 0 && r.bytes != 0);
    const auto size = static_cast<std::int64_t>(r.bytes);
    if (r.count == 1 || (r.here_step == size && r.there_step == size)) {
      return add_piece(peer, way, {r.here, r.there, r.count * r.bytes});
    }
    for (; r.count != 0; --r.count) {
      add_piece(peer, way, {r.here, r.there, r.bytes});
      r.here += r.here_step;
      r.there += static_cast<std::uint64_t>(r.there_step);
    }
  }
  void flush() {
    if (count_ != 0) {
      copy_(peer_, way_, std::span<const fabric::piece>(pieces_.data(), count_));
    }
    count_ = 0;
  }

 private:
  void add_piece(job_rank peer, fabric::direction way, const fabric::piece& p) {
    if (count_ == most_pieces || (count_ != 0 && (peer != peer_ || way != way_))) {
      flush();
    }
    peer_ = peer;
    way_ = way;
    pieces_[count_++] = p;
    SINEW_ENSURE(count_ <= most_pieces);
  }

  Copy copy_;
  job_rank peer_ = -1;
  fabric::direction way_ = fabric::direction::in;
  std::size_t count_ = 0;
  std::array<fabric::piece, most_pieces> pieces_;
};

/// One element to be moved between an address of another rank and one here.
struct element_move {
  std::uint64_t there;
  std::byte* here;
};

/// By the address there; elements at one address keep their order.
void sort_by_address(std::span<element_move> moves);

/// The first of some sorted elements, as pieces that fit into a buffer.
struct joined_read {
  std::vector<fabric::piece> pieces;
  std::vector<const std::byte*> found;  ///< where in the buffer each of the elements will be
};
/// Fills `plan` with as many of `moves` as fit into `buffer` (one fits at least), joined where at
/// most `gap` bytes lie between them: a piece costs as much as reading that many bytes.
void plan_read(std::span<const element_move> moves, std::size_t bytes, std::uint64_t gap,
               std::span<std::byte> buffer, joined_read& plan);

/// Packs the sorted elements into `packed`, which has place for all of them, and returns the pieces
/// to write: joined only where elements touch, since bytes between are not ours to write. Of
/// several elements for one address the last one is written.
[[nodiscard]] std::vector<fabric::piece> plan_write(std::span<const element_move> moves,
                                                    std::size_t bytes, std::span<std::byte> packed);

}  // namespace sinew::region
