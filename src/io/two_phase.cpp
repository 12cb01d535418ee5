// SPDX-License-Identifier: BSD-3-Clause
// Collective accesses in two phases: some ranks, the aggregators, read or write large parts of the
// file each, and exchange the data with the ranks that have or want them. So many small pieces of
// many ranks become few large accesses.
//
// A view that does not fold rises with its file: what a rank has in a part of the file is one range
// of its positions. So a rank sends each aggregator one range of its data, as it lies there, and a
// list of the pieces that they are in the file.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "io/transfer.hpp"
#include "sinew/base/check.hpp"
#include "sinew/io/agreement.hpp"

namespace sinew::io {
namespace {

using choice = hints::choice;

constexpr std::int64_t page = 4096;
/// Pieces as long as this one are as well served by a call each: a system call costs as much as
/// copying a piece once more, or a message to a server does.
constexpr std::int64_t long_piece = 1024;
constexpr std::int64_t long_remote_piece = std::int64_t{64} << 10;
/// Of a range of which fewer bytes than one in so many are accessed, most rounds would be empty.
constexpr std::int64_t sparse = 16;

/// What the ranks exchange first.
struct access_range {
  std::int64_t begin;  ///< of what the rank accesses in the file; these two: 0 if nothing
  std::int64_t end;
  std::int64_t bytes;
  std::int64_t pieces;  ///< about how many
  std::int64_t size;    ///< of the file, as the rank sees it
  std::int64_t alone;   ///< 1: this rank can only do it alone
  std::int64_t remote;  ///< 1: the file is another machine's
};
// They travel as bytes.
static_assert(std::is_trivially_copyable_v<access_range> &&
              std::is_trivially_copyable_v<file_piece>);

std::int64_t round_up(std::int64_t n, std::int64_t to) {
  SINEW_EXPECT(n >= 0 && to > 0);
  return (n + to - 1) / to * to;
}

access_range range_of(const file::state& f, std::int64_t position, std::int64_t bytes) {
  access_range mine{0, 0, bytes, 0, f.system.size(), 0, f.system.remote() ? 1 : 0};
  if (bytes != 0) {
    const file_view& v = *f.view;
    mine.begin = v.offset_of(position);
    mine.end = v.offset_of(position + bytes - 1) + 1;
    mine.pieces = v.contiguous() ? 1 : bytes / std::max<std::int64_t>(v.usual_run(), 1) + 1;
    mine.alone = v.folded() ? 1 : 0;
  }
  return mine;
}

/// The parts of the file that the aggregators serve, round by round.
struct parts_of_file {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t each = 0;  ///< of an aggregator
  std::int64_t step = 0;  ///< of an aggregator in a round
  int aggregators = 1;
  int ranks = 1;

