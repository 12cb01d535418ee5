// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/node/reducing.hpp"

#include <algorithm>
#include <memory>

#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"

namespace sinew::node {
namespace {

/// What a rank reads of another's memory at once before it combines it: few calls of the kernel,
/// and it stays in a core's cache.
constexpr std::size_t direct_piece = std::size_t{64} << 10;
static_assert(direct_piece >= most_element_bytes);
/// A round's room holds a posted vector and this rank's own operand.
constexpr std::size_t most_unshared = team::room / 2;

data bytes_at(const void* base, std::size_t n) noexcept {
  return {const_cast<void*>(base), n, &layout::of(layout::element::byte)};
}
const std::byte* at(const void* base, std::size_t element, const combiner& c) noexcept {
  return static_cast<const std::byte*>(base) + element * c.element_bytes;
}

/// Elements of a round of so many bytes in which a member posts for each other one: every post
/// begins on a line.
std::size_t elements_of(const team& t, const combiner& c, std::size_t room) {
  SINEW_EXPECT(c.element_bytes != 0 && c.element_bytes <= most_element_bytes);
  const std::size_t lost = static_cast<std::size_t>(t.size()) * (sizeof(line) + c.element_bytes);
  SINEW_CHECK(lost < room, "a reduction is not possible over shared memory",
              "there are too many ranks for elements of this length", "set SINEW_COLL_NODE=off");
  return (room - lost) / c.element_bytes;
}

/// The room of a round that has begun, for so many bytes of all who post. Short pieces stay in a
/// core's cache; where ranks wait for a processor, to meet costs more than that saves.
std::size_t room_for(team& t, std::size_t bytes) {
  return t.crowded() ? t.widen(bytes + bytes / 8) : team::room;
}

/// out = operand(0) op ... op operand(n - 1): the highest is copied, the others come from the left.
template <class Operand>
void fold(int n, const Operand& operand, std::byte* out, std::size_t count, const combiner& c) {
  SINEW_EXPECT(n > 1);
  if (count == 0) {
    return;
  }
  copy_bytes(out, operand(n - 1), count * c.element_bytes);
  for (int m = n - 2; m >= 0; --m) {
    c.call(c.context, operand(m), out, count);
  }
}

/// Elements [begin, end) of a vector.
struct share {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] std::size_t count() const noexcept { return end - begin; }
};

/// In a round that has begun, and becomes a meeting: each member posts to each other one the share
/// that that one combines.
template <class Share>
bool exchange_shares(team& t, const void* from, const Share& share_of, const combiner& c) {
  const int n = t.size();
  bool fits = true;
  for (int step = 1; step < n; ++step) {
    const int to = (t.rank() + step) % n;
    const share s = share_of(to);
    t.post_to(bytes_at(at(from, s.begin, c), s.count() * c.element_bytes), to, line::most_bytes);
  }
  const std::size_t mine = share_of(t.rank()).count() * c.element_bytes;
  for (const int m : t.others()) {
    const line& l = t.to_me_from(m);
    fits = !t.is_direct(l) && l.bytes() == mine && fits;
  }
  t.met();
  t.finish();
  return fits;
}

/// Elements of a vector, divided alike among `n` members: those of member `m`.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): m of n
share even_share(std::size_t count, int m, int n) noexcept {
  const auto i = static_cast<std::size_t>(m);
  const auto many = static_cast<std::size_t>(n);
  SINEW_EXPECT(i < many);
  // Without overflow, and no share longer than another by more than one.
  const auto start = [&](std::size_t k) { return count / many * k + count % many * k / many; };
  return {start(i), start(i + 1)};
}

/// A round in which members post all of `from` to be read where it is, and each (`root` -1) or the
/// root combines its part `mine` of it into `out`, piece by piece, so that what it reads is still
/// in its cache. `out` may be that part of `from` itself if nobody else reads that. Ends when
/// nobody reads `from` any more.
bool combine_direct(team& t, const void* from, std::size_t count, const share& mine, std::byte* out,
                    const combiner& c, int root) {
  const int n = t.size();
  const std::size_t bytes = count * c.element_bytes;
  std::byte* const other = t.aside(2 * direct_piece);  // throws before anybody waits for this rank
  std::byte* const kept = other + direct_piece;
  t.begin();
  if (t.rank() != root) {
    t.post(bytes_at(from, bytes), root, 0);
  }
  bool fits = true;
  if (root < 0 || t.rank() == root) {
    for (const int m : t.others()) {
      const line& l = t.from(m);
      (void)t.is_direct(l);  // it has to be answered even if this rank's part of it is empty
      fits = l.bytes() == bytes && fits;
    }
    const std::size_t most = direct_piece / c.element_bytes;
    for (std::size_t i = mine.begin; fits && i < mine.end; i += most) {
      const std::size_t length = std::min(most, mine.end - i);
      const std::size_t piece = length * c.element_bytes;
      std::byte* const sum = out + (i - mine.begin) * c.element_bytes;
      const std::byte* own = at(from, i, c);
      if (own == sum && t.rank() != n - 1) {
        copy_bytes(kept, own, piece);
        own = kept;
      }
      const auto read = [&](int m, std::byte* into) {
        t.take_part(t.from(m), m, into, i * c.element_bytes, piece);
      };
      if (t.rank() != n - 1) {
        read(n - 1, sum);
      } else if (own != sum) {
        copy_bytes(sum, own, piece);
      }
      for (int m = n - 2; m >= 0; --m) {
        if (m != t.rank()) {
          read(m, other);
        }
        c.call(c.context, m == t.rank() ? own : other, sum, length);
      }
    }
  }
  if (root < 0) {
    t.met();
  }
  t.finish();
  return fits;
}

/// Each combines its share straight from the others' memory, into the result or aside; then those
/// who want the result read the shares likewise. `root` -1: all.
bool reduce_direct_shares(team& t, const vectors& v, const combiner& c, int root) {
  const int n = t.size();
  const share mine = even_share(v.count, t.rank(), n);
  const bool wanted = root < 0 || root == t.rank();
  std::unique_ptr<std::byte[]> own;
  if (!wanted) {
    own = std::make_unique_for_overwrite<std::byte[]>(mine.count() * c.element_bytes);
  }
  std::byte* const sum =
      wanted ? static_cast<std::byte*>(v.into) + mine.begin * c.element_bytes : own.get();
  if (!combine_direct(t, v.from, v.count, mine, sum, c, -1)) {
    return false;
  }
  t.begin();
  if (t.rank() != root) {
    t.post(bytes_at(sum, mine.count() * c.element_bytes), root, 0);
  }
  bool fits = true;
  for (const int m : t.others()) {
    if (wanted) {
      const share s = even_share(v.count, m, n);
      const data into = bytes_at(at(v.into, s.begin, c), s.count() * c.element_bytes);
      fits = t.take(t.from(m), m, into) && fits;
    }
  }
  if (root < 0) {
    t.met();
  }
  t.finish();
  return fits;
}

/// Two ranks: to divide the work would take a second round and save next to nothing, since both
/// have to read as much as one vector either way.
bool reduce_direct_pair(team& t, const vectors& v, const combiner& c, int root) {
  const std::size_t bytes = v.count * c.element_bytes;
  std::unique_ptr<std::byte[]> copy;
  const void* from = v.from;
  if (root < 0 && v.from == v.into) {
    // The other rank may still read it when this one already has the result.
    copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
    copy_bytes(copy.get(), v.from, bytes);
    from = copy.get();
  }
  return combine_direct(t, from, v.count, {0, v.count}, static_cast<std::byte*>(v.into), c, root);
}

bool reduce_direct(team& t, const vectors& v, const combiner& c, int root) {
  return t.size() == 2 ? reduce_direct_pair(t, v, c, root) : reduce_direct_shares(t, v, c, root);
}

/// Each combines its share, then those who want the result collect the shares. `root` -1: all.
bool reduce_shares(team& t, const vectors& v, const combiner& c, int root) {
  const int n = t.size();
  std::size_t length = 0;
  for (std::size_t first = 0; first < v.count; first += length) {
    t.begin();
    const std::size_t room = room_for(t, (v.count - first) * c.element_bytes);
    length = std::min(elements_of(t, c, room), v.count - first);
    const auto share_of = [&](int m) -> share {
      const share s = even_share(length, m, n);
      return {first + s.begin, first + s.end};
    };
    if (!exchange_shares(t, v.from, share_of, c)) {
      return false;
    }
    const round posted = t.now();
    t.begin();
    const share mine = share_of(t.rank());
    (void)t.widen(share_of(n - 1).count() * c.element_bytes);  // the longest: all widen alike
    std::byte* const sum = t.reserve(mine.count() * c.element_bytes);
    SINEW_ASSERT(sum != nullptr);
    fold(
        n,
        [&](int m) {
          return m == t.rank() ? at(v.from, mine.begin, c) : t.posted_to_me(posted, m);
        },
        sum, mine.count(), c);
    if (t.rank() != root) {
      t.post_made(sum, mine.count() * c.element_bytes, root);
    }
    if (root >= 0 && t.rank() != root) {
      continue;
    }
    for (int m = 0; m < n; ++m) {
      const share s = share_of(m);
      copy_bytes(const_cast<std::byte*>(at(v.into, s.begin, c)),
                 m == t.rank() ? sum : t.at(t.from(m), m), s.count() * c.element_bytes);
    }
    if (root < 0) {
      t.met();
    }
  }
  return true;
}

/// All have posted all of theirs.
bool fold_posts(team& t, const void* own, const vectors& v, const combiner& c) {
  const std::size_t bytes = v.count * c.element_bytes;
  bool fits = true;
  for (const int m : t.others()) {
    const line& l = t.from(m);
    fits = !t.is_direct(l) && l.bytes() == bytes && fits;
  }
  if (fits) {
    fold(
        t.size(),
        [&](int m) {
          return m == t.rank() ? static_cast<const std::byte*>(own) : t.at(t.from(m), m);
        },
        static_cast<std::byte*>(v.into), v.count, c);
  }
  return fits;
}

/// This rank's operand, aside if the result is going to lie there.
const void* own_operand(team& t, const vectors& v, std::size_t bytes) {
  if (v.from != v.into) {
    return v.from;
  }
  std::byte* const aside = t.reserve(bytes);
  SINEW_ASSERT(aside != nullptr);
  copy_bytes(aside, v.from, bytes);
  return aside;
}

/// All post all of theirs to the root, which combines them.
bool reduce_whole(team& t, const vectors& v, const combiner& c, int root) {
  const std::size_t bytes = v.count * c.element_bytes;
  t.begin();
  if (t.rank() != root) {
    t.post(bytes_at(v.from, bytes), root);
    return true;
  }
  const bool fits = fold_posts(t, own_operand(t, v, bytes), v, c);
  t.finish();
  return fits;
}

/// Two ranks: while the root combines a piece, the other one copies the next.
bool reduce_in_pieces(team& t, const vectors& v, const combiner& c, int root) {
  const std::size_t most = most_unshared / c.element_bytes;
  std::size_t first = 0;
  bool fits = true;
  do {
    const std::size_t length = std::min(most, v.count - first);
    void* const into =
        t.rank() != root ? nullptr : static_cast<std::byte*>(v.into) + first * c.element_bytes;
    fits = reduce_whole(t, {at(v.from, first, c), into, length}, c, root);
    first += length;
  } while (fits && first < v.count);
  return fits;
}

}  // namespace

