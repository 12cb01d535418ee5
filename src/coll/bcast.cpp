// Barrier and broadcast. Which algorithm for which length: Thakur, Rabenseifner and Gropp,
// Optimization of collective communication operations in MPICH, 2005.
#include "coll/collective_messages.hpp"
#include "coll/levels.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

buffer nothing() noexcept { return buffer::of_bytes(static_cast<void*>(nullptr), 0); }

/// ceil(log2 n) rounds; after round k a rank has heard of 2^k others (Hensgen, Finkel and Manber,
/// Two algorithms for barrier synchronization, 1988).
void dissemination(collective_messages& t) {
  const int n = t.size();
  for (int distance = 1; distance < n; distance *= 2) {
    t.exchange(nothing(), (t.rank() + distance) % n, nothing(), (t.rank() - distance + n) % n);
  }
}

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

/// Children tell their parents that they are here, then wait for the parent's word: a combining
/// tree (Yew, Tzeng and Lawrie, Distributing hot-spot addressing in large-scale multiprocessors,
/// 1987).
void tree_barrier(collective_messages& t, int fan) {
  const int n = t.size();
  const int v = t.rank();
  const int top = level(v, n, fan);
  for (int mask = 1; mask < top; mask *= fan) {
    for (int d = 1; d < fan && v + d * mask < n; ++d) {
      t.recv(nothing(), v + d * mask);
    }
  }
  if (v != 0) {
    t.send(nothing(), v - (v / top) % fan * top);
  }
  bcast_tree(t, nothing(), 0, fan);
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

/// A binomial tree hands every rank its piece, then all exchange their pieces: twice the bytes of
/// one message per rank, but not log2(n) times (van de Geijn's broadcast: Barnett, Gupta, Payne,
/// Shuler, van de Geijn and Watts, Building a high-performance collective communication library,
/// 1994).
void scatter_and_collect(collective_messages& t, const span_of_bytes& data, int root) {
  const int n = t.size();
  const int v = (t.rank() - root + n) % n;
  const auto real = [&](int relative) { return (relative + root) % n; };
  int mask = level(v, n, 2);
  if (v != 0) {
    const int end = v + mask < n ? v + mask : n;
    const buffer mine = data.pieces_from(v, end);
    if (mine.bytes() != 0) {
      t.recv(mine, real(v - mask));
    }
  }
  {
    batch b(t);
    for (mask /= 2; mask > 0; mask /= 2) {
      if (v + mask >= n) {
        continue;
      }
      const int end = v + 2 * mask < n ? v + 2 * mask : n;
      const buffer theirs = data.pieces_from(v + mask, end);
      if (theirs.bytes() != 0) {
        b.send(theirs, real(v + mask));
      }
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
      t, [&](int dest) { return data.pieces_from(v, lacks((dest - root + n) % n, v) ? v + 1 : v); },
      [&](int source) {
        const int piece = (source - root + n) % n;
        return data.pieces_from(piece, lacks(v, piece) ? piece + 1 : piece);
      });
}

void bcast_long(collective_messages& t, const buffer& data, int root) {
  if (data.type->dense()) {
    return scatter_and_collect(t, {static_cast<std::byte*>(data.base), data.bytes(), t.size()},
                               root);
  }
  scratch packed(data.bytes());
  if (t.rank() == root) {
    layout::pack(*data.type, data.count, data.base, 0, {packed.base(), data.bytes()});
  }
  scatter_and_collect(t, {packed.base(), data.bytes(), t.size()}, root);
  if (t.rank() != root) {
    layout::unpack(*data.type, data.count, data.base, 0, {packed.base(), data.bytes()});
  }
}

}  // namespace

// With fan 2 a binomial tree, else a k-nomial one.
void bcast_tree(collective_messages& t, const buffer& data, int root, int fan) {
  SINEW_EXPECT(root >= 0 && root < t.size() && fan >= 2);
  const int n = t.size();
  const int v = (t.rank() - root + n) % n;
  const auto real = [&](int relative) { return (relative + root) % n; };
  int mask = level(v, n, fan);
  if (v != 0) {
    t.recv(data, real(v - (v / mask) % fan * mask));
  }
  batch b(t);
  for (mask /= fan; mask > 0; mask /= fan) {
    for (int d = 1; d < fan && v + d * mask < n; ++d) {
      b.send(data, real(v + d * mask));
    }
  }
}

void bcast_any(collective_messages& t, const buffer& data, int root) {
  SINEW_EXPECT(t.size() > 1 && data.bytes() != 0);
  const std::size_t bytes = data.bytes();
  if (t.size() > 2 && bytes >= static_cast<std::size_t>(tuning::long_bcast())) {
    bcast_long(t, data, root);
  } else if (bytes <= static_cast<std::size_t>(tuning::tree_bytes())) {
    bcast_tree(t, data, root, tuning::short_fan(t.runtime(), t.spans_jobs()));
  } else {
    bcast_tree(t, data, root, 2);
  }
}

void barrier_any(collective_messages& t) {
  if (t.size() == 1) {
    return;
  }
  const int fan = tuning::short_fan(t.runtime(), t.spans_jobs());
  if (fan > 2) {
    tree_barrier(t, fan);
  } else {
    dissemination(t);
  }
}

fault barrier(participant at) {
  collective_messages t(at, "MPI_Barrier");
  if (node::team* const team = team_of(at)) {
    team->meet();
    return fault::none;
  }
  if (levels* const l = levels_of(at)) {
    return l->barrier(t);
  }
  barrier_any(t);
  return t.outcome();
}

fault bcast(participant at, const buffer& data, comm_rank root) {
  collective_messages t(at, "MPI_Bcast", root);
  node::team* const team = team_of(at);
  if (t.size() == 1 || data.bytes() == 0) {
    return fault::none;
  }
  if (team != nullptr) {
    return fault_unless(node::bcast(*team, as_data(data), root.value(), node_lengths(*team)));
  }
  if (levels* const l = levels_of(at)) {
    return l->bcast(t, data, root.value());
  }
  bcast_any(t, data, root.value());
  return t.outcome();
}

}  // namespace sinew::coll
