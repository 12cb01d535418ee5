// SPDX-License-Identifier: BSD-3-Clause
// Plans carried out by real ranks, checked byte for byte.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/random.hpp"
#include "sinew/multipath/transfer.hpp"
#include "sinew/route/default_route.hpp"
#include "support/rma_job.hpp"

namespace sinew::multipath {
namespace {

using core::threading;
using rma::part;
using route::job_list;
using route::topology;
using test::backend;
using test::ranks_as;
using test::require;
using test::rma_member;

struct way_to_run {
  const char* name;
  backend over;
  threading threads;
  ranks_as kind;
};

std::ostream& operator<<(std::ostream& out, const way_to_run& w) { return out << w.name; }

std::byte content(int from, int to, std::uint64_t call, std::uint64_t i) {
  const auto salt = static_cast<std::uint64_t>(from * 64 + to) + call * 4096;
  return static_cast<std::byte>(((salt + 1) * 0x9e3779b97f4a7c15u ^ i * 0x2545f4914f6cdd1du) >> 29);
}

/// What one rank sends and receives, with gaps between the messages that nobody may touch.
class mail {
 public:
  static constexpr std::size_t gap = 24;
  static constexpr auto untouched = std::byte{0xa5};

  mail(const transfer& c, rma_member& m, bool in_heap) : m_(m), in_heap_(in_heap) {
    const auto place = [&](auto bytes_of, std::vector<std::size_t>& at) {
      std::size_t end = gap;
      for (int r = 0; r < m.size; ++r) {
        at.push_back(end);
        sizes_.push_back(bytes_of(r));
        end += sizes_.back() + gap;
      }
      return end;
    };
    send_.resize(place([&](int r) { return c.bytes_to(job_rank{r}); }, send_at));
    receive_bytes_ = place([&](int r) { return c.bytes_from(job_rank{r}); }, receive_at);
    if (in_heap_) {
      offset_ = m.rma.memory().allocate(part::local, receive_bytes_);
      receive = m.rma.at({job_rank{m.rank}, offset_});
    } else {
      own_.resize(receive_bytes_);
      receive = own_.data();
    }
  }
  ~mail() {
    if (in_heap_) {
      m_.rma.memory().release(offset_);
    }
  }
  mail(const mail&) = delete;
  mail& operator=(const mail&) = delete;

  void fill(std::uint64_t call) {
    for (int r = 0; r < m_.size; ++r) {
      for (std::size_t i = 0; i < sent(r); ++i) {
        send_[send_at[index(r)] + i] = content(m_.rank, r, call, i);
      }
    }
    std::fill_n(receive, receive_bytes_, untouched);
  }
  void check(std::uint64_t call) const {
    std::size_t at = 0;
    for (int r = 0; r < m_.size; ++r) {
      for (; at < receive_at[index(r)]; ++at) {
        require(receive[at] == untouched, "wrote too far");
      }
      for (std::size_t i = 0; i < received(r); ++i, ++at) {
        if (receive[at] != content(r, m_.rank, call, i)) {  // a text for each would take long
          require(false,
                  "byte " + std::to_string(i) + " from rank " + std::to_string(r) + " is wrong");
        }
      }
    }
    for (; at < receive_bytes_; ++at) {
      require(receive[at] == untouched, "wrote behind the end");
    }
  }
  delivery exchange(transfer& c) { return c.alltoallv(send_.data(), send_at, receive, receive_at); }
  void round(transfer& c, std::uint64_t call) {
    fill(call);
    const delivery d = exchange(c);
    require(d.ok(), d.sentence());
    check(call);
  }

  std::vector<std::size_t> send_at;
  std::vector<std::size_t> receive_at;
  std::byte* receive = nullptr;

 private:
  [[nodiscard]] static std::size_t index(int r) { return static_cast<std::size_t>(r); }
  [[nodiscard]] std::size_t sent(int r) const { return sizes_[index(r)]; }
  [[nodiscard]] std::size_t received(int r) const { return sizes_[index(r + m_.size)]; }

