// SPDX-License-Identifier: BSD-3-Clause
// MPI's order among threads (MPI-5.0 section 3.5): messages of one source that a thread sends after
// another's has returned are matched in that order, whichever threads receive; and pairs of threads
// with tags of their own go on in parallel while others probe with wildcards.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "p2p/state.hpp"
#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using core::threading;
using test::backend;
using test::member;

#if defined(SINEW_TSAN) || defined(SINEW_ASAN) || defined(SINEW_EMULATED)
constexpr int scale = 1;
#else
constexpr int scale = 4;
#endif

class p2p_among_threads : public ::testing::TestWithParam<backend> {
 protected:
  static void job(const std::function<void(member&)>& body) {
    test::run_job(2, GetParam(), threading::many, body);
  }
};

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t) {
    all.emplace_back(body, t);
  }
  for (std::thread& t : all) {
    t.join();
  }
}

void send(member& m, int number, std::size_t bytes, message_tag tag) {
  std::vector<std::byte> data(std::max(bytes, sizeof number));
  std::memcpy(data.data(), &number, sizeof number);
  m.engine.send(m.comm, m.messages(), buffer::of_bytes(data.data(), data.size()),
                comm_rank{1 - m.rank}, tag);
}

int receive(member& m, comm_rank source, message_tag tag, result* ended = nullptr) {
  std::vector<std::byte> data(40000);
  const result r =
      m.engine.recv(m.comm, m.messages(), buffer::of_bytes(data.data(), data.size()), source, tag);
  if (ended != nullptr) {
    *ended = r;
  }
  int number = -1;
  std::memcpy(&number, data.data(), sizeof number);
  return number;
}

std::size_t some_size(int number) { return number % 17 == 0 ? 30000 : number % 5 == 0 ? 3000 : 8; }

// Threads take turns: each sends when the one before it has returned.
TEST_P(p2p_among_threads, messages_sent_in_turn_by_several_threads_arrive_in_turn) {
  constexpr int count = 3000 * scale;
  job([](member& m) {
    if (m.rank == 0) {
      int next = 0;
      std::mutex turn;
      in_threads(4, [&](int) {
        for (;;) {
          const std::lock_guard held(turn);
          if (next == count) {
            return;
          }
          send(m, next, some_size(next), message_tag{next % 3});
          ++next;
        }
      });
    } else {
      for (int i = 0; i < count; ++i) {
        result ended;
        ASSERT_EQ(receive(m, i % 2 == 0 ? any_source : 0, any_tag, &ended), i);
        ASSERT_EQ(ended.tag.value(), i % 3);
      }
    }
  });
}

// Several threads receive the same (source, tag): each sees numbers that grow, together all of
// them.
TEST_P(p2p_among_threads, receives_of_one_envelope_by_several_threads) {
  constexpr int count = 3000 * scale;
  constexpr int threads = 4;
  job([](member& m) {
    if (m.rank == 0) {
      for (int i = 0; i < count; ++i) {
        send(m, i, some_size(i), 7);
      }
      return;
    }
    std::vector<std::vector<int>> seen(threads);
    std::atomic<int> left{count};
    in_threads(threads, [&](int t) {
      while (left.fetch_sub(1) > 0) {
        seen[static_cast<std::size_t>(t)].push_back(receive(m, t % 2 == 0 ? 0 : any_source, 7));
      }
    });
    std::vector<int> times(count);
    for (const auto& mine : seen) {
      EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
      for (const int n : mine) {
        ++times[static_cast<std::size_t>(n)];
      }
    }
    const auto once = std::count(times.begin(), times.end(), 1);
    EXPECT_EQ(once, std::ptrdiff_t{count});
  });
}