  [[nodiscard]] std::int64_t rounds() const { return (each + step - 1) / step; }
  [[nodiscard]] int rank_of(int aggregator) const {
    SINEW_EXPECT(aggregator >= 0 && aggregator < aggregators);
    return static_cast<int>(std::int64_t{aggregator} * ranks / aggregators);
  }
  /// Where a round of an aggregator ends.
  [[nodiscard]] std::int64_t end_of(int aggregator, std::int64_t round) const {
    const std::int64_t from = begin + aggregator * each;
    return std::min(from + std::min((round + 1) * step, each), end);
  }
};

/// How two-phase I/O would divide the access; an empty range if independent accesses are faster.
parts_of_file divide(const file::state& f, choice how, std::span<const access_range> all) {
  parts_of_file p;
  p.ranks = static_cast<int>(all.size());
  std::int64_t bytes = 0;
  std::int64_t pieces = 0;
  bool interleaved = false;
  bool possible = true;
  std::int64_t long_one = long_piece;
  for (const access_range& t : all) {
    possible = possible && t.alone == 0;
    long_one = t.remote != 0 ? long_remote_piece : long_one;
    if (t.bytes == 0) {
      continue;
    }
    interleaved = interleaved || (bytes != 0 && t.begin < p.end);
    p.begin = bytes == 0 ? t.begin : std::min(p.begin, t.begin);
    p.end = std::max(p.end, t.end);
    bytes += t.bytes;
    pieces += t.pieces;
  }
  const bool pays = interleaved && bytes / std::max<std::int64_t>(pieces, 1) < long_one;
  if (!possible || bytes == 0 || (p.end - p.begin) / sparse > bytes ||
      (how == choice::automatic && !pays)) {
    p.begin = p.end = 0;
    return p;
  }
  const hints::common& hints = f.hints.shared;
  const std::int64_t unit = hints.striping_unit != 0 ? hints.striping_unit : page;
  p.begin = p.begin / unit * unit;
  p.aggregators = f.hints.aggregators(p.ranks);
  p.each = round_up((p.end - p.begin + p.aggregators - 1) / p.aggregators, unit);
  p.step = std::min(hints.cb_buffer_size, p.each);
  SINEW_ENSURE(p.begin < p.end && p.step > 0 && p.step <= p.each);
  SINEW_ENSURE(p.begin + p.aggregators * p.each >= p.end);
  SINEW_ENSURE(p.aggregators >= 1 && p.aggregators <= p.ranks);
  return p;
}

/// Buffers are used again round by round; what they hold does not outlive one.
void grow(std::vector<std::byte>& buffer, std::int64_t bytes) {
  if (static_cast<std::int64_t>(buffer.size()) < bytes) {
    buffer.resize(static_cast<std::size_t>(bytes));
  }
}

/// Counts and displacements in bytes, one per rank.
struct amounts {
  explicit amounts(int ranks)
      : counts(static_cast<std::size_t>(ranks)), places(static_cast<std::size_t>(ranks)) {}
  /// One behind the other; returns the sum.
  std::ptrdiff_t line_up() {
    std::ptrdiff_t sum = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      places[r] = sum;
      sum += counts[r];
    }
    return sum;
  }
  [[nodiscard]] coll::parts of(const void* base) const {
    return {base, counts.data(), places.data(), &layout::of(layout::element::byte)};
  }
  std::vector<std::ptrdiff_t> counts;
  std::vector<std::ptrdiff_t> places;
};

class two_phases {
 public:
  two_phases(file::state& f, direction way, const parts_of_file& parts, std::int64_t position,
             std::int64_t bytes, const p2p::buffer& data)
      : f_(f),
        way_(way),
        at_(f.at),
        parts_(parts),
        position_(position),
        end_(position + bytes),
        data_(data),
        next_(static_cast<std::size_t>(parts.aggregators)),
        own_(parts.ranks),
        own_lists_(parts.ranks),
        others_(parts.ranks),
        others_lists_(parts.ranks) {
    for (int a = 0; a < parts.aggregators; ++a) {
      next_[static_cast<std::size_t>(a)] = position_before(parts.begin + a * parts.each);
    }
  }

  void run() {
    for (std::int64_t round = 0; round < parts_.rounds(); ++round) {
      list_own(round);
      exchange_lists();
      way_ == direction::write ? write_round() : read_round();
    }
    // When this returns on any rank, all data has been written, and all ranks know of a failure.
    const auto worst = static_cast<int>(largest_of(at_, error_));
    if (worst != 0) {
      fail_by_system(worst, way_ == direction::write ? "write" : "read", f_.path);
    }
  }

 private:
  /// A piece of another rank, and where its bytes lie here.
  struct placed {
    file_piece piece;
    std::byte* bytes;
  };

  /// This rank's position at an offset of the file.
  [[nodiscard]] std::int64_t position_before(std::int64_t offset) const {
    return position_ == end_ ? end_ : std::clamp(f_.view->bytes_before(offset), position_, end_);
  }

  /// What this rank has in the aggregators' parts of this round.
  void list_own(std::int64_t round) {
    std::fill(own_.counts.begin(), own_.counts.end(), 0);
    std::fill(own_.places.begin(), own_.places.end(), 0);
    std::fill(own_lists_.counts.begin(), own_lists_.counts.end(), 0);
    own_pieces_.clear();
    for (int a = 0; a < parts_.aggregators; ++a) {
      std::int64_t& from = next_[static_cast<std::size_t>(a)];
      const std::int64_t to = std::max(from, position_before(parts_.end_of(a, round)));
      const auto r = static_cast<std::size_t>(parts_.rank_of(a));
      own_.counts[r] = to - from;
      SINEW_ASSERT(own_.counts[r] >= 0);
      own_.places[r] = from - position_;
      const std::size_t listed = own_pieces_.size();
      view_cursor cursor(*f_.view, from);
      while (from < to) {
        own_pieces_.push_back(cursor.next(to - from));
        from += own_pieces_.back().bytes;
      }
      SINEW_ASSERT(from == to);
      own_lists_.counts[r] =
          static_cast<std::ptrdiff_t>((own_pieces_.size() - listed) * sizeof(file_piece));
    }
    (void)own_lists_.line_up();
    if (!data_.type->dense()) {
      // The data go through a buffer of their own, in the order of the ranks.
      own_positions_ = own_.places;
      grow(staged_, own_.line_up());
    }
  }

