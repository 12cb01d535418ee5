#include "sinew/node/moving.hpp"

#include <algorithm>

#include "sinew/base/copy.hpp"

namespace sinew::node {
namespace {

/// A broadcast through the root's block goes in pieces, so that the others copy one out while the
/// root copies the next one in.
constexpr std::size_t piece_bytes = std::size_t{32} << 10;
static_assert(piece_bytes <= team::room);

void send_pieces(team& t, const data& d) {
  const std::size_t bytes = d.bytes();
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(piece_bytes, bytes - done);
    t.begin();
    std::byte* const to = t.reserve(n);
    SINEW_ASSERT(to != nullptr);  // a round's room holds a piece
    if (d.type->dense()) {
      rma::engine::move_out(to, static_cast<const std::byte*>(d.base) + done, n);
    } else {
      layout::pack(*d.type, d.count, d.base, done, {to, n});
    }
    done += n;
    t.post_made(to, n, -1, bytes - done);
  }
}

bool receive_pieces(team& t, const data& d, int root) {
  const std::size_t room = d.bytes();
  std::size_t done = 0;
  for (;;) {
    t.begin();
    const line& l = t.from(root);
    if (t.is_direct(l) || (l.length & line::in_block) == 0) {
      SINEW_ASSERT(done == 0);
      const bool fits = t.take(l, root, d);
      t.finish();
      return fits;
    }
    const std::size_t n = done < room ? std::min(l.bytes(), room - done) : 0;
    const std::byte* const from = t.at(l, root);
    if (d.type->dense()) {
      copy_bytes(static_cast<std::byte*>(d.base) + std::min(done, room), from, n);
    } else if (n != 0) {
      layout::unpack(*d.type, d.count, d.base, done, {from, n});
    }
    done += l.bytes();
    if (l.lies.to_come == 0) {
      return done <= room;
    }
  }
}

}  // namespace

bool bcast(team& t, const data& d, int root, const lengths& limits) {
  SINEW_EXPECT(root >= 0 && root < t.size());
  if (t.rank() != root) {
    return receive_pieces(t, d, root);
  }
  const std::size_t bytes = d.bytes();
  if (bytes > line::most_inside && bytes < limits.direct_one_way) {
    send_pieces(t, d);
    return true;
  }
  t.begin();
  t.post(d, -1, limits.direct_one_way);
  t.finish();
  return true;
}

}  // namespace sinew::node