bool reduce(team& t, const vectors& v, const combiner& c, int root,
            const reduction_lengths& limits) {
  SINEW_EXPECT(root >= 0 && root < t.size());
  const std::size_t bytes = v.count * c.element_bytes;
  if (bytes >= limits.direct) {
    return reduce_direct(t, v, c, root);
  }
  if (t.size() == 2) {
    return reduce_in_pieces(t, v, c, root);
  }
  if (bytes >= std::min(limits.shared, most_unshared)) {
    return reduce_shares(t, v, c, root);
  }
  return reduce_whole(t, v, c, root);
}

bool allreduce(team& t, const vectors& v, const combiner& c, const reduction_lengths& limits) {
  const std::size_t bytes = v.count * c.element_bytes;
  if (bytes >= limits.direct) {
    return reduce_direct(t, v, c, -1);
  }
  if (bytes >= std::min(limits.shared, most_unshared)) {
    return reduce_shares(t, v, c, -1);
  }
  t.begin();
  t.post(bytes_at(v.from, bytes));
  const bool fits = fold_posts(t, own_operand(t, v, bytes), v, c);
  t.met();
  t.finish();
  return fits;
}

bool reduce_scatter(team& t, const void* from, void* into, std::span<const std::size_t> starts,
                    const combiner& c, const reduction_lengths& limits) {
  const int n = t.size();
  SINEW_EXPECT(n > 1);
  SINEW_EXPECT(starts.size() == static_cast<std::size_t>(n) + 1);
  const auto length_of = [&](int m) {
    const auto i = static_cast<std::size_t>(m);
    SINEW_EXPECT(starts[i] <= starts[i + 1]);
    return starts[i + 1] - starts[i];
  };
  if (starts.back() * c.element_bytes >= limits.direct) {
    const auto me = static_cast<std::size_t>(t.rank());
    return combine_direct(t, from, starts.back(), {starts[me], starts[me + 1]},
                          static_cast<std::byte*>(into), c, -1);
  }
  std::size_t longest = 0;
  for (int m = 0; m < n; ++m) {
    longest = std::max(longest, length_of(m));
  }
  const auto others = static_cast<std::size_t>(n) - 1;
  std::size_t most = 0;
  for (std::size_t done = 0; done < longest; done += most) {
    t.begin();
    const std::size_t room = room_for(t, (longest - done) * others * c.element_bytes);
    most = std::max<std::size_t>(1, elements_of(t, c, room) / others);
    const auto share_of = [&](int m) -> share {
      const std::size_t start = starts[static_cast<std::size_t>(m)];
      return {start + std::min(done, length_of(m)), start + std::min(done + most, length_of(m))};
    };
    if (!exchange_shares(t, from, share_of, c)) {
      return false;
    }
    const share mine = share_of(t.rank());
    const std::byte* const own = at(from, mine.begin, c);
    const auto operand = [&](int m) { return m == t.rank() ? own : t.posted_to_me(t.now(), m); };
    fold(n, operand, const_cast<std::byte*>(at(into, std::min(done, length_of(t.rank())), c)),
         mine.count(), c);
  }
  return true;
}

}  // namespace sinew::node
