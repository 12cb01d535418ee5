// SPDX-License-Identifier: BSD-3-Clause
// Every rule of two-sided messages, on every back-end, with and without threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using core::threading;
using test::backend;
using test::member;

std::vector<std::byte> pattern(std::size_t n, unsigned salt) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + salt * 13 + (i >> 8));
  }
  return bytes;
}

class p2p_rules : public ::testing::TestWithParam<std::tuple<backend, threading>> {
 protected:
  static void job(int ranks, const std::function<void(member&)>& body) {
    test::run_job(ranks, std::get<0>(GetParam()), std::get<1>(GetParam()), body);
  }
};

result send(member& m, const void* data, std::size_t n, comm_rank to, message_tag tag,
            mode how = mode::standard) {
  return m.engine.send(m.comm, m.messages(), buffer::of_bytes(data, n), to, tag, how);
}
result recv(member& m, void* data, std::size_t n, comm_rank from, message_tag tag) {
  return m.engine.recv(m.comm, m.messages(), buffer::of_bytes(data, n), from, tag);
}
request* irecv(member& m, void* data, std::size_t n, comm_rank from, message_tag tag) {
  return m.engine.irecv(m.comm, m.messages(), buffer::of_bytes(data, n), from, tag);
}
request* isend(member& m, const void* data, std::size_t n, comm_rank to, message_tag tag,
               mode how = mode::standard) {
  return m.engine.isend(m.comm, m.messages(), buffer::of_bytes(data, n), to, tag, how);
}
result finish(member& m, request* r) {
  if (r == nullptr) {
    return {};
  }
  m.engine.wait(*r);
  const result ended = r->outcome;
  m.engine.release(r);
  return ended;
}

const std::vector<std::size_t> sizes{
    0,    1,    7,    8,    31,    40,    41,    48,     49,      500,           4096,   8183,
    8184, 8185, 8192, 8193, 16384, 65536, 65537, 262144, 1 << 20, (1 << 20) + 1, 3 << 20};

TEST_P(p2p_rules, every_size_posted_first_and_unexpected) {
  job(2, [](member& m) {
    for (const bool posted_first : {true, false}) {
      for (const mode how : {mode::standard, mode::synchronous}) {
        for (const std::size_t n : sizes) {
          const auto data = pattern(n, 3);
          if (m.rank == 0) {
            if (posted_first) {
              recv(m, nullptr, 0, 1, 99);
            }
            request* r = isend(m, data.data(), n, 1, 5, how);
            if (!posted_first) {
              send(m, nullptr, 0, 1, 98);
            }
            finish(m, r);
          } else {
            std::vector<std::byte> into(n + 1);
            if (posted_first) {
              request* r = irecv(m, into.data(), n, 0, 5);
              send(m, nullptr, 0, 0, 99);
              EXPECT_EQ(finish(m, r).bytes, n);
            } else {
              recv(m, nullptr, 0, 0, 98);
              const result ended = recv(m, into.data(), n, 0, 5);
              EXPECT_EQ(ended.bytes, n);
              EXPECT_EQ(ended.source.value(), 0);
              EXPECT_EQ(ended.tag.value(), 5);
            }
            into.resize(n);
            EXPECT_EQ(into, data) << n;
          }
        }
      }
    }
  });
}

TEST_P(p2p_rules, truncation_names_both_sizes) {
  job(2, [](member& m) {
    for (const std::size_t n : {std::size_t{16}, std::size_t{4000}, std::size_t{100000}}) {
      const auto data = pattern(n, 1);
      if (m.rank == 0) {
        send(m, data.data(), n, 1, 1);
      } else {
        std::vector<std::byte> into(n / 2 + 8);
        const result ended = recv(m, into.data(), n / 2, 0, 1);
        EXPECT_EQ(ended.error, fault::truncated);
        EXPECT_EQ(ended.bytes, n / 2);
        EXPECT_EQ(ended.sent_bytes, n);
        EXPECT_TRUE(std::equal(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(n / 2),
                               data.begin()));
        EXPECT_EQ(into[n / 2], std::byte{0});
      }
    }
  });
}