  void exchange_lists() {
    const auto ranks = static_cast<std::size_t>(parts_.ranks);
    std::vector<std::int64_t> out(2 * ranks);
    std::vector<std::int64_t> in(2 * ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      out[2 * r] = own_.counts[r];
      out[2 * r + 1] = own_lists_.counts[r];
    }
    constexpr std::size_t pair = 2 * sizeof(std::int64_t);
    check_collective(coll::alltoall(at_, p2p::buffer::of_bytes(out.data(), pair),
                                    p2p::buffer::of_bytes(in.data(), pair)));
    for (std::size_t r = 0; r < ranks; ++r) {
      others_.counts[r] = in[2 * r];
      others_lists_.counts[r] = in[2 * r + 1];
      SINEW_ASSERT(others_.counts[r] >= 0);
      SINEW_ASSERT(others_lists_.counts[r] % static_cast<std::ptrdiff_t>(sizeof(file_piece)) == 0);
    }
    grow(gathered_, others_.line_up());
    others_pieces_.resize(static_cast<std::size_t>(others_lists_.line_up()) / sizeof(file_piece));
    check_collective(coll::alltoall(at_, own_lists_.of(own_pieces_.data()),
                                    others_lists_.of(others_pieces_.data())));
  }

  /// Where this rank's data lie for the exchange.
  [[nodiscard]] std::byte* own_bytes() {
    return data_.type->dense() ? static_cast<std::byte*>(data_.base) : staged_.data();
  }

  /// Calls move(position in the data, bytes of the buffer between) for each aggregator.
  template <class Move>
  void for_each_staged(Move move) {
    for (std::size_t r = 0; !data_.type->dense() && r < own_.counts.size(); ++r) {
      if (own_.counts[r] != 0) {
        move(static_cast<std::size_t>(own_positions_[r]),
             std::span(staged_.data() + own_.places[r], static_cast<std::size_t>(own_.counts[r])));
      }
    }
  }

  /// The pieces of all ranks, with their bytes in gathered_, in the order of the file, and of the
  /// ranks where they are alike.
  std::vector<placed> in_order() {
    std::vector<placed> all;
    all.reserve(others_pieces_.size());
    std::byte* bytes = gathered_.data();
    for (const file_piece& p : others_pieces_) {  // by rank, as the bytes are
      all.push_back({p, bytes});
      bytes += p.bytes;
    }
    SINEW_ASSERT(bytes <= gathered_.data() + gathered_.size());
    const auto before = [](const placed& a, const placed& b) {
      return std::tie(a.piece.offset, a.bytes) < std::tie(b.piece.offset, b.bytes);
    };
    if (!std::is_sorted(all.begin(), all.end(), before)) {
      std::sort(all.begin(), all.end(), before);
    }
    return all;
  }

  void write_round() {
    for_each_staged([&](std::size_t from, std::span<std::byte> to) {
      (void)layout::pack(*data_.type, data_.count, data_.base, from, to);
    });
    check_collective(coll::alltoall(at_, own_.of(own_bytes()), others_.of(gathered_.data())));
    const std::vector<placed> all = in_order();
    for (std::size_t first = 0; first < all.size() && error_ == 0;) {
      // Pieces without holes between them are written at once. Where ranks write the same bytes,
      // the last rank's remain.
      const std::int64_t begin = all[first].piece.offset;
      std::int64_t end = begin + all[first].piece.bytes;
      std::size_t after = first + 1;
      while (after < all.size() && all[after].piece.offset <= end) {
        end = std::max(end, all[after].piece.offset + all[after].piece.bytes);
        ++after;
      }
      const std::byte* bytes = all[first].bytes;
      if (after != first + 1) {
        grow(assembled_, end - begin);
        for (std::size_t i = first; i < after; ++i) {
          std::memcpy(assembled_.data() + (all[i].piece.offset - begin), all[i].bytes,
                      static_cast<std::size_t>(all[i].piece.bytes));
        }
        bytes = assembled_.data();
      }
      error_ = write_plainly(f_, begin, bytes, end - begin);
      first = after;
    }
  }