// Windows of receives and sends, a tag for each pair of threads; meanwhile one thread probes with
// wildcards, which gathers what the others have divided, and one divides it again.
TEST_P(p2p_among_threads, pairs_with_their_own_tags_while_wildcards_come_and_go) {
  constexpr int pairs = 3;
  constexpr int rounds = 100 * scale;
  constexpr int window = 16;
  constexpr int end_tag = 99;
  job([](member& m) {
    std::atomic<int> busy{pairs};
    in_threads(pairs + 1, [&](int t) {
      if (t == pairs) {
        std::uint64_t looked = 0;
        for (; busy.load() != 0; ++looked) {
          m.messages().matcher.divide();
          if (looked % 64 == 0) {
            const auto found = m.engine.iprobe(m.comm, m.messages(), any_source, end_tag);
            EXPECT_FALSE(found.has_value());
          }
          std::this_thread::yield();
        }
        return;
      }
      for (int round = 0; round < rounds; ++round) {
        int into[window];
        int from[window];
        std::vector<request*> open;
        for (int i = 0; i < window; ++i) {
          from[i] = round * window + i;
          if (round % 2 == 0 || m.rank == 0) {
            open.push_back(m.engine.irecv(m.comm, m.messages(),
                                          buffer::of_bytes(&into[i], sizeof(int)),
                                          comm_rank{1 - m.rank}, message_tag{t}));
          }
        }
        for (int i = 0; i < window; ++i) {
          send(m, from[i], sizeof(int), message_tag{t});
        }
        for (int i = 0; round % 2 != 0 && m.rank != 0 && i < window; ++i) {
          into[i] = receive(m, 0, message_tag{t});
        }
        for (request* r : open) {
          m.engine.wait(*r);
          m.engine.release(r);
        }
        for (int i = 0; i < window; ++i) {
          ASSERT_EQ(into[i], from[i]) << "thread " << t;
        }
      }
      --busy;
    });
    const match_report now = m.engine.matching(m.comm);
    EXPECT_EQ(now.posted + now.unexpected, 0u);
  });
}

// One side stores without end until the other tells it to wait, from several threads at once.
TEST_P(p2p_among_threads, a_sender_is_held_back_and_let_go_by_several_threads) {
  constexpr int threads = 4;
  constexpr int count = 3000;  // more than a rank keeps of one source, 32 MiB
  constexpr std::size_t bytes = 4000;
  job([](member& m) {
    if (m.rank == 0) {
      in_threads(threads, [&](int t) {
        for (int i = 0; i < count; ++i) {
          send(m, i, bytes, message_tag{t});
        }
      });
      return;
    }
    for (int t = threads; t-- > 1;) {  // the last first: what the others sent is unexpected
      for (int i = 0; i < count / 2; ++i) {
        ASSERT_EQ(receive(m, 0, message_tag{t}), i);
      }
    }
    in_threads(threads, [&](int t) {
      for (int i = t == 0 ? 0 : count / 2; i < count; ++i) {
        ASSERT_EQ(receive(m, 0, message_tag{t}), i);
      }
    });
  });
}

// While something has failed whoever polls looks at all channels; another thread ends some of them.
TEST_P(p2p_among_threads, communicators_are_freed_while_failures_are_looked_for) {
  constexpr int rounds = 3000 * scale;
  job([](member& m) {
    const core::group alone({job_rank{m.rank}});
    core::communicator revoked(context_id{2}, alone, comm_rank{0});
    m.engine.attach(revoked);
    m.engine.revoke(revoked);
    std::atomic<bool> done{false};
    in_threads(3, [&](int t) {
      if (t == 0) {
        for (int i = 0; i < rounds; ++i) {
          core::communicator passing(context_id{4 + 2 * static_cast<std::uint32_t>(i % 3)}, alone,
                                     comm_rank{0});
          m.engine.attach(passing);
          EXPECT_TRUE(m.engine.detach(passing));
        }
        done.store(true);
      }
      while (!done.load()) {
        m.runtime.poll();
      }
    });
    EXPECT_FALSE(m.engine.detach(revoked)) << "words about it may still be under way";
  });
}

INSTANTIATE_TEST_SUITE_P(all, p2p_among_threads, ::testing::Values(backend::inproc, backend::shm),
                         [](const auto& param) { return test::name_of(param.param); });

}  // namespace
}  // namespace sinew::p2p
