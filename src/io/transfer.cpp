// SPDX-License-Identifier: BSD-3-Clause
#include "io/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::io {
namespace {

using choice = hints::choice;
using lock_kind = posix_file::lock_kind;

/// A hole of this many bytes costs as much to read over as a system call costs.
constexpr std::int64_t cheap_hole = 4096;

std::int64_t checked(const file::state& f, const moved& done, const char* doing) {
  if (done.error != 0) {
    fail_by_system(done.error, doing, f.path);
  }
  return done.bytes;
}

/// Pieces of a view near each other, which one read or write of the file serves.
class group {
 public:
  /// Takes pieces while the holes are `most_hole` at most and all of it `most_span` bytes, or one
  /// piece. `*left` bytes of the access are still to come.
  void gather(view_cursor& from, std::int64_t* left, std::int64_t most_hole,
              std::int64_t most_span) {
    SINEW_EXPECT(*left > 0);
    pieces_.clear();
    if (!ahead_) {
      ahead_ = from.next(*left);
    }
    pieces_.push_back(*ahead_);
    *left -= ahead_->bytes;
    SINEW_ASSERT(*left >= 0);
    ahead_.reset();
    while (*left != 0) {
      ahead_ = from.next(*left);
      const std::int64_t hole = ahead_->offset - end();
      if (hole < 0 || hole > most_hole || ahead_->offset + ahead_->bytes - begin() > most_span) {
        return;
      }
      pieces_.push_back(*ahead_);
      *left -= ahead_->bytes;
      ahead_.reset();
    }
  }

  [[nodiscard]] std::int64_t begin() const { return pieces_.front().offset; }
  [[nodiscard]] std::int64_t end() const { return pieces_.back().offset + pieces_.back().bytes; }
  [[nodiscard]] std::int64_t span() const { return end() - begin(); }
  [[nodiscard]] const std::vector<file_piece>& pieces() const { return pieces_; }
  [[nodiscard]] bool single() const { return pieces_.size() == 1; }