  void read_round() {
    const std::vector<placed> all = in_order();
    if (!all.empty() && error_ == 0) {
      read_for(all);
    }
    check_collective(coll::alltoall(at_, others_.of(gathered_.data()), own_.of(own_bytes())));
    for_each_staged([&](std::size_t to, std::span<std::byte> from) {
      (void)layout::unpack(*data_.type, data_.count, data_.base, to, from);
    });
  }

  /// Reads what the pieces span, and copies it to where they lie.
  void read_for(const std::vector<placed>& all) {
    SINEW_EXPECT(!all.empty());
    const std::int64_t begin = all.front().piece.offset;
    std::int64_t end = begin;
    std::int64_t wanted = 0;
    for (const placed& p : all) {
      end = std::max(end, p.piece.offset + p.piece.bytes);
      wanted += p.piece.bytes;
    }
    if ((end - begin) / sparse > wanted) {
      for (const placed& p : all) {
        read_whole(p.piece.offset, p.bytes, p.piece.bytes);
      }
      return;
    }
    grow(assembled_, end - begin);
    read_whole(begin, assembled_.data(), end - begin);
    for (const placed& p : all) {
      std::memcpy(p.bytes, assembled_.data() + (p.piece.offset - begin),
                  static_cast<std::size_t>(p.piece.bytes));
    }
  }

  void read_whole(std::int64_t offset, std::byte* to, std::int64_t bytes) {
    const moved done = f_.system.read(offset, to, bytes);
    SINEW_ASSERT(done.bytes <= bytes);
    error_ = error_ == 0 ? done.error : error_;
    // No piece lies behind the file's end, unless the file was truncated meanwhile.
    std::memset(to + done.bytes, 0, static_cast<std::size_t>(bytes - done.bytes));
  }

  file::state& f_;
  direction way_;
  coll::participant at_;
  const parts_of_file& parts_;
  std::int64_t position_;
  std::int64_t end_;
  const p2p::buffer& data_;
  int error_ = 0;  ///< the first error number on this rank

  std::vector<std::int64_t> next_;  ///< by aggregator: what has not been exchanged yet
  // This rank's side, then an aggregator's; amounts by the other rank.
  amounts own_;
  amounts own_lists_;
  std::vector<file_piece> own_pieces_;
  std::vector<std::ptrdiff_t> own_positions_;  ///< in the data, if they are staged
  std::vector<std::byte> staged_;
  amounts others_;
  amounts others_lists_;
  std::vector<file_piece> others_pieces_;
  std::vector<std::byte> gathered_;
  std::vector<std::byte> assembled_;
};

}  // namespace

std::int64_t move_together(file::state& f, direction way, std::int64_t position,
                           const p2p::buffer& data) {
  const choice how = way == direction::read ? f.hints.shared.cb_read : f.hints.shared.cb_write;
  const int ranks = f.at.comm.size();
  // Neither differs between the ranks.
  if (f.atomic_mode || how == choice::disable || ranks == 1) {
    return move_alone(f, way, position, data);
  }
  auto bytes = static_cast<std::int64_t>(data.bytes());
  const access_range mine = range_of(f, position, bytes);
  SINEW_ASSERT(mine.begin <= mine.end || mine.alone != 0);
  std::vector<access_range> all(static_cast<std::size_t>(ranks));
  check_collective(coll::allgather(f.at, p2p::buffer::of_bytes(&mine, sizeof mine),
                                   p2p::buffer::of_bytes(all.data(), sizeof mine)));
  const parts_of_file parts = divide(f, how, all);
  if (parts.begin == parts.end) {
    return move_alone(f, way, position, data);
  }
  if (way == direction::read && bytes != 0) {
    std::int64_t size = 0;
    for (const access_range& t : all) {
      size = std::max(size, t.size);
    }
    bytes = std::clamp<std::int64_t>(f.view->bytes_before(size) - position, 0, bytes);
  }
  two_phases(f, way, parts, position, bytes, data).run();
  return bytes;
}

}  // namespace sinew::io
