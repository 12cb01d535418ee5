// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/node/moving.hpp"

#include <algorithm>

#include "sinew/base/copy.hpp"

namespace sinew::node {
namespace {

/// What goes one way through a block goes in pieces, so that one is copied out while the next one
/// is copied in.
constexpr std::size_t piece_bytes = std::size_t{32} << 10;
static_assert(piece_bytes <= team::room);

/// The round of the first piece has begun. `to_whom` -1: all.
void send_pieces(team& t, const data& d, int to_whom) {
  const std::size_t bytes = d.bytes();
  SINEW_EXPECT(bytes != 0);
  for (std::size_t done = 0;;) {
    const std::size_t n = std::min(piece_bytes, bytes - done);
    std::byte* const to = t.reserve(n);
    SINEW_ASSERT(to != nullptr);  // a round's room holds a piece
    if (d.type->dense()) {
      rma::engine::move_out(to, static_cast<const std::byte*>(d.base) + done, n);
    } else {
      layout::pack(*d.type, d.count, d.base, done, {to, n});
    }
    done += n;
    t.post_made(to, n, to_whom, bytes - done);
    if (done == bytes) {
      return;
    }
    t.begin();
  }
}

bool receive_pieces(team& t, const data& d, int from_whom) {
  const std::size_t room = d.bytes();
  for (std::size_t done = 0;;) {
    const line& l = t.from(from_whom);
    if ((l.length & line::in_block) == 0) {
      SINEW_ASSERT(done == 0);
      return t.take(l, from_whom, d);
    }
    const std::size_t n = done < room ? std::min(l.bytes(), room - done) : 0;
    const std::byte* const from = t.at(l, from_whom);
    if (d.type->dense()) {
      copy_bytes(static_cast<std::byte*>(d.base) + std::min(done, room), from, n);
    } else if (n != 0) {
      layout::unpack(*d.type, d.count, d.base, done, {from, n});
    }
    done += l.bytes();
    if (l.lies.to_come == 0) {
      return done <= room;
    }
    t.begin();
  }
}

bool goes_in_pieces(const data& d, const lengths& limits) {
  return d.bytes() > line::most_inside && d.bytes() < limits.direct_one_way;
}

}  // namespace

bool bcast(team& t, const data& d, int root, const lengths& limits) {
  SINEW_EXPECT(root >= 0 && root < t.size());
  bool fits = true;
  t.begin();
  if (t.rank() != root) {
    fits = receive_pieces(t, d, root);
  } else if (goes_in_pieces(d, limits)) {
    send_pieces(t, d, -1);
  } else {
    t.post(d, -1, limits.direct_one_way);
  }
  t.finish();
  return fits;
}

void send_one_way(team& t, const data& d, int to, const lengths& limits) {
  if (t.size() == 2 && goes_in_pieces(d, limits)) {
    send_pieces(t, d, to);
    return;
  }
  t.post(d, to, limits.direct_one_way);
  t.deliver(to);
}

bool receive_one_way(team& t, const data& d, int from) {
  return t.size() == 2 ? receive_pieces(t, d, from) : t.take(t.from(from), from, d);
}

}  // namespace sinew::node
