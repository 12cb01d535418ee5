// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data, against what each rank can compute by itself.
#include "trial.hpp"

namespace sinew::test {
namespace {

using coll::buffer;

/// Blocks of several lengths with gaps between them, in an order of their own.
struct placing {
  offsets counts, places;
  std::size_t instances = 0;

  placing(trial& t, const layout::datatype& type, const std::vector<std::size_t>& lengths)
      : counts(lengths.size()), places(lengths.size()) {
    std::vector<std::size_t> order(lengths.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), t.random);
    for (const std::size_t r : order) {
      instances += t.draw(3);
      counts[r] = static_cast<std::ptrdiff_t>(lengths[r] / type.elements());
      places[r] = static_cast<std::ptrdiff_t>(instances);
      instances += lengths[r] / type.elements();
    }
  }
};

std::size_t instances(std::size_t length, const layout::datatype& type) {
  return length / type.elements();
}

/// Another type on every rank: only the number of integers must agree.
std::vector<const layout::datatype*> types_of_ranks(trial& t) {
  std::vector<const layout::datatype*> out;
  for (int r = 0; r < t.m.size; ++r) {
    out.push_back(&t.type());
  }
  return out;
}

void check_bcast(trial& t) {
  const auto types = types_of_ranks(t);
  const layout::datatype& type = *types[static_cast<std::size_t>(t.m.rank)];
  const std::size_t length = t.length();
  const int root = t.root();
  area got(type, instances(length, type)), wanted(type, instances(length, type));
  wanted.write(0, t.values(root, length));
  if (t.m.rank == root) {
    got.write(0, t.values(root, length));
  }
  t.good(t.either(bcast_of(got.all(instances(length, type)), comm_rank{root})), "bcast");
  t.same(got, wanted, "bcast");
}

void check_gather_scatter(trial& t) {
  const auto types = types_of_ranks(t);
  const layout::datatype& mine = *types[static_cast<std::size_t>(t.m.rank)];
  const layout::datatype& whole = t.type();
  const std::size_t length = t.length();
  const int root = t.root();
  const bool inside = t.coin();
  const bool at_root = t.m.rank == root;
  const std::size_t own = instances(length, mine), each = instances(length, whole);
  const auto place = [&](int r) { return static_cast<std::ptrdiff_t>(each) * r; };
  area part(mine, own), all(whole, each * static_cast<std::size_t>(t.m.size));
  area every = all;
  for (int r = 0; r < t.m.size; ++r) {
    every.write(place(r), t.values(r, length));
  }

  area sent(mine, own);
  sent.write(0, t.values(t.m.rank, length));
  area got = all;
  buffer from = sent.all(own);
  if (at_root && inside) {
    got.write(place(root), t.values(root, length));
    from.base = const_cast<void*>(in_place);
  }
  t.good(t.either({collective::gather, from, at_root ? got.all(each) : buffer{}, comm_rank{root}}),
         "gather");
  t.same(got, at_root ? every : all, "gather");

  area taken(mine, own);
  buffer into = taken.all(own);
  if (at_root && inside) {
    into.base = const_cast<void*>(in_place);
  }
  t.good(
      t.either({collective::scatter, at_root ? every.all(each) : buffer{}, into, comm_rank{root}}),
      "scatter");
  t.same(taken, at_root && inside ? part : sent, "scatter");
}

void check_gatherv_scatterv(trial& t) {
  const auto types = types_of_ranks(t);
  const layout::datatype& mine = *types[static_cast<std::size_t>(t.m.rank)];
  const layout::datatype& whole = t.type();
  std::vector<std::size_t> lengths;
  for (int r = 0; r < t.m.size; ++r) {
    lengths.push_back(t.length());
  }
  const std::size_t length = lengths[static_cast<std::size_t>(t.m.rank)];
  const placing p(t, whole, lengths);
  const int root = t.root();
  const bool inside = t.coin();
  const bool at_root = t.m.rank == root;
  const std::size_t own = instances(length, mine);
  const area empty(whole, p.instances);
  area every = empty;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    every.write(p.places[r], t.values(static_cast<int>(r), lengths[r]));
  }
  area sent(mine, own);
  sent.write(0, t.values(t.m.rank, length));
  area got = empty;
  buffer from = sent.all(own);
  if (at_root && inside) {
    got.write(p.places[static_cast<std::size_t>(root)], t.values(root, length));
    from.base = const_cast<void*>(in_place);
  }
  const coll::parts collected{got.base(), p.counts.data(), p.places.data(), &whole};
  t.good(t.either({collective::gather, from, at_root ? collected : coll::parts{}, comm_rank{root}}),
         "gatherv");
  t.same(got, at_root ? every : empty, "gatherv");