/// In the place of a message: its receive, whether it is posted, waits or comes later, ends with
/// the fault, and the messages around it arrive.
TEST_P(p2p_rules, a_fault_goes_where_a_message_would) {
  job(2, [](member& m) {
    channel& in = collectives_of(m.comm);
    const auto received = [&](request* r) {
      const result ended = finish(m, r);
      return ended.error;
    };
    for (int round = 0; round < 4; ++round) {
      const bool posted = round % 2 == 0;
      const fault why = round < 2 ? fault::peer_failed : fault::truncated;
      int word = 5;
      const buffer data = buffer::of_bytes(&word, sizeof word);
      if (m.rank == 0) {
        if (posted) {
          recv(m, nullptr, 0, 1, 9);
        }
        m.engine.send(m.comm, in, data, 1, 1);
        m.engine.send_fault(m.comm, in, why, 1, 2);
        m.engine.send(m.comm, in, data, 1, 1);
        send(m, nullptr, 0, 1, 10);
        recv(m, nullptr, 0, 1, 10);
        m.engine.send_fault(m.comm, in, why, 1, 3);
      } else {
        std::array<int, 3> got{};
        const auto into = [&](std::size_t i) { return buffer::of_bytes(&got[i], sizeof got[i]); };
        if (!posted) {
          recv(m, nullptr, 0, 0, 10);
        }
        request* const first = m.engine.irecv(m.comm, in, into(0), 0, 1);
        request* const none = m.engine.irecv(m.comm, in, into(1), 0, 2);
        request* const last = m.engine.irecv(m.comm, in, into(2), 0, 1);
        if (posted) {
          send(m, nullptr, 0, 0, 9);
          recv(m, nullptr, 0, 0, 10);
        }
        EXPECT_EQ(received(first), fault::none);
        EXPECT_EQ(received(none), why);
        EXPECT_EQ(received(last), fault::none);
        EXPECT_EQ(got, (std::array{5, 0, 5}));
        send(m, nullptr, 0, 0, 10);
        EXPECT_EQ(m.engine.recv(m.comm, in, into(1), 0, 3).error, why);
      }
    }
  });
}

TEST_P(p2p_rules, order_is_kept_between_short_and_long) {
  job(2, [](member& m) {
    constexpr int rounds = 60;
    std::vector<std::vector<std::byte>> data;
    std::vector<request*> sends;
    if (m.rank == 0) {
      for (int i = 0; i < rounds; ++i) {
        data.push_back(pattern(sizes[static_cast<std::size_t>(i) % 18], static_cast<unsigned>(i)));
        sends.push_back(isend(m, data.back().data(), data.back().size(), 1, 7));
      }
      for (request* r : sends) {
        finish(m, r);
      }
    } else {
      std::vector<std::byte> into(1 << 20);
      for (int i = 0; i < rounds; ++i) {
        const result ended = recv(m, into.data(), into.size(), any_source, any_tag);
        const auto expected =
            pattern(sizes[static_cast<std::size_t>(i) % 18], static_cast<unsigned>(i));
        ASSERT_EQ(ended.bytes, expected.size()) << i;
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), into.begin())) << i;
      }
    }
  });
}

