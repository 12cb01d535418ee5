// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives over shared memory: what they give, many under way at once, begun
// by several threads, waited for by ranks that sleep.
#include "coll/background.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "coll/over_node.hpp"
#include "sinew/base/settings.hpp"
#include "trial.hpp"

namespace sinew::test {
namespace {

using coll::begun;
using coll::communicator_ref;
using kind = coll::collective;

/// Those that have an implementation in the background.
constexpr std::array kinds{kind::barrier, kind::bcast,   kind::reduce,    kind::allreduce,
                           kind::gather,  kind::scatter, kind::allgather, kind::alltoall};

void wait(member& m, const begun& b) {
  ASSERT_TRUE(b.done);
  if (b.runs != nullptr) {
    m.runtime.wait(b.runs->over);
    ASSERT_EQ(b.runs->outcome, fault::none);
  }
}

/// One of which the blocking collectives have set up its memory.
communicator_ref with_memory(member& m) {
  const communicator_ref c = coll::duplicate({m.engine, m.comm});
  EXPECT_FALSE(coll::begin(m.engine, c, {}).done) << "no memory yet";
  for (int i = 0; i < 3; ++i) {
    coll::barrier({m.engine, *c});
  }
  return c;
}

// A round has to have room for what each of so many ranks posts for each other one.
TEST(over_node, too_many_ranks_reduce_by_messages) {
  const layout::datatype& word = layout::of(layout::element::i64);
  EXPECT_TRUE(coll::reduces(400, word));
  EXPECT_FALSE(coll::reduces(500, word));
  EXPECT_FALSE(coll::reduces(1000, word));
}

/// One call with data of its own, of some kind, type and length.
struct one {
  trial t;
  coll::call call;
  area sent, received, wanted;

  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): block, of instances
  one(trial drawn, kind what, const layout::datatype& st, const layout::datatype& rt,
      std::size_t block)
      : t(std::move(drawn)),
        sent(st, many(block / st.elements())),
        received(rt, many(block / rt.elements())),
        wanted(received) {
    const std::size_t sends = block / st.elements(), receives = block / rt.elements();
    call.what = what;
    call.root = comm_rank{what == kind::barrier ? -1 : t.root()};
    const int me = t.m.rank, root = call.root.value();
    const bool at_root = me == root;
    call.send = sent.all(sends);
    call.recv = received.all(receives);
    const auto block_of = [&](int r, std::uint64_t salt) { return t.values(r, block, salt); };
    const auto put = [&](area& into, const layout::datatype& type, int at, const ints& values) {
      into.write(at * static_cast<std::ptrdiff_t>(block / type.elements()), values);
    };
    ints total = block_of(0, 0);
    for (int r = 1; r < t.m.size; ++r) {
      total = add(total, block_of(r, 0));
    }
    for (int r = 0; r < t.m.size; ++r) {
      const bool for_each = what == kind::alltoall || (what == kind::scatter && at_root);
      if (for_each || r == 0) {
        put(sent, st, for_each ? r : 0, block_of(me, for_each ? static_cast<std::uint64_t>(r) : 0));
      }
      if (what == kind::allgather || (what == kind::gather && at_root)) {
        put(wanted, rt, r, block_of(r, 0));
      } else if (what == kind::alltoall) {
        put(wanted, rt, r, block_of(r, static_cast<std::uint64_t>(me)));
      }
    }
    if (what == kind::allreduce || what == kind::reduce) {
      call.o = std::make_shared<const coll::op>();
      put(received, rt, 0, block_of(me, 0));
      put(wanted, rt, 0, what == kind::allreduce || at_root ? total : block_of(me, 0));
      call.send = coll::operand(in_place);
      if (!at_root && what == kind::reduce) {
        call.send = coll::operand(received.base());
      }
    } else if (what == kind::bcast) {
      put(received, rt, 0, at_root ? block_of(root, 0) : ints(block));
      put(wanted, rt, 0, block_of(root, 0));
    } else if (what == kind::scatter) {
      put(wanted, rt, 0, block_of(root, static_cast<std::uint64_t>(me)));
    }
  }
  [[nodiscard]] std::size_t many(std::size_t n) const {
    return n * static_cast<std::size_t>(t.m.size);
  }
};

/// Numbers in a block: few that go into a slot, or as many as are read where they are.
std::size_t some_block(trial& t, kind what, bool with_long) {
  constexpr std::size_t most = node::operations::room / sizeof(std::int32_t) / 6 / 8;
  const bool one_reads = what == kind::reduce || what == kind::gather;
  if (with_long && t.draw(4) == 0 && what != kind::barrier && !(one_reads && t.m.size > 2)) {
    const std::size_t least_bytes = what == kind::allreduce && t.m.size > 2
                                        ? node::operations::room
                                        : static_cast<std::size_t>(coll::tuning::node_read());
    const std::size_t least = least_bytes / sizeof(std::int32_t);
    return 6 * (least / 6 + 1 + t.draw(600));
  }
  return 6 * t.draw(t.draw(8) == 0 ? most : 3);
}

/// Twice as many under way as there are slots, ended in another order than they were begun in.
void many_at_once(member& m, const communicator_ref& c, std::uint64_t seed,
                  bool with_long = false) {
  const type_box types;
  std::vector<std::unique_ptr<one>> calls;
  std::vector<begun> all;
  for (std::uint64_t i = 0; i < 2 * node::operations::depth; ++i) {
    trial t(m, types, 1000 * seed + i);
    const auto what = kinds[t.draw(kinds.size())];
    const bool combines = what == kind::reduce || what == kind::allreduce;
    const layout::datatype& any = t.type();
    const layout::datatype& other = t.type();
    const layout::datatype& plain = types[0];
    const std::size_t block = some_block(t, what, with_long);
    calls.push_back(std::make_unique<one>(std::move(t), what, combines ? plain : any,
                                          combines ? plain : other, block));
    all.push_back(coll::begin(m.engine, c, calls.back()->call));
  }
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(m.rank));
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t i : order) {
    wait(m, all[i]);
    calls[i]->t.same(calls[i]->received, calls[i]->wanted, "an operation in the background");
  }
}