  area taken(mine, own);
  const area untouched = taken;
  buffer into = taken.all(own);
  if (at_root && inside) {
    into.base = const_cast<void*>(in_place);
  }
  const coll::parts given{every.base(), p.counts.data(), p.places.data(), &whole};
  t.good(t.either({collective::scatter, at_root ? given : coll::parts{}, into, comm_rank{root}}),
         "scatterv");
  t.same(taken, at_root && inside ? untouched : sent, "scatterv");
}

void check_allgather(trial& t) {
  const auto types = types_of_ranks(t);
  const layout::datatype& mine = t.type();
  const layout::datatype& whole = *types[static_cast<std::size_t>(t.m.rank)];
  const std::size_t length = t.length();
  const bool inside = t.coin();
  const std::size_t each = instances(length, whole);
  area got(whole, each * static_cast<std::size_t>(t.m.size));
  area wanted = got;
  for (int r = 0; r < t.m.size; ++r) {
    wanted.write(static_cast<std::ptrdiff_t>(each) * r, t.values(r, length));
  }
  area sent(mine, instances(length, mine));
  sent.write(0, t.values(t.m.rank, length));
  buffer from = sent.all(instances(length, mine));
  if (inside) {
    got.write(static_cast<std::ptrdiff_t>(each) * t.m.rank, t.values(t.m.rank, length));
    from = {const_cast<void*>(in_place), 0, nullptr};
  }
  t.good(t.either({collective::allgather, from, got.all(each)}), "allgather");
  t.same(got, wanted, "allgather");
}

void check_allgatherv(trial& t) {
  const layout::datatype& mine = t.type();
  const layout::datatype& whole = t.type();
  std::vector<std::size_t> lengths;
  for (int r = 0; r < t.m.size; ++r) {
    lengths.push_back(t.length());
  }
  const auto own = static_cast<std::size_t>(t.m.rank);
  const placing p(t, whole, lengths);
  const bool inside = t.coin();
  area got(whole, p.instances);
  area wanted = got;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    wanted.write(p.places[r], t.values(static_cast<int>(r), lengths[r]));
  }
  area sent(mine, instances(lengths[own], mine));
  sent.write(0, t.values(t.m.rank, lengths[own]));
  buffer from = sent.all(instances(lengths[own], mine));
  if (inside) {
    got.write(p.places[own], t.values(t.m.rank, lengths[own]));
    from = {const_cast<void*>(in_place), 0, nullptr};
  }
  t.good(t.either({collective::allgather, from,
                   coll::parts{got.base(), p.counts.data(), p.places.data(), &whole}}),
         "allgatherv");
  t.same(got, wanted, "allgatherv");
}

void check_alltoall(trial& t) {
  const layout::datatype& send_type = t.type();
  const layout::datatype& recv_type = t.type();
  const std::size_t length = t.coin() ? 6 : t.length();
  const bool inside = t.coin();
  const std::size_t out_each = instances(length, send_type);
  const std::size_t in_each = instances(length, recv_type);
  const auto n = static_cast<std::size_t>(t.m.size);
  area sent(send_type, out_each * n), got(recv_type, in_each * n);
  area wanted = got;
  for (int r = 0; r < t.m.size; ++r) {
    const ints to = t.values(t.m.rank, length, static_cast<std::uint64_t>(r) + 1);
    const ints from = t.values(r, length, static_cast<std::uint64_t>(t.m.rank) + 1);
    sent.write(static_cast<std::ptrdiff_t>(out_each) * r, to);
    if (inside) {
      got.write(static_cast<std::ptrdiff_t>(in_each) * r, to);
    }
    wanted.write(static_cast<std::ptrdiff_t>(in_each) * r, from);
  }
  buffer from = sent.all(out_each);
  if (inside) {
    from = {const_cast<void*>(in_place), 0, nullptr};
  }
  t.good(t.either({collective::alltoall, from, got.all(in_each)}), "alltoall");
  t.same(got, wanted, "alltoall");
}