  rma_member& m_;
  bool in_heap_;
  std::uint64_t offset_ = 0;
  std::size_t receive_bytes_ = 0;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::byte> send_;
  std::vector<std::byte> own_;
};

class carry_test : public ::testing::TestWithParam<way_to_run> {
 protected:
  static void run(int ranks, const test::rma_body& body) {
    const way_to_run& w = GetParam();
    test::rma_job job(ranks, {w.over, w.threads, w.kind, {32 << 20, 32 << 20}});
    EXPECT_EQ(job.run(body), "");
  }
};

const auto every_way =
    ::testing::Values(way_to_run{"inproc", backend::inproc, threading::one, ranks_as::threads},
                      way_to_run{"shm_threads", backend::shm, threading::many, ranks_as::threads},
                      way_to_run{"processes", backend::shm, threading::one, ranks_as::processes});

#if defined(SINEW_TSAN) || defined(SINEW_ASAN) || defined(SINEW_EMULATED)
constexpr bool slow_build = true;
#else
constexpr bool slow_build = false;
#endif

/// 1 KiB chunks, and several paths even where the default route is predicted as fast. The planner
/// need not be exact here: it has its own tests.
transfer_options eager(std::uint64_t chunk = 1024) {
  transfer_options o;
  o.plan.costs.chunk = chunk;
  o.plan.gap = 0.2;
  o.plan.fall_back = false;
  return o;
}

topology cube() { return route::make_torus({2, 2, 2}); }

// What the patterns are on eight nodes; the fractions of p want more nodes than that.
std::vector<std::pair<std::string, job_list>> cube_patterns(std::uint64_t bytes) {
  const topology net = cube();
  std::vector<std::pair<std::string, job_list>> all;
  route::pattern_options o;
  o.bytes = bytes;
  o.group = 4;
  for (const char* name : {"aggregation", "random", "alltoall", "alltoallv", "halo"}) {
    all.emplace_back(name, route::make_pattern(net, name, o));
  }
  all.emplace_back("disjoint", route::make_many_to_many(net, {2, 0, 4, 4}, o));
  all.emplace_back("overlap", route::make_many_to_many(net, {4, 0, 4, 2}, o));
  all.emplace_back("subset", route::make_many_to_many(net, {2, 0, 4, 0}, o));
  all.emplace_back("incast", route::make_many_to_many(net, {7, 1, 1, 0}, o));
  all.emplace_back("pair", route::make_many_to_many(net, {1, 0, 1, 7}, o));
  return all;
}

INSTANTIATE_TEST_SUITE_P(carry, carry_test, every_way,
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(carry_test, every_pattern_on_a_cube_twice_and_in_both_kinds_of_memory) {
  run(8, [](rma_member& m) {
    for (const auto& [name, jobs] : cube_patterns(slow_build ? 4'003 : 20'003)) {
      for (const bool every_hop : {false, true}) {
        if (slow_build && !every_hop) {
          continue;  // planning alone takes seconds there
        }
        transfer_options o = eager();
        o.every_hop = every_hop;
        if (every_hop) {
          o.rule = route::queue_rule::round_robin;
        }
        transfer c(m.rma, cube(), row_of(jobs, job_rank{m.rank}, m.size), o);
        for (const bool in_heap : {true, false}) {
          mail letters(c, m, in_heap);
          for (std::uint64_t call = 0; call < 2; ++call) {
            letters.round(c, call);
          }
        }
      }
    }
  });
}

TEST_P(carry_test, several_ranks_on_a_node_and_one_slot) {
  run(8, [](rma_member& m) {
    const topology net = route::make_mesh({4});
    for (const std::uint32_t slots : {1u, 2u}) {
      transfer_options o = eager(512);
      o.ranks_per_node = 2;
      o.slots = slots;
      o.every_hop = true;
      std::vector<std::uint64_t> row;
      for (int r = 0; r < m.size; ++r) {
        row.push_back(static_cast<std::uint64_t>((m.rank * 13 + r * 7) % 5) * 3001);
      }
      transfer c(m.rma, net, row, o);
      mail letters(c, m, slots == 1);
      for (std::uint64_t call = 0; call < 4; ++call) {
        letters.round(c, call);
      }
    }
  });
}

TEST_P(carry_test, the_courses_carry_what_the_plan_says) {
  run(8, [](rma_member& m) {
    route::pattern_options p;
    p.bytes = 30'000;
    const job_list jobs = route::make_pattern(cube(), "alltoall", p);
    transfer_options o = eager();
    o.every_hop = true;
    const route::route_plan plan = route::make_plan(cube(), jobs, o.plan);
    transfer c(m.rma, cube(), plan, o);
    const topology net = cube();
    const std::vector<double> loads = route::link_loads(net, plan);
    double leaves = 0;
    for (route::link_id l = 0; l < net.links(); ++l) {
      if (net.from(l) == static_cast<route::node_id>(m.rank)) {
        leaves += loads[l];
      }
    }
    require(static_cast<double>(c.bytes_moved()) == leaves,
            "moves " + std::to_string(c.bytes_moved()) + " of " + std::to_string(leaves));
    mail letters(c, m, true);
    letters.round(c, 1);
  });
}

TEST_P(carry_test, nothing_to_send_and_messages_to_oneself) {
  run(8, [](rma_member& m) {
    std::vector<std::uint64_t> row(8, 0);
    {
      transfer none(m.rma, cube(), row, eager());
      mail letters(none, m, false);
      letters.round(none, 0);
      require(none.chunks_moved() == 0, "moved something");
    }
    row[static_cast<std::size_t>(m.rank)] = 5000;
    if (m.rank == 3) {
      row[5] = 1;
    }
    transfer self(m.rma, cube(), row, eager());
    mail letters(self, m, true);
    for (std::uint64_t call = 0; call < 3; ++call) {
      letters.round(self, call);
    }
  });
}

TEST_P(carry_test, a_slow_rank_delays_and_breaks_nothing) {
  run(8, [](rma_member& m) {
    route::pattern_options p;
    p.bytes = 20'000;
    const job_list jobs = route::make_pattern(cube(), "alltoall", p);
    transfer c(m.rma, cube(), row_of(jobs, job_rank{m.rank}, m.size), eager());
    mail letters(c, m, true);
    for (std::uint64_t call = 0; call < 4; ++call) {
      if (static_cast<std::uint64_t>(m.rank) == call * 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
      letters.round(c, call);
    }
  });
}

// Two transfers at once, random sizes, chunks, slots and options, and ranks that are slow at
// random. More rounds of other seeds: SINEW_TEST_ROUNDS, and SINEW_TEST_SEED for the first.
TEST_P(carry_test, random_messages_between_ranks_that_dawdle) {
  const char* const asked = std::getenv("SINEW_TEST_ROUNDS");
  const int rounds = asked != nullptr ? std::atoi(asked) : slow_build ? 1 : 3;
  const std::uint64_t first = asked != nullptr ? seed_from_environment() : 1;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(round);
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(seed % 3 == 0 && !slow_build ? 16 : 8, [seed](rma_member& m) {
      random_generator common(seed);
      random_generator own(seed * 64 + static_cast<std::uint64_t>(m.rank));
      const topology net = m.size == 16                   ? route::make_torus({4, 4})
                           : common.with_probability(0.5) ? cube()
                                                          : route::make_mesh({4, 2});
      std::vector<std::unique_ptr<transfer>> transfers;
      std::vector<std::unique_ptr<mail>> letters;
      for (int i = 0; i < 2; ++i) {
        transfer_options o = eager(64 + common.below(4000));
        o.slots = static_cast<std::uint32_t>(1 + common.below(4));
        o.every_hop = common.with_probability(0.7);
        if (common.with_probability(0.5)) {
          o.rule = route::queue_rule::round_robin;
        }
        std::vector<std::uint64_t> row;
        for (int from = 0; from < m.size; ++from) {
          for (int to = 0; to < m.size; ++to) {
            const std::uint64_t bytes =
                common.with_probability(0.4) ? 0 : 1 + common.below(slow_build ? 3'000 : 12'000);
            if (from == m.rank) {
              row.push_back(bytes);
            }
          }
        }
        const bool in_heap = own.with_probability(0.5);
        transfers.push_back(std::make_unique<transfer>(m.rma, net, row, o));
        letters.push_back(std::make_unique<mail>(*transfers.back(), m, in_heap));
      }
      for (std::uint64_t call = 0; call < 12; ++call) {
        if (own.with_probability(0.1)) {
          std::this_thread::sleep_for(std::chrono::microseconds(own.below(3'000)));
        }
        const std::size_t which = common.below(2);
        letters[which]->round(*transfers[which], call);
      }
      letters.clear();
      while (!transfers.empty()) {
        transfers.pop_back();
      }
    });
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(carry_test, links_with_a_limited_rate_take_their_time) {
  run(8, [](rma_member& m) {
    route::pattern_options p;
    p.bytes = 64'000;
    const topology net = cube();
    const job_list jobs = route::make_many_to_many(net, {1, 0, 1, 7}, p);
    transfer_options o = eager(4000);
    o.every_hop = true;
    std::uint64_t held = 0;
    o.link_time_ns = [&held](job_rank, std::uint64_t bytes) {
      held += bytes * 100;  // 10 MB/s
      return bytes * 100;
    };
    transfer c(m.rma, net, row_of(jobs, job_rank{m.rank}, m.size), o);
    mail letters(c, m, true);
    letters.fill(1);
    const auto from = std::chrono::steady_clock::now();
    require(letters.exchange(c).ok(), "not delivered");
    const auto took = std::chrono::steady_clock::now() - from;
    letters.check(1);
    require(held == c.bytes_moved() * 100, "not every chunk passed the limiter");
    // The corner sends 64,000 bytes over three links, one chunk of 4,000 at a time on each, and
    // does not wait for the last one of each.
    if (m.rank == 0) {
      require(took >= std::chrono::nanoseconds((64'000 / 3 - 4000) * 100), "faster than its links");
    }
  });
}

TEST_P(carry_test, failed_links_are_not_used) {
  run(8, [](rma_member& m) {
    const std::pair<route::node_id, route::node_id> failed[] = {{0, 1}, {0, 2}};
    const topology net = cube().without(failed);
    route::pattern_options p;
    p.bytes = 9'000;
    const job_list jobs = route::make_many_to_many(net, {1, 0, 1, 3}, p);
    transfer_options o = eager();
    o.every_hop = true;
    transfer c(m.rma, net, row_of(jobs, job_rank{m.rank}, m.size), o);
    mail letters(c, m, false);
    letters.round(c, 0);
    require((m.rank == 4) == (c.bytes_moved() == 9'000 && m.rank != 0 && m.rank != 5 &&
                              m.rank != 6 && m.rank != 7),
            "all of it must leave by node 4");
  });
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_P(carry_test, every_rank_learns_why_it_cannot_be) {
  run(8, [](rma_member& m) {
    std::vector<std::uint64_t> row(8, slow_build ? 100'000 : 400'000);
    const topology net = cube();
    require(has(refusal([&] { transfer c(m.rma, route::make_torus({4, 4}), row, eager()); }),
                "16 endpoints"),
            "another network");
    const topology halves("halves", 8, 8, {{0, 1, 1}, {1, 0, 1}, {2, 3, 1}, {3, 2, 1}});
    const std::string apart = refusal([&] { transfer c(m.rma, halves, row, eager()); });
    require(!apart.empty(), "a network in pieces");
    transfer_options little = eager();
    little.memory = 16 << 10;
    const std::string short_of = refusal([&] { transfer c(m.rma, net, row, little); });
    require(has(short_of, "too little memory") && has(short_of, "the limit is 16384"), short_of);
    const job_list jobs = route::make_pattern(net, "halo");
    const route::route_plan plan = route::make_plan(net, jobs);
    require(
        has(refusal([&] { transfer c(m.rma, route::make_torus({8}), plan, eager()); }), "network"),
        "a plan for another network");
    transfer_options some = eager(64 << 10);
    some.memory = 1 << 20;
    transfer c(m.rma, net, row, some);  // smaller chunks, but it works
    require(c.chunk() < (64 << 10) && c.held_bytes() < (2u << 20), "not smaller");
    mail letters(c, m, true);
    letters.round(c, 0);
  });
}

TEST_P(carry_test, thousands_of_messages_from_one_rank) {
  run(8, [](rma_member& m) {
    // Sixty-four ranks' worth of marks and more: small messages, many paths each way.
    transfer_options o = eager(64);
    o.plan.most_paths = 16;
    o.every_hop = true;
    std::vector<std::uint64_t> row(8, m.rank == 0 ? 200'000 : 70);
    transfer c(m.rma, cube(), row, o);
    mail letters(c, m, false);
    for (std::uint64_t call = 0; call < 2; ++call) {
      letters.round(c, call);
    }
  });
}

class dying_test : public ::testing::Test {};

// Processes, of which one dies inside the second call, or never comes. The others learn it.
TEST_F(dying_test, a_dead_rank_is_named_and_nobody_hangs) {
  test::shared_memory board(4096);
  auto* told = reinterpret_cast<std::atomic<int>*>(board.base());
  test::rma_job job(8, {backend::shm, threading::one, ranks_as::processes, {32 << 20, 8 << 20}});
  const std::string problem = job.run([&](rma_member& m) {
    route::pattern_options p;
    p.bytes = 50'000;
    transfer_options o = eager();
    o.every_hop = true;
    o.patience_s = 8;  // more than a busy machine keeps a rank waiting that is alive
    transfer c(m.rma, cube(),
               row_of(route::make_pattern(cube(), "alltoall", p), job_rank{m.rank}, 8), o);
    mail letters(c, m, true);
    letters.round(c, 0);
    if (m.rank == 5) {
      ::_exit(7);
    }
    letters.fill(1);
    const delivery d = letters.exchange(c);
    const bool named = !d.ok() && d.silent == 5 && has(d.sentence(), "rank 5 is dead");
    told[m.rank].store(named ? 1 : 2);
    std::fprintf(stderr, "rank %d: %s\n", m.rank, d.sentence().c_str());
    const delivery again = letters.exchange(c);
    if (again.ok() || again.silent != d.silent) {
      told[m.rank].store(3);
    }
    ::_exit(0);  // not to meet the dead
  });
  EXPECT_NE(problem, "");  // rank 5's exit code
  for (int r = 0; r < 8; ++r) {
    EXPECT_EQ(told[r].load(), r == 5 ? 0 : 1) << "rank " << r;
  }
}

}  // namespace
}  // namespace sinew::multipath