 private:
  std::vector<file_piece> pieces_;
  std::optional<file_piece> ahead_;  ///< from the cursor, and not in the group
};

std::int64_t hole_to_read_over(choice c) {
  return c == choice::disable ? -1 : c == choice::enable ? INT64_MAX : cheap_hole;
}

/// Reads `bytes` bytes of the view; fewer if the file ends.
std::int64_t read_view(file::state& f, view_cursor& cursor, std::byte* to, std::int64_t bytes) {
  SINEW_EXPECT(bytes > 0);
  if (f.view->contiguous()) {
    return checked(f, f.system.read(cursor.next(bytes).offset, to, bytes), "read");
  }
  const std::int64_t hole = hole_to_read_over(f.hints.ds_read);
  std::vector<std::byte> sieve;
  std::int64_t done = 0;
  group g;
  for (std::int64_t left = bytes; left != 0;) {
    g.gather(cursor, &left, hole, f.hints.ind_rd_buffer_size);
    if (g.single()) {
      const std::int64_t wanted = g.span();
      const std::int64_t n = checked(f, f.system.read(g.begin(), to + done, wanted), "read");
      done += n;
      if (n < wanted) {
        return done;
      }
      continue;
    }
    if (static_cast<std::int64_t>(sieve.size()) < g.span()) {
      sieve.resize(static_cast<std::size_t>(g.span()));
    }
    const std::int64_t there = checked(f, f.system.read(g.begin(), sieve.data(), g.span()), "read");
    SINEW_ASSERT(there <= g.span());
    for (const file_piece& p : g.pieces()) {
      const std::int64_t from = p.offset - g.begin();
      const std::int64_t n = std::clamp<std::int64_t>(there - from, 0, p.bytes);
      std::memcpy(to + done, sieve.data() + from, static_cast<std::size_t>(n));
      done += n;
      if (n < p.bytes) {
        return done;
      }
    }
  }
  return done;
}

/// Data sieving: reads the whole range, changes the pieces and writes it back, under a lock that
/// all such writers take.
void write_sieved(file::state& f, const group& g, const std::byte* from,
                  std::vector<std::byte>& sieve, bool locked) {
  std::optional<range_lock> alone;
  if (!locked) {
    alone.emplace(f.system, f.path, g.begin(), g.span(), lock_kind::exclusive);
  }
  if (g.single()) {
    (void)checked(f, f.system.write(g.begin(), from, g.span()), "write");
    return;
  }
  sieve.assign(static_cast<std::size_t>(g.span()), std::byte{});
  (void)checked(f, f.system.read(g.begin(), sieve.data(), g.span()), "read");
  for (const file_piece& p : g.pieces()) {
    std::memcpy(sieve.data() + (p.offset - g.begin()), from, static_cast<std::size_t>(p.bytes));
    from += p.bytes;
  }
  (void)checked(f, f.system.write(g.begin(), sieve.data(), g.span()), "write");
}

/// `locked`: what is written is locked already.
void write_view(file::state& f, view_cursor& cursor, const std::byte* from, std::int64_t bytes,
                bool locked) {
  SINEW_EXPECT(bytes > 0);
  // Other processes may write the holes at the same time, so this is done only if the hint asks for
  // it, and then all writers lock what they write.
  const bool sieves = f.hints.ds_write == choice::enable && f.mode.reads;
  if (f.view->contiguous() && !sieves) {
    (void)checked(f, f.system.write(cursor.next(bytes).offset, from, bytes), "write");
    return;
  }
  std::vector<std::byte> sieve;
  group g;
  for (std::int64_t left = bytes; left != 0;) {
    const std::int64_t before = left;
    g.gather(cursor, &left, sieves ? INT64_MAX : -1, f.hints.ind_wr_buffer_size);
    if (sieves) {
      write_sieved(f, g, from, sieve, locked);
    } else {
      SINEW_ASSERT(g.single());  // no hole may be written over
      (void)checked(f, f.system.write(g.begin(), from, g.span()), "write");
    }
    from += before - left;
  }
}

/// Piece by piece through a buffer, if the memory is not dense.
std::int64_t move_in_steps(file::state& f, direction way, view_cursor& cursor,
                           const p2p::buffer& data, bool locked) {
  const auto all = static_cast<std::int64_t>(data.bytes());
  if (data.type->dense()) {
    auto* base = static_cast<std::byte*>(data.base) + data.type->true_lower();
    if (way == direction::read) {
      return read_view(f, cursor, base, all);
    }
    write_view(f, cursor, base, all, locked);
    return all;
  }
  const std::int64_t step = std::min(
      all, way == direction::read ? f.hints.ind_rd_buffer_size : f.hints.ind_wr_buffer_size);
  std::vector<std::byte> packed(static_cast<std::size_t>(step));
  for (std::int64_t done = 0; done < all;) {
    const std::int64_t n = std::min(step, all - done);
    const std::span<std::byte> part(packed.data(), static_cast<std::size_t>(n));
    const auto at = static_cast<std::size_t>(done);
    if (way == direction::write) {
      (void)layout::pack(*data.type, data.count, data.base, at, part);
      write_view(f, cursor, packed.data(), n, locked);
      done += n;
      continue;
    }
    const std::int64_t there = read_view(f, cursor, packed.data(), n);
    SINEW_ASSERT(there <= n);
    (void)layout::unpack(*data.type, data.count, data.base, at,
                         part.first(static_cast<std::size_t>(there)));
    done += there;
    if (there < n) {
      return done;
    }
  }
  return all;
}

}  // namespace

int write_plainly(const file::state& f, std::int64_t offset, const std::byte* from,
                  std::int64_t bytes) noexcept {
  const bool locks = f.hints.ds_write == choice::enable && f.mode.reads;
  if (const int error = locks ? f.system.lock(offset, bytes, lock_kind::exclusive) : 0;
      error != 0) {
    return error;
  }
  const moved done = f.system.write(offset, from, bytes);
  if (locks) {
    (void)f.system.lock(offset, bytes, lock_kind::none);
  }
  return done.error;
}

std::int64_t move_alone(file::state& f, direction way, std::int64_t position,
                        const p2p::buffer& data) {
  const auto bytes = static_cast<std::int64_t>(data.bytes());
  if (bytes == 0) {
    return 0;
  }
  SINEW_EXPECT(!f.view->empty() && position >= 0);
  view_cursor cursor(*f.view, position);
  if (!f.atomic_mode) {
    return move_in_steps(f, way, cursor, data, false);
  }
  // The last byte of a folded view need not have the highest offset; then all that follows is
  // locked.
  const std::int64_t first = f.view->offset_of(position);
  const std::int64_t end =
      f.view->folded() ? INT64_MAX : f.view->offset_of(position + bytes - 1) + 1;
  const std::lock_guard one(f.one_thread);
  const range_lock held(f.system, f.path, first, end - first,
                        way == direction::read ? lock_kind::shared : lock_kind::exclusive);
  return move_in_steps(f, way, cursor, data, true);
}

}  // namespace sinew::io