/// Lengths of the messages between all pairs; symmetric where the exchange is in place.
std::vector<std::vector<std::size_t>> pair_lengths(trial& t, bool symmetric) {
  const auto n = static_cast<std::size_t>(t.m.size);
  std::vector<std::vector<std::size_t>> out(n, std::vector<std::size_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      out[i][j] = symmetric && j < i ? out[j][i] : t.draw(2) * t.length();
    }
  }
  return out;
}

void check_alltoallv(trial& t) {
  const layout::datatype& send_type = t.type();
  const layout::datatype& recv_type = t.type();
  const bool inside = t.coin();
  const auto lengths = pair_lengths(t, inside);
  const auto own = static_cast<std::size_t>(t.m.rank);
  std::vector<std::size_t> coming;
  for (const auto& row : lengths) {
    coming.push_back(row[own]);
  }
  const placing out(t, send_type, lengths[own]);
  const placing in(t, recv_type, coming);
  area sent(send_type, out.instances), got(recv_type, in.instances);
  area wanted = got;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const ints to = t.values(t.m.rank, lengths[own][r], r + 1);
    sent.write(out.places[r], to);
    if (inside) {
      got.write(in.places[r], to);
    }
    wanted.write(in.places[r], t.values(static_cast<int>(r), coming[r], own + 1));
  }
  coll::parts from{sent.base(), out.counts.data(), out.places.data(), &send_type};
  if (inside) {
    from = {in_place, nullptr, nullptr, nullptr};
  }
  t.good(t.either({collective::alltoall, from,
                   coll::parts{got.base(), in.counts.data(), in.places.data(), &recv_type}}),
         "alltoallv");
  t.same(got, wanted, "alltoallv");
}

/// Every block in an area of its own: displacements in bytes reach from one to the others.
void check_alltoallw(trial& t) {
  const bool inside = t.coin();
  const auto lengths = pair_lengths(t, inside);
  const auto own = static_cast<std::size_t>(t.m.rank);
  const auto out_types = types_of_ranks(t);
  const auto in_types = types_of_ranks(t);
  const std::size_t n = lengths.size();
  std::vector<area> sent, got, wanted;
  offsets out_counts(n), out_places(n), in_counts(n), in_places(n);
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t going = lengths[own][r], coming = lengths[r][own];
    sent.emplace_back(*out_types[r], instances(going, *out_types[r]));
    got.emplace_back(*in_types[r], instances(coming, *in_types[r]));
    wanted.push_back(got.back());
    const ints to = t.values(t.m.rank, going, r + 1);
    sent[r].write(0, to);
    if (inside) {
      got[r].write(0, to);
    }
    wanted[r].write(0, t.values(static_cast<int>(r), coming, own + 1));
    out_counts[r] = static_cast<std::ptrdiff_t>(instances(going, *out_types[r]));
    in_counts[r] = static_cast<std::ptrdiff_t>(instances(coming, *in_types[r]));
  }
  for (std::size_t r = 0; r < n; ++r) {
    out_places[r] = sent[r].base() - sent[0].base();
    in_places[r] = got[r].base() - got[0].base();
  }
  coll::parts_w from{sent[0].base(), out_counts.data(), out_places.data(), out_types.data()};
  if (inside) {
    from = {in_place, nullptr, nullptr, nullptr};
  }
  t.good(
      t.either({collective::alltoall, from,
                coll::parts_w{got[0].base(), in_counts.data(), in_places.data(), in_types.data()}}),
      "alltoallw");
  for (std::size_t r = 0; r < n; ++r) {
    t.same(got[r], wanted[r], "alltoallw");
  }
}

TEST(moving, bcast) { many_trials(40, check_bcast); }
TEST(moving, gather_and_scatter) { many_trials(30, check_gather_scatter); }
TEST(moving, gatherv_and_scatterv) { many_trials(20, check_gatherv_scatterv); }
TEST(moving, allgather) { many_trials(40, check_allgather); }
TEST(moving, allgatherv) { many_trials(20, check_allgatherv); }
TEST(moving, alltoall) { many_trials(30, check_alltoall); }
TEST(moving, alltoallv) { many_trials(15, check_alltoallv); }
TEST(moving, alltoallw) { many_trials(15, check_alltoallw); }