// More than the packets of a rank hold, so that at some moment a message has come in part; the
// sender does not move on before the receiver has posted all its receives, the last ones first.
TEST_P(p2p_rules, receives_posted_while_their_messages_come_in_pieces) {
  constexpr int count = 60;
  constexpr std::size_t n = 100000;
  std::atomic<bool> sent{false};
  std::atomic<bool> posted{false};
  job(2, [&](member& m) {
    std::vector<request*> under_way;
    if (m.rank == 0) {
      std::vector<std::vector<std::byte>> data;
      for (int i = 0; i < count; ++i) {
        data.push_back(pattern(n, static_cast<unsigned>(i)));
        under_way.push_back(isend(m, data.back().data(), n, 1, message_tag{i}));
      }
      sent = true;
      while (!posted) {
        std::this_thread::yield();
      }
      for (request* r : under_way) {
        finish(m, r);
      }
      return;
    }
    while (!sent) {
      std::this_thread::yield();
    }
    const auto room = [=](int i) { return i % 3 == 1 ? n / 2 : n; };
    std::vector<std::vector<std::byte>> into(count, std::vector<std::byte>(n));
    std::vector<request*> receives(count);
    m.engine.iprobe(m.comm, m.messages(), 0, count);  // takes in what has come
    for (int i = count - 1; i >= 0; --i) {
      const auto k = static_cast<std::size_t>(i);
      receives[k] = irecv(m, into[k].data(), room(i), 0, message_tag{i});
    }
    posted = true;
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const result ended = finish(m, receives[k]);
      ASSERT_EQ(ended.sent_bytes, n);
      ASSERT_EQ(ended.bytes, room(i));
      ASSERT_EQ(ended.error, room(i) < n ? fault::truncated : fault::none);
      auto expected = pattern(n, static_cast<unsigned>(i));
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(room(i)), expected.end(),
                std::byte{0});
      ASSERT_TRUE(into[k] == expected) << i;
    }
  });
}

TEST_P(p2p_rules, synchronous_send_waits_for_its_receive) {
  job(2, [](member& m) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{8}, std::size_t{50000}}) {
      auto data = pattern(n, 2);
      if (m.rank == 0) {
        request* r = isend(m, data.data(), n, 1, 1, mode::synchronous);
        ASSERT_NE(r, nullptr);
        for (int i = 0; i < 1000; ++i) {
          ASSERT_FALSE(m.engine.test(*r));
        }
        send(m, nullptr, 0, 1, 2);
        finish(m, r);
      } else {
        recv(m, nullptr, 0, 0, 2);
        recv(m, data.data(), n, 0, 1);
      }
    }
  });
}

TEST_P(p2p_rules, derived_types_on_both_sides) {
  job(2, [](member& m) {
    const auto& element = layout::of(layout::element::i32);
    for (const std::size_t blocks :
         {std::size_t{1}, std::size_t{3}, std::size_t{800}, std::size_t{9000}}) {
      const auto type = layout::vector(blocks, 2, 12, element);
      std::vector<std::int32_t> data(blocks * 3);
      std::iota(data.begin(), data.end(), 1);
      if (m.rank == 0) {
        m.engine.send(m.comm, m.messages(), {data.data(), 1, type.get()}, 1, 3);
        m.engine.send(m.comm, m.messages(), {data.data(), 1, type.get()}, 1, 4, mode::synchronous);
      } else {
        for (const message_tag tag : {message_tag(3), message_tag(4)}) {
          std::vector<std::int32_t> into(blocks * 3, -1);
          m.engine.recv(m.comm, m.messages(), {into.data(), 1, type.get()}, 0, tag);
          for (std::size_t i = 0; i < into.size(); ++i) {
            ASSERT_EQ(into[i], i % 3 == 2 ? -1 : data[i]) << i;
          }
        }
      }
    }
  });
}

TEST_P(p2p_rules, types_may_go_before_their_operations_end) {
  job(2, [](member& m) {
    for (const bool dense : {true, false}) {
      std::vector<std::int32_t> data(3000, 7), into(3000, 0);
      const auto make = [dense] {
        const auto& element = layout::of(layout::element::i32);
        return dense ? layout::contiguous(3000, element) : layout::vector(1000, 2, 12, element);
      };
      request* r = nullptr;
      {
        const auto type = make();
        r = m.rank == 0 ? m.engine.isend(m.comm, m.messages(), {data.data(), 1, type.get()}, 1, 1)
                        : m.engine.irecv(m.comm, m.messages(), {into.data(), 1, type.get()}, 0, 1);
      }
      finish(m, r);
      if (m.rank == 1) {
        EXPECT_EQ(into[0], 7);
        EXPECT_EQ(into[2], dense ? 7 : 0);
        EXPECT_EQ(into[2998], 7);
      }
    }
  });
}

