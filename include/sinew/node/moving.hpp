// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data, over a team. Each member calls it with what concerns itself; its own
// part of the data it copies itself. They suspend, and throw std::bad_alloc if data with gaps are
// long and there is no memory to pack them. False: something sent was longer than its place, which
// got as much as fits. Warm.
#pragma once

#include <cstddef>

#include "sinew/base/check.hpp"
#include "sinew/node/team.hpp"

namespace sinew::node {

/// Where the ways of moving data part, in bytes. The same for all members.
struct lengths {
  std::size_t direct;          ///< from here on data are read where they are
  std::size_t direct_one_way;  ///< the same where only the root sends, or receives
};

/// Short of `limits.direct_one_way` it goes through the root's block in pieces.
[[nodiscard]] bool bcast(team& t, const data& d, int root, const lengths& limits);

/// One member's part of a gather, in a round that has begun: sends to, or receives from, another.
/// Of two members it goes in pieces if it is long: one is copied in while another is copied out.
void send_one_way(team& t, const data& d, int to, const lengths& limits);
[[nodiscard]] bool receive_one_way(team& t, const data& d, int from);

/// in(r): where what rank r sends goes, at the root, perhaps asked twice; not called for the root
/// itself, which calls own() while the others write.
template <class In, class Own>
[[nodiscard]] bool gather(team& t, const data& mine, int root, const lengths& limits, const In& in,
                          const Own& own) {
  SINEW_EXPECT(root >= 0 && root < t.size());
  bool fits = true;
  t.begin();
  if (t.rank() != root) {
    send_one_way(t, mine, root, limits);
  } else {
    for (const int m : t.others()) {
      t.offer(in(m), m, limits.direct_one_way);
    }
    own();
    for (const int m : t.others()) {
      fits = receive_one_way(t, in(m), m) && fits;
    }
  }
  t.finish();
  return fits;
}

template <class In>
[[nodiscard]] bool gather(team& t, const data& mine, int root, const lengths& limits,
                          const In& in) {
  return gather(t, mine, root, limits, in, [] {});
}

/// out(r): what the root sends to rank r, asked twice; not called for the root itself, which calls
/// own() while the others read.
template <class Out, class Own>
[[nodiscard]] bool scatter(team& t, const data& mine, int root, const lengths& limits,
                           const Out& out, const Own& own) {
  SINEW_EXPECT(root >= 0 && root < t.size());
  bool fits = true;
  t.begin();
  if (t.rank() != root) {
    const line& l = t.to_me_from(root);
    t.follow(l);
    fits = t.take(l, root, mine);
  } else {
    std::size_t bytes = 0;
    for (const int m : t.others()) {
      bytes += out(m).bytes() + sizeof(line);
    }
    (void)t.widen(bytes);
    for (const int m : t.others()) {
      t.post_to(out(m), m, limits.direct_one_way);
    }
    own();
  }
  t.finish();
  return fits;
}

template <class Out>
[[nodiscard]] bool scatter(team& t, const data& mine, int root, const lengths& limits,
                           const Out& out) {
  return scatter(t, mine, root, limits, out, [] {});
}

template <class In>
[[nodiscard]] bool allgather(team& t, const data& mine, const lengths& limits, const In& in) {
  bool fits = true;
  t.begin();
  t.post(mine, -1, limits.direct);
  for (const int m : t.others()) {
    fits = t.take(t.from(m), m, in(m)) && fits;
  }
  t.met();
  t.finish();
  return fits;
}

/// What out() names must not change while in() is written.
template <class Out, class In>
[[nodiscard]] bool alltoall(team& t, const lengths& limits, const Out& out, const In& in) {
  bool fits = true;
  const int n = t.size();
  t.begin();
  for (int step = 1; step < n; ++step) {
    const int to = (t.rank() + step) % n;
    t.post_to(out(to), to, limits.direct);
  }
  for (int step = 1; step < n; ++step) {
    const int m = (t.rank() - step + n) % n;
    fits = t.take(t.to_me_from(m), m, in(m)) && fits;
  }
  t.met();
  t.finish();
  return fits;
}

}  // namespace sinew::node