TEST(moving, barrier_lets_nobody_through_early) {
  for (const std::int64_t fan : {2, 3, 32}) {
    for (const int n : {1, 2, 3, 5, 8, 16}) {
      coll::tuning::fan.assign(fan);
      std::atomic<int> arrived{0};
      const auto body = [&](member& m) {
        for (int i = 1; i <= 50; ++i) {
          arrived.fetch_add(1);
          EXPECT_EQ(coll::barrier({m.engine, m.comm}), fault::none);
          EXPECT_GE(arrived.load(), i * n);
          EXPECT_EQ(coll::barrier({m.engine, m.comm}), fault::none);
        }
      };
      run_job_on_node(n, backend::inproc, core::threading::one, body, true);
      arrived.store(0);
      run_job_on_node(n, backend::inproc, core::threading::one, body);
    }
  }
  coll::tuning::fan.assign(0);
}

void check_short_receivers(member& m) {
  const coll::participant at{m.engine, m.comm};
  for (const std::size_t unit : {4U, 4000U}) {  // copied aside, and read where they are
    ints data(60 * unit, m.rank), all(180 * unit);
    const bool narrow = m.rank == 1;
    const auto of = [&](ints& v, std::size_t n) {
      return coll::buffer::of_bytes(v.data(), unit * n);
    };
    const fault b = coll::bcast(at, of(data, narrow ? 40 : 60), 0);
    EXPECT_EQ(b, narrow ? fault::truncated : fault::none);
    const fault g = coll::gather(at, of(data, narrow ? 60 : 50), of(all, 50), 2);
    EXPECT_EQ(g, m.rank == 2 ? fault::truncated : fault::none);
    EXPECT_EQ(coll::barrier(at), fault::none);
  }
}

TEST(moving, a_short_receiver_is_a_fault_and_nobody_hangs) {
  for (const bool by_messages : {true, false}) {
    run_job_on_node(3, backend::inproc, core::threading::one, check_short_receivers, by_messages);
  }
}

/// What the others send may be longer or shorter than its place, and either side may count it among
/// those that are read, or written, where they are.
void check_gathers_of_lengths(member& m) {
  const coll::participant at{m.engine, m.comm};
  const auto n = static_cast<std::size_t>(m.comm.size());
  constexpr std::size_t lengths[] = {0, 8, 40, 900, 5000, 70000};
  int round = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(coll::barrier(at), fault::none);  // by messages at first, which do not differ so
  }
  for (const std::size_t sent : lengths) {
    for (const std::size_t room : lengths) {
      const int root = ++round % m.comm.size();
      std::vector<char> mine(sent, static_cast<char>(m.rank + round));
      std::vector<char> all(n * room, 'x');
      const std::vector<std::ptrdiff_t> counts(n, static_cast<std::ptrdiff_t>(room));
      std::vector<std::ptrdiff_t> starts(n);
      for (std::size_t r = 0; r < n; ++r) {
        starts[r] = static_cast<std::ptrdiff_t>(r * room);
      }
      const coll::parts into{all.data(), counts.data(), starts.data(),
                             &layout::of(layout::element::byte)};
      const bool at_root = m.rank == root;
      const fault f = coll::gather(at,
                                   at_root ? coll::buffer{const_cast<void*>(coll::in_place)}
                                           : coll::buffer::of_bytes(mine.data(), sent),
                                   into, comm_rank{root});
      EXPECT_EQ(f, at_root && sent > room ? fault::truncated : fault::none) << sent << " " << room;
      for (std::size_t r = 0; at_root && r < n; ++r) {
        for (std::size_t i = 0; i < room; ++i) {
          const bool came = static_cast<int>(r) != root && i < sent;
          ASSERT_EQ(all[r * room + i], came ? static_cast<char>(static_cast<int>(r) + round) : 'x')
              << sent << " " << room << " " << r << " " << i;
        }
      }
    }
  }
}

TEST(moving, gathers_of_lengths_that_differ) {
  for (const std::int64_t direct : {0, 1, 1000, 1 << 22}) {
    coll::tuning::node_direct_one_way.assign(direct);
    for (const int ranks : {2, 3}) {
      run_job_on_node(ranks, backend::shm, core::threading::one, check_gathers_of_lengths);
      run_job_on_node(ranks, backend::inproc, core::threading::one, check_gathers_of_lengths);
    }
  }
  coll::tuning::node_direct_one_way.assign(0);
}

}  // namespace
}  // namespace sinew::test