TEST(background, any_kind_and_type_many_at_once) {
  for (const int n : {2, 3, 6}) {
    for (const auto over : {backend::inproc, backend::shm}) {
      run_job_on_node(n, over, core::threading::one, [](member& m) {
        const communicator_ref c = with_memory(m);
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          many_at_once(m, c, seed);
        }
      });
    }
  }
}

TEST(background, long_ones_are_read_where_they_are) {
  for (const int n : {2, 3, 5}) {
    for (const auto over : {backend::inproc, backend::shm}) {
      run_job_on_node(n, over, core::threading::one, [](member& m) {
        const communicator_ref c = with_memory(m);
        for (std::uint64_t seed = 11; seed <= 14; ++seed) {
          many_at_once(m, c, seed, true);
        }
      });
    }
  }
}

/// What a rank shows stays its own until all have read it, and no longer.
TEST(background, a_long_one_ends_when_others_have_read) {
  run_job_on_node(2, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    const coll::participant at{m.engine, m.comm};
    ints data(2 * node::operations::long_room / sizeof(int));
    for (int i = 0; i < 20; ++i) {
      const int root = i % 2;
      std::fill(data.begin(), data.end(), m.rank == root ? i : -1);
      if (m.rank != root) {
        coll::barrier(at);
      }
      const begun b = coll::begin(
          m.engine, c,
          {.what = kind::bcast,
           .recv = coll::buffer{data.data(), data.size(), &layout::of(layout::element::i32)},
           .root = comm_rank{root}});
      if (m.rank == root) {
        ASSERT_NE(b.runs, nullptr);  // it was not waited for
        EXPECT_FALSE(b.runs->over.done());
        coll::barrier(at);
      }
      wait(m, b);
      EXPECT_EQ(std::count(data.begin(), data.end(), i), std::ssize(data));
    }
  });
}

/// What lies in the node's memory is the others' to read: its rank goes on, as far as there is
/// room.
TEST(background, who_has_a_place_waits_for_nobody) {
  run_job_on_node(3, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    const coll::participant at{m.engine, m.comm};
    constexpr auto most = static_cast<int>(node::operations::long_places);
    ints data(node::operations::long_room / sizeof(int));
    const auto start = [&](int value) {
      std::fill(data.begin(), data.end(), m.rank == 0 ? value : -1);
      return coll::begin(
          m.engine, c,
          {.what = kind::bcast,
           .recv = coll::buffer{data.data(), data.size(), &layout::of(layout::element::i32)},
           .root = 0});
    };
    for (int round = 0; round < 3; ++round) {
      if (m.rank != 0) {
        coll::barrier(at);
      }
      for (int i = 0; i < most; ++i) {
        const begun b = start(i);
        if (m.rank == 0) {
          EXPECT_TRUE(b.runs == nullptr || b.runs->over.done()) << i;
        }
        wait(m, b);
        EXPECT_TRUE(m.rank == 0 || std::count(data.begin(), data.end(), i) == std::ssize(data));
      }
      const begun last = start(most);
      if (m.rank == 0) {
        ASSERT_NE(last.runs, nullptr);
        EXPECT_FALSE(last.runs->over.done());
        coll::barrier(at);
      }
      wait(m, last);
      EXPECT_EQ(std::count(data.begin(), data.end(), most), std::ssize(data));
      coll::barrier(at);  // all have ended it
    }
  });
}