TEST_P(p2p_rules, probe_and_matched_probe) {
  job(3, [](member& m) {
    int value = m.rank * 100;
    if (m.rank != 0) {
      send(m, &value, sizeof value, 0, message_tag{m.rank});
      const auto big = pattern(40000, static_cast<unsigned>(m.rank));
      send(m, big.data(), big.size(), 0, message_tag{50 + m.rank});
      return;
    }
    const result seen = m.engine.probe(m.comm, m.messages(), 2, any_tag);
    EXPECT_EQ(seen.source.value(), 2);
    EXPECT_EQ(seen.tag.value(), 2);
    EXPECT_EQ(seen.bytes, sizeof value);
    result found;
    matched* taken = m.engine.mprobe(m.comm, m.messages(), any_source, 51, found);
    EXPECT_EQ(found.bytes, 40000U);
    std::vector<std::byte> into(40000);
    EXPECT_EQ(m.engine.mrecv(taken, buffer::of_bytes(into.data(), into.size())).source.value(), 1);
    EXPECT_EQ(into, pattern(40000, 1));
    EXPECT_FALSE(m.engine.iprobe(m.comm, m.messages(), any_source, 51).has_value());
    for (const int from : {1, 2}) {
      recv(m, &value, sizeof value, comm_rank{from}, message_tag{from});
      EXPECT_EQ(value, from * 100);
    }
    recv(m, into.data(), into.size(), 2, 52);
    EXPECT_EQ(into, pattern(40000, 2));
  });
}

