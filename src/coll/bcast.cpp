// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts by messages. Which algorithm for which length: Thakur, Rabenseifner and Gropp,
// Optimization of collective communication operations in MPICH, 2005.
#include "coll/algorithms.hpp"
#include "coll/tuning.hpp"

namespace sinew::coll {
namespace {

/// The largest power of `fan` that divides v's place: v's children lie below it.
int level(int v, int n, int fan) noexcept {
  SINEW_EXPECT(v >= 0 && v < n && fan >= 2);
  int mask = 1;
  while (mask < n && (v / mask) % fan == 0) {
    mask *= fan;
  }
  SINEW_ENSURE(v != 0 || mask >= n);  // all others lie below the root
  return mask;
}

struct span_of_bytes {
  std::byte* base;
  std::size_t size;
  int pieces;
  [[nodiscard]] std::size_t start(int i) const noexcept {
    const std::size_t piece =
        (size + static_cast<std::size_t>(pieces) - 1) / static_cast<std::size_t>(pieces);
    SINEW_EXPECT(i >= 0 && i <= pieces);
    const std::size_t at = piece * static_cast<std::size_t>(i);
    return at < size ? at : size;
  }
  [[nodiscard]] buffer pieces_from(int first, int last) const noexcept {
    SINEW_EXPECT(first <= last);
    return buffer::of_bytes(base + start(first), start(last) - start(first));
  }
};

void scatter_and_collect(plan& p, const position& at, const span_of_bytes& data, int root) {
  const int n = at.size;
  const int v = (at.rank - root + n) % n;
  const auto real = [&](int relative) { return (relative + root) % n; };
  int mask = level(v, n, 2);
  if (v != 0) {
    p.receive_if_any(data.pieces_from(v, v + mask < n ? v + mask : n), real(v - mask));
    p.wait();
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (v + mask < n) {
      const int end = v + 2 * mask < n ? v + 2 * mask : n;
      p.send_if_any(data.pieces_from(v + mask, end), real(v + mask));
    }
  }
  // After the scatter a rank above the leaves holds its children's pieces too; only leaves and
  // inner ranks that lack a piece take part in its exchange.
  const auto held_to = [&](int relative) {
    const int end = relative + level(relative, n, 2);
    return relative == 0 || end > n ? n : end;
  };
  const auto lacks = [&](int relative, int piece) {
    return piece < relative || piece >= held_to(relative);
  };
  exchange_all(
      p, at,
      [&](int dest) { return data.pieces_from(v, lacks((dest - root + n) % n, v) ? v + 1 : v); },
      [&](int source) {
        const int piece = (source - root + n) % n;
        return data.pieces_from(piece, lacks(v, piece) ? piece + 1 : piece);
      });
}

}  // namespace

void make_bcast_tree(plan& p, const position& at, const buffer& data, int root, int fan) {
  SINEW_EXPECT(root >= 0 && root < at.size && fan >= 2);
  const int n = at.size;
  const int v = (at.rank - root + n) % n;
  const auto real = [&](int relative) { return (relative + root) % n; };
  int mask = level(v, n, fan);
  if (v != 0) {
    p.receive(data, real(v - (v / mask) % fan * mask));
    p.wait();
  }
  for (mask /= fan; mask > 0; mask /= fan) {
    for (int d = 1; d < fan && v + d * mask < n; ++d) {
      p.room(1);
      p.send(data, real(v + d * mask));
    }
  }
}

/// Binomial, or k-nomial where short messages go and processors are few.
void bcast_tree(plan& p, const position& at, const call& c) {
  const buffer data = c.recv.each();
  const bool is_short = data.bytes() <= static_cast<std::size_t>(tuning::tree_bytes());
  make_bcast_tree(p, at, data, c.root.value(), is_short ? at.fan : 2);
}

/// A binomial tree hands every rank its piece, then all exchange their pieces: twice the bytes of
/// one message per rank, but not log2(n) times (van de Geijn's broadcast: Barnett, Gupta, Payne,
/// Shuler, van de Geijn and Watts, Building a high-performance collective communication library,
/// 1994).
void bcast_scatter_allgather(plan& p, const position& at, const call& c) {
  const buffer data = c.recv.each();
  const int root = c.root.value();
  const buffer bytes =
      data.type->dense() ? buffer::of_bytes(data.base, data.bytes()) : p.space(data.bytes());
  if (at.rank == root) {
    p.copy(data, bytes.base == data.base ? data : bytes);
  }
  scatter_and_collect(p, at, {static_cast<std::byte*>(bytes.base), bytes.bytes(), at.size}, root);
  if (at.rank != root && bytes.base != data.base) {
    p.wait();
    p.copy(bytes, data);
  }
}

}  // namespace sinew::coll