/// A reduction of more than two ranks, by parts: also fewer numbers than ranks have parts, in the
/// order of the ranks, in place and not.
TEST(background, long_reductions_keep_the_order_of_ranks) {
  for (const int n : {3, 5, 7}) {
    for (const auto over : {backend::inproc, backend::shm}) {
      run_job_on_node(n, over, core::threading::one, [](member& m) {
        const communicator_ref c = with_memory(m);
        // x -> a x + b, modulo a prime: whole maps in one element, and compositions of them.
        struct map {
          std::uint64_t a, b;
          void after(const map& first) {
            constexpr std::uint64_t prime = 1'000'003;
            b = (a * first.b + b) % prime;
            a = a * first.a % prime;
          }
        };
        const auto compose = [](void*, const void* in, void* inout, std::size_t count,
                                const layout::datatype&) {
          for (std::size_t i = 0; i < count; ++i) {
            static_cast<map*>(inout)[i].after(static_cast<const map*>(in)[i]);
          }
        };
        const layout::datatype_ref pair = layout::contiguous(2, layout::of(layout::element::u64));
        const auto o = std::make_shared<const coll::op>(
            coll::op{.kind = coll::op_kind::user, .commutative = false, .call = compose});
        const auto of = [](int rank, std::size_t i) {
          const auto r = static_cast<std::uint64_t>(rank);
          return map{2 + r + i % 5, 7 * r + i};
        };
        for (const std::size_t count : {std::size_t{513}, std::size_t{2050}, std::size_t{8192}}) {
          std::vector<map> given(count), result(count);
          for (std::size_t i = 0; i < count; ++i) {
            given[i] = of(m.rank, i);
          }
          const bool in_its_place = count == 2050;
          if (in_its_place) {
            result = given;
          }
          const begun b = coll::begin(
              m.engine, c,
              {.what = kind::allreduce,
               .send = coll::buffer{in_its_place ? const_cast<void*>(in_place) : given.data(),
                                    count, &*pair},
               .recv = coll::buffer{result.data(), count, &*pair},
               .o = o});
          wait(m, b);
          for (std::size_t i = 0; i < count; ++i) {
            map wanted = of(m.size - 1, i);
            for (int r = m.size - 1; r-- > 0;) {
              wanted.after(of(r, i));
            }
            ASSERT_EQ(result[i].a, wanted.a) << i;
            ASSERT_EQ(result[i].b, wanted.b) << i;
          }
        }
      });
    }
  }
}

/// As many bytes on each rank, which MPI does not allow: the parts would overlap.
TEST(background, long_reductions_of_different_types_are_told) {
  run_job_on_node(3, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    constexpr std::size_t words = 4100;
    const bool halves = m.rank != 2;
    std::vector<std::int32_t> data(words, 1), result(words);
    const layout::datatype& type = layout::of(halves ? layout::element::i32 : layout::element::i64);
    const std::size_t count = halves ? words : words / 2;
    const begun b = coll::begin(m.engine, c,
                                {.what = kind::allreduce,
                                 .send = coll::buffer{data.data(), count, &type},
                                 .recv = coll::buffer{result.data(), count, &type},
                                 .o = std::make_shared<const coll::op>()});
    ASSERT_NE(b.runs, nullptr);
    m.runtime.wait(b.runs->over);
    EXPECT_EQ(b.runs->outcome, fault::truncated);
    wait(m, coll::begin(m.engine, c, {.what = kind::barrier}));
  });
}

TEST(background, long_reductions_of_different_lengths_are_told) {
  run_job_on_node(3, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    const auto o = std::make_shared<const coll::op>();
    for (const bool short_one : {false, true}) {
      ints data(8192, 1), result(8192);
      const std::size_t count = m.rank != 1 ? 8192 : short_one ? 4 : 8191;
      const begun b = coll::begin(
          m.engine, c,
          {.what = kind::allreduce,
           .send = coll::buffer{data.data(), count, &layout::of(layout::element::i32)},
           .recv = coll::buffer{result.data(), count, &layout::of(layout::element::i32)},
           .o = o});
      ASSERT_NE(b.runs, nullptr);
      m.runtime.wait(b.runs->over);
      EXPECT_EQ(b.runs->outcome, fault::truncated);
      wait(m, coll::begin(m.engine, c, {.what = kind::barrier}));
    }
  });
}

