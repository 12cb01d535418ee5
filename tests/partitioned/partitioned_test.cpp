// SPDX-License-Identifier: BSD-3-Clause
// Both sides of partitioned messages, on every back-end, with and without threads: partitions of
// different number and length, types with gaps, starts before the other side is there.
#include <cstdint>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

#include "sinew/partitioned/operation.hpp"
#include "support/job.hpp"

namespace sinew::partitioned {
namespace {

using core::threading;
using test::backend;
using test::member;
using ints = std::vector<std::int32_t>;
constexpr message_tag tag = 7;

class partitioned_messages : public ::testing::TestWithParam<std::tuple<backend, threading>> {
 protected:
  static void job(const std::function<void(member&)>& body) {
    test::run_job(2, std::get<0>(GetParam()), std::get<1>(GetParam()), body);
  }
};

p2p::buffer ints_at(ints& data, std::size_t count) {
  return {data.data(), count, &layout::of(layout::element::i32)};
}

arguments with(member& m, const p2p::buffer& each, int partitions) {
  return {m.engine, m.comm, each, partitions, comm_rank{1 - m.rank}, tag};
}

ints counted(std::size_t n, std::int32_t from) {
  ints all(n);
  std::iota(all.begin(), all.end(), from);
  return all;
}

void end(member& m, operation& o) { m.runtime.wait(o.over()); }

/// Marks all partitions, the last one first.
void mark_all(operation& o) {
  for (int i = o.partitions(); i-- > 0;) {
    ASSERT_TRUE(o.ready(static_cast<std::size_t>(i)));
  }
}

/// Several starts of `all` integers, cut into so many partitions on the two sides.
void send_in_parts(member& m, std::size_t all, int sent, int received) {
  const int own = m.rank == 0 ? sent : received;
  ints data(all);
  const std::size_t each = all / static_cast<std::size_t>(own);
  const auto o = m.rank == 0 ? new_send(with(m, ints_at(data, each), own))
                             : new_receive(with(m, ints_at(data, each), own));
  o->introduce();
  for (std::int32_t round = 0; round < 3; ++round) {
    const ints wanted = counted(all, round * 1000);
    if (m.rank == 0) {
      data = wanted;
    }
    ASSERT_TRUE(o->start());
    if (m.rank == 0) {
      mark_all(*o);
    }
    end(m, *o);
    const p2p::result r = o->outcome();
    EXPECT_EQ(r.error, p2p::fault::none);
    EXPECT_EQ(data, wanted) << sent << " to " << received;
    if (m.rank == 1) {
      EXPECT_EQ(r.source, comm_rank{0});
      EXPECT_EQ(r.tag, tag);
      EXPECT_EQ(r.bytes, all * sizeof(std::int32_t));
      EXPECT_TRUE(o->arrived(0) && o->arrived(static_cast<std::size_t>(own) - 1));
    }
  }
}

TEST_P(partitioned_messages, partitions_of_the_two_sides_differ) {
  job([](member& m) {
    for (const int sent : {1, 2, 3, 12}) {
      for (const int received : {1, 4, 6, 12}) {
        send_in_parts(m, 1200, sent, received);
      }
    }
    send_in_parts(m, 60000, 4, 3);
  });
}

TEST_P(partitioned_messages, each_partition_arrives_by_itself) {
  job([](member& m) {
    ints data = m.rank == 0 ? counted(8, 0) : ints(8, -1);
    const auto o = m.rank == 0 ? new_send(with(m, ints_at(data, 2), 4))
                               : new_receive(with(m, ints_at(data, 2), 4));
    o->introduce();
    ASSERT_TRUE(o->start());
    std::int32_t word = 0;
    const auto tell = [&] {
      m.engine.send(m.comm, m.messages(), p2p::buffer::of_bytes(&word, sizeof word),
                    comm_rank{1 - m.rank}, tag);
    };
    const auto hear = [&] {
      m.engine.recv(m.comm, m.messages(), p2p::buffer::of_bytes(&word, sizeof word),
                    comm_rank{1 - m.rank}, tag);
    };
    if (m.rank == 0) {
      ASSERT_TRUE(o->ready(2));
      EXPECT_FALSE(o->ready(2)) << "marked twice";
      hear();
      EXPECT_FALSE(o->over().done());
      for (const std::size_t i : {0U, 1U, 3U}) {
        ASSERT_TRUE(o->ready(i));
      }
    } else {
      test::poll_until(m.runtime, [&] { return o->arrived(2); });
      EXPECT_FALSE(o->arrived(0) || o->arrived(1) || o->arrived(3) || o->over().done());
      EXPECT_EQ(data, (ints{-1, -1, -1, -1, 4, 5, -1, -1}));
      tell();
    }
    end(m, *o);
  });
}

TEST_P(partitioned_messages, a_type_with_gaps_is_filled_through_its_holes) {
  job([](member& m) {
    const layout::datatype& i32 = layout::of(layout::element::i32);
    const layout::datatype_ref gaps = layout::vector(3, 1, 2 * sizeof(std::int32_t), i32);
    ints data(60, -1);
    // The sender's partitions of 4 integers end within the receiver's instances of 3.
    ints sent = counted(12, 100);
    const std::size_t extent = static_cast<std::size_t>(gaps->extent()) / sizeof(std::int32_t);
    const auto o = m.rank == 0 ? new_send(with(m, ints_at(sent, 4), 3))
                               : new_receive(with(m, {data.data(), 2, gaps.get()}, 2));
    o->introduce();
    ASSERT_TRUE(o->start());
    if (m.rank == 0) {
      mark_all(*o);
    }
    end(m, *o);
    if (m.rank == 1) {
      ints wanted(60, -1);
      for (std::size_t i = 0; i < 12; ++i) {
        wanted[i / 3 * extent + i % 3 * 2] = static_cast<std::int32_t>(100 + i);
      }
      EXPECT_EQ(data, wanted);
    }
  });
}

TEST_P(partitioned_messages, a_receive_may_start_before_the_sender_is_there) {
  job([](member& m) {
    ints data(6, -1);
    std::int32_t word = 0;
    if (m.rank == 1) {
      const auto o = new_receive(with(m, ints_at(data, 3), 2));
      o->introduce();
      ASSERT_TRUE(o->start());
      EXPECT_FALSE(o->arrived(0));
      m.engine.send(m.comm, m.messages(), p2p::buffer::of_bytes(&word, sizeof word), 0, tag);
      end(m, *o);
      EXPECT_EQ(data, counted(6, 1));
      return;
    }
    m.engine.recv(m.comm, m.messages(), p2p::buffer::of_bytes(&word, sizeof word), 1, tag);
    data = counted(6, 1);
    const auto o = new_send(with(m, ints_at(data, 2), 3));
    o->introduce();
    ASSERT_TRUE(o->start());
    mark_all(*o);
    end(m, *o);
  });
}

TEST_P(partitioned_messages, what_does_not_fit_is_said_with_both_lengths) {
  job([](member& m) {
    ints data = m.rank == 0 ? counted(8, 0) : ints(6, -1);
    const auto o = m.rank == 0 ? new_send(with(m, ints_at(data, 4), 2))
                               : new_receive(with(m, ints_at(data, 3), 2));
    o->introduce();
    ASSERT_TRUE(o->start());
    if (m.rank == 0) {
      mark_all(*o);
    }
    end(m, *o);
    const p2p::result r = o->outcome();
    if (m.rank == 1) {
      EXPECT_EQ(r.error, p2p::fault::truncated);
      EXPECT_EQ(r.bytes, 24U);
      EXPECT_EQ(o->about(r.error),
                "partitions from rank 0, tag 7: the sender's have 32 bytes in all, the receiver's "
                "only 24");
      EXPECT_EQ(data, counted(6, 0));
    } else {
      EXPECT_EQ(r.error, p2p::fault::none);
    }
  });
}

TEST_P(partitioned_messages, to_nobody_is_done_at_once) {
  job([](member& m) {
    ints data(4);
    arguments nobody = with(m, ints_at(data, 2), 2);
    nobody.peer = p2p::no_rank;
    const auto s = new_send(nobody);
    const auto r = new_receive(nobody);
    s->introduce();
    r->introduce();
    ASSERT_TRUE(s->start() && r->start());
    EXPECT_TRUE(r->over().done());
    EXPECT_EQ(r->outcome().source, p2p::no_rank);
    EXPECT_FALSE(s->over().done());
    mark_all(*s);
    EXPECT_TRUE(s->over().done());
  });
}

TEST_P(partitioned_messages, threads_mark_partitions) {
  if (std::get<1>(GetParam()) != threading::many) {
    GTEST_SKIP() << "the job has no threads";
  }
  job([](member& m) {
    constexpr int threads = 4;
    constexpr std::size_t each = 500;
    ints data(threads * each);
    const auto o = m.rank == 0 ? new_send(with(m, ints_at(data, each), threads))
                               : new_receive(with(m, ints_at(data, each / 2), 2 * threads));
    o->introduce();
    for (std::int32_t round = 0; round < 20; ++round) {
      ASSERT_TRUE(o->start());
      std::vector<std::thread> all;
      for (std::size_t t = 0; m.rank == 0 && t < threads; ++t) {
        all.emplace_back([&, t] {
          std::iota(data.begin() + static_cast<std::ptrdiff_t>(t * each),
                    data.begin() + static_cast<std::ptrdiff_t>((t + 1) * each),
                    round + static_cast<std::int32_t>(t * each));
          EXPECT_TRUE(o->ready(t));
        });
      }
      for (std::thread& t : all) {
        t.join();
      }
      end(m, *o);
      EXPECT_EQ(data, counted(threads * each, round));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(all, partitioned_messages,
                         ::testing::Combine(::testing::Values(backend::inproc, backend::shm),
                                            ::testing::Values(threading::one, threading::many)),
                         [](const auto& named) {
                           return test::name_of(std::get<0>(named.param)) +
                                  (std::get<1>(named.param) == threading::one ? "" : "_threads");
                         });

}  // namespace
}  // namespace sinew::partitioned