// A blocking receive that is alone in its channel is posted late: nobody may notice.
TEST_P(p2p_rules, blocking_receive_among_others) {
  job(2, [](member& m) {
    const auto long_one = pattern(100'000, 1);
    if (m.rank == 0) {
      const char word[] = "word";
      for (const int first : {1, 2, 3}) {
        recv(m, nullptr, 0, 1, 99);                            // it waits now, or soon
        send(m, &first, sizeof first, 1, message_tag{first});  // for 2: tag 1 comes in between
        send(m, word, sizeof word, 1, 2, mode::synchronous);
        send(m, long_one.data(), long_one.size(), 1, 4);
        send(m, word, sizeof word, 1, 5);
      }
    } else {
      for (const int first : {1, 2, 3}) {
        std::vector<std::byte> into(100'000);
        char text[8] = {};
        int number = 0;
        send(m, nullptr, 0, 0, 99);
        if (first == 1) {  // what comes first is not what is waited for
          EXPECT_EQ(recv(m, text, sizeof text, 0, 2).bytes, 5U);
          EXPECT_EQ(recv(m, &number, sizeof number, any_source, 1).bytes, sizeof number);
        } else if (first == 2) {  // the same envelope twice: in the order sent
          EXPECT_EQ(recv(m, &number, sizeof number, 0, 2).bytes, sizeof number);
          EXPECT_EQ(recv(m, text, sizeof text, any_source, any_tag).tag.value(), 2);
        } else {  // a wildcard, then one too short
          EXPECT_EQ(recv(m, &number, sizeof number, 0, any_tag).tag.value(), 3);
          const result cut = recv(m, text, 2, 0, 2);
          EXPECT_EQ(cut.error, fault::truncated);
          EXPECT_EQ(cut.sent_bytes, 5U);
        }
        EXPECT_EQ(number, first);
        EXPECT_EQ(recv(m, into.data(), into.size(), 0, 4).bytes, into.size());
        EXPECT_EQ(into, long_one);
        request* behind = irecv(m, text, sizeof text, 0, 5);
        EXPECT_EQ(finish(m, behind).bytes, 5U);
      }
    }
  });
}

TEST_P(p2p_rules, cancelled_receive_takes_nothing) {
  job(2, [](member& m) {
    int value = 5;
    if (m.rank == 0) {
      recv(m, nullptr, 0, 1, 9);
      send(m, &value, sizeof value, 1, 1);
    } else {
      int never = -1;
      request* r = irecv(m, &never, sizeof never, 0, 1);
      EXPECT_TRUE(m.engine.cancel(*r));
      EXPECT_EQ(finish(m, r).error, fault::cancelled);
      send(m, nullptr, 0, 0, 9);
      int got = 0;
      request* second = irecv(m, &got, sizeof got, 0, 1);
      m.engine.wait(*second);
      EXPECT_FALSE(m.engine.cancel(*second));
      m.engine.release(second);
      EXPECT_EQ(got, 5);
      EXPECT_EQ(never, -1);
    }
  });
}

// MPI-5.0 section 3.8.4: either the message is received, or its send is cancelled, but not both.
TEST_P(p2p_rules, cancelled_sends_end_in_one_of_two_ways) {
  job(2, [](member& m) {
    constexpr int rounds = 60;
    int count = 0;
    if (m.rank == 0) {
      const std::vector<std::byte> data = pattern(200000, 1);
      for (int i = 0; i < rounds; ++i) {
        const std::size_t bytes = i % 3 == 0 ? 4 : data.size();
        request* const r = isend(m, data.data(), bytes, 1, 1, mode::synchronous);
        m.engine.cancel_send(*r);
        count += finish(m, r).error == fault::none ? 1 : 0;
      }
      send(m, &count, sizeof count, 1, 2);
      return;
    }
    std::vector<std::byte> into(200000);
    int received = 0;
    request* const last = irecv(m, &count, sizeof count, 0, 2);
    while (!m.engine.test(*last)) {
      if (m.engine.iprobe(m.comm, m.messages(), 0, 1)) {
        request* const r = irecv(m, into.data(), into.size(), 0, 1);
        m.engine.test(*r);
        (void)m.engine.cancel(*r);
        received += finish(m, r).error == fault::none ? 1 : 0;
      }
    }
    m.engine.release(last);
    EXPECT_EQ(received, count);
    EXPECT_FALSE(m.engine.iprobe(m.comm, m.messages(), 0, 1).has_value());
  });
}

TEST_P(p2p_rules, partitioned_messages_are_matched_among_themselves) {
  job(2, [](member& m) {
    using what = engine::partitioned;
    channel* const channels[] = {&m.messages(), &m.engine.channel_for(m.comm, what::terms),
                                 &m.engine.channel_for(m.comm, what::data)};
    ASSERT_NE(channels[1], channels[2]);
    ASSERT_EQ(channels[2], &m.engine.channel_for(m.comm, what::data));
    int words[3] = {10, 11, 12};
    if (m.rank == 0) {
      for (std::size_t i = 0; i < 3; ++i) {
        m.engine.send(m.comm, *channels[i], buffer::of_bytes(&words[i], sizeof(int)), 1, 4);
      }
    } else {
      for (std::size_t i = 3; i-- > 0;) {
        int word = 0;
        m.engine.recv(m.comm, *channels[i], buffer::of_bytes(&word, sizeof word), any_source,
                      any_tag);
        EXPECT_EQ(word, words[i]);
      }
    }
  });
}

TEST_P(p2p_rules, messages_to_oneself) {
  job(1, [](member& m) {
    for (const std::size_t n : sizes) {
      const auto data = pattern(n, 4);
      std::vector<std::byte> into(n);
      request* r = irecv(m, into.data(), n, 0, 1);
      request* s = isend(m, data.data(), n, 0, 1, mode::synchronous);
      finish(m, s);
      finish(m, r);
      EXPECT_EQ(into, data);
      request* early = isend(m, data.data(), n, 0, 2);
      std::fill(into.begin(), into.end(), std::byte{0});
      recv(m, into.data(), n, 0, 2);
      finish(m, early);
      EXPECT_EQ(into, data);
    }
  });
}

TEST_P(p2p_rules, released_early_still_happens) {
  job(2, [](member& m) {
    const auto data = pattern(100000, 6);
    std::vector<std::byte> into(data.size());
    if (m.rank == 0) {
      request* r = isend(m, data.data(), data.size(), 1, 1);
      ASSERT_NE(r, nullptr);
      m.engine.release(r);
      recv(m, nullptr, 0, 1, 2);
    } else {
      recv(m, into.data(), into.size(), 0, 1);
      EXPECT_EQ(into, data);
      send(m, nullptr, 0, 0, 2);
    }
  });
}

TEST_P(p2p_rules, a_hundred_thousand_unexpected_messages) {
  constexpr int count = 100'000;
  job(2, [](member& m) {
    if (m.rank == 0) {
      std::vector<request*> pending;
      for (int i = 0; i < count; ++i) {
        request* r = isend(m, &i, sizeof i, 1, 1);
        // The data of a waiting send must stay: only those that went at once may reuse `i`.
        if (r != nullptr) {
          finish(m, r);
        }
      }
      send(m, nullptr, 0, 1, 2);
    } else {
      request* last = irecv(m, nullptr, 0, 0, 2);
      std::int64_t sum = 0;
      int value = 0;
      for (int i = 0; i < count; ++i) {
        recv(m, &value, sizeof value, 0, 1);
        ASSERT_EQ(value, i);
        sum += value;
      }
      finish(m, last);
      EXPECT_EQ(sum, std::int64_t{count} * (count - 1) / 2);
    }
  });
}

TEST_P(p2p_rules, seeded_storm_of_four_ranks) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  job(4, [seed](member& m) {
    // Everybody draws the same plan: who sends what to whom, in which order.
    std::mt19937 plan(seed);
    struct planned {
      comm_rank from, to;
      message_tag tag;
      std::size_t n;
    };
    std::vector<planned> all;
    for (int i = 0; i < 600; ++i) {
      all.push_back({comm_rank::of_index(plan() % 4), comm_rank::of_index(plan() % 4),
                     message_tag::of_index(plan() % 5), sizes[plan() % (sizes.size() - 2)]});
    }
    std::vector<std::vector<std::byte>> buffers(all.size());
    std::vector<request*> open;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const planned& p = all[i];
      if (p.to == comm_rank{m.rank}) {
        buffers[i].resize(p.n);
        open.push_back(irecv(m, buffers[i].data(), p.n, p.from, p.tag));
      }
    }
    std::vector<std::vector<std::byte>> sent(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const planned& p = all[i];
      if (p.from == comm_rank{m.rank}) {
        sent[i] = pattern(p.n, static_cast<unsigned>(i));
        const mode how = i % 3 == 0 ? mode::synchronous : mode::standard;
        if (request* r = isend(m, sent[i].data(), p.n, p.to, p.tag, how)) {
          open.push_back(r);
        }
      }
    }
    for (request* r : open) {
      finish(m, r);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].to == comm_rank{m.rank}) {
        ASSERT_EQ(buffers[i], pattern(all[i].n, static_cast<unsigned>(i))) << "message " << i;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(all, p2p_rules,
                         ::testing::Combine(::testing::Values(backend::inproc, backend::shm),
                                            ::testing::Values(threading::one, threading::many)),
                         [](const auto& param) {
                           return test::name_of(std::get<0>(param.param)) +
                                  (std::get<1>(param.param) == threading::one ? "_one" : "_many");
                         });

class p2p_threads : public ::testing::TestWithParam<backend> {};

TEST_P(p2p_threads, several_threads_per_rank_talk_at_once) {
  test::run_job(2, GetParam(), threading::many, [](member& m) {
    constexpr int threads = 4;
    constexpr int rounds = 60;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&m, t] {
        const message_tag tag{t};
        std::vector<std::byte> data(t == 3 ? 20000 : 64), into(data.size());
        for (int i = 0; i < rounds; ++i) {
          std::memcpy(data.data(), &i, sizeof i);
          if (m.rank == 0) {
            send(m, data.data(), data.size(), 1, tag);
            recv(m, into.data(), into.size(), 1, tag);
          } else {
            recv(m, into.data(), into.size(), 0, tag);
            send(m, into.data(), into.size(), 0, tag);
          }
          int seen = -1;
          std::memcpy(&seen, into.data(), sizeof seen);
          ASSERT_EQ(seen, i);
        }
      });
    }
    for (auto& t : all) {
      t.join();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(all, p2p_threads, ::testing::Values(backend::inproc, backend::shm),
                         [](const auto& param) { return test::name_of(param.param); });

}  // namespace
}  // namespace sinew::p2p