/// Where one rank cannot read the others' memory, all send messages.
TEST(background, long_ones_without_the_kernels_copies) {
  setting_base* const cma = settings::find("SINEW_FABRIC_CMA");
  cma->parse("off");
  run_job_on_node(2, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    std::vector<std::byte> data(65536);
    const auto all = coll::buffer::of_bytes(data.data(), data.size());
    EXPECT_FALSE(coll::begin(m.engine, c, {.what = kind::bcast, .recv = all, .root = 0}).done);
    wait(m, coll::begin(m.engine, c, {.what = kind::barrier}));
  });
  cma->parse(cma->default_text());
}

TEST(background, threads_have_communicators_of_their_own) {
  run_job_on_node(3, backend::shm, core::threading::many, [](member& m) {
    std::vector<communicator_ref> own;
    for (int t = 0; t < 3; ++t) {
      own.push_back(with_memory(m));
    }
    std::vector<std::thread> all;
    for (const communicator_ref& c : own) {
      all.emplace_back([&m, &c] { many_at_once(m, c, 7, true); });
    }
    for (std::thread& t : all) {
      t.join();
    }
    coll::barrier({m.engine, m.comm});
  });
}

/// Whoever waits for a rank that comes late sleeps, and is woken: by the clock alone it would see
/// it up to 10 ms later each time.
TEST(background, wakes_who_sleeps) {
  run_job_on_node(2, backend::shm, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    const std::uint64_t slept = m.runtime.sleeps();
    for (int i = 0; i < 8; ++i) {
      if (m.rank == i % 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
      }
      wait(m, coll::begin(m.engine, c, {.what = kind::barrier}));
    }
    EXPECT_GT(m.runtime.sleeps(), slept);
  });
}

/// Blocking collectives go on beside them.
TEST(background, blocking_ones_in_between) {
  run_job_on_node(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    for (int i = 0; i < 200; ++i) {
      std::int32_t word = m.rank == i % 3 ? i : -1;
      const begun b =
          coll::begin(m.engine, c,
                      {.what = kind::bcast,
                       .recv = coll::buffer{&word, 1, &layout::of(layout::element::i32)},
                       .root = comm_rank{i % 3}});
      coll::barrier({m.engine, *c});
      wait(m, b);
      EXPECT_EQ(word, i);
    }
  });
}

TEST(background, a_fault_is_told_where_it_is) {
  run_job_on_node(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    std::array<std::int32_t, 2> data{1, 2};
    const std::size_t count = m.rank == 2 ? 1 : 2;
    const begun b =
        coll::begin(m.engine, c,
                    {.what = kind::bcast,
                     .recv = coll::buffer{data.data(), count, &layout::of(layout::element::i32)},
                     .root = 0});
    ASSERT_TRUE(b.done);
    if (b.runs != nullptr) {
      m.runtime.wait(b.runs->over);
      EXPECT_EQ(b.runs->outcome, m.rank == 2 ? fault::truncated : fault::none);
    } else {
      EXPECT_NE(m.rank, 2);
    }
    coll::barrier({m.engine, *c});
  });
}

/// What is too long for a slot and not worth a copy by the kernel, or would take whoever makes
/// progress for long, goes by a plan on all ranks. So does what one rank would read from many.
TEST(background, those_in_between_are_not_taken) {
  run_job_on_node(3, backend::inproc, core::threading::one, [](member& m) {
    const communicator_ref c = with_memory(m);
    std::vector<std::byte> data((1 << 20) + 1);
    const auto is_taken = [&](kind what, std::size_t bytes, comm_rank root) {
      const auto all = coll::buffer::of_bytes(data.data(), bytes);
      return coll::begin(m.engine, c, {.what = what, .send = all, .recv = all, .root = root}).done;
    };
    EXPECT_FALSE(is_taken(kind::bcast, node::operations::room + 1, 0));
    EXPECT_FALSE(is_taken(kind::bcast, 8 << 10, 0));
    EXPECT_FALSE(is_taken(kind::bcast, data.size(), 0));
    EXPECT_FALSE(is_taken(kind::alltoall, data.size() / 2 + 1, -1));
    EXPECT_FALSE(is_taken(kind::gather, 64 << 10, 0));
  });
}

}  // namespace
}  // namespace sinew::test
