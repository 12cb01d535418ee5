// SPDX-License-Identifier: BSD-3-Clause
// Hot operations allocate nothing once warm; set-up survives the failure of any allocation.
#include <array>
#include <memory>

#include "support/allocations.hpp"
#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using test::backend;

/// Two ranks driven by one thread, so that its count is exact.
struct two_ranks {
  explicit two_ranks(backend over)
      : made(2, over, false),
        runtimes{open(0), open(1)},
        first(*runtimes[0]),
        second(*runtimes[1]),
        one(first),
        two(second),
        here(0, core::group::range(2), 0),
        there(0, core::group::range(2), 1) {
    one.attach(here);
    two.attach(there);
  }
  std::unique_ptr<core::runtime> open(int rank) {
    return core::runtime::over(std::make_unique<test::fake_session>(rank, 2), made.take(rank),
                               core::threading::one);
  }
  test::endpoints made;
  std::array<std::unique_ptr<core::runtime>, 2> runtimes;
  core::runtime &first, &second;
  engine one, two;
  core::communicator here, there;
};

void finish(engine& e, request* r, engine& other) {
  while (r != nullptr && !e.test(*r)) {
    other.runtime().poll();
  }
  if (r != nullptr) {
    e.release(r);
  }
}

// The first `ways` of: posted first, then unexpected, then by probe.
void round(two_ranks& t, std::size_t n, mode how, int ways = 3) {
  static std::byte from[100000];
  static std::byte into[100000];
  for (int k = 0; k < ways; ++k) {
    request* r = nullptr;
    if (k == 0) {
      r = t.two.irecv(t.there, messages_of(t.there), buffer::of_bytes(into, n), any_source, 1);
    }
    request* s = t.one.isend(t.here, messages_of(t.here), buffer::of_bytes(from, n), 1, 1, how);
    if (k == 1) {
      t.second.poll();
      r = t.two.irecv(t.there, messages_of(t.there), buffer::of_bytes(into, n), 0, 1);
    } else if (k == 2) {
      result found;
      matched* m = nullptr;
      while (m == nullptr) {
        m = t.two.improbe(t.there, messages_of(t.there), 0, any_tag, found);
      }
      r = t.two.imrecv(m, buffer::of_bytes(into, n));
    }
    finish(t.two, r, t.one);
    finish(t.one, s, t.two);
  }
}

class p2p_allocations : public ::testing::TestWithParam<backend> {};

TEST_P(p2p_allocations, none_once_warm) {
  two_ranks t(GetParam());
  const auto all = [&t] {
    for (const std::size_t n : {std::size_t{0}, std::size_t{8}, std::size_t{40}}) {
      round(t, n, mode::standard);
      round(t, n, mode::synchronous);
    }
    for (const std::size_t n : {std::size_t{2048}, std::size_t{8000}, std::size_t{100000}}) {
      round(t, n, mode::synchronous);
      round(t, n, mode::standard);  // in pieces, if it is long
    }
  };
  for (int i = 0; i < 3; ++i) {
    all();
  }
  const long before = test::allocations;
  for (int i = 0; i < 100; ++i) {
    all();
  }
  EXPECT_EQ(test::allocations - before, 0);
}

// What unexpected messages have taken is kept for the next ones, but not all of it.
TEST_P(p2p_allocations, memory_of_many_unexpected_messages_goes_back) {
  two_ranks t(GetParam());
  static std::byte bytes[8000];
  constexpr int many = 2000;  // 16 MiB
  const auto burst = [&t] {
    for (int i = 0; i < many; ++i) {
      request* const s = t.one.isend(t.here, messages_of(t.here),
                                     buffer::of_bytes(bytes, sizeof bytes), 1, 1, mode::standard);
      finish(t.one, s, t.two);
    }
    for (int i = 0; i < many; ++i) {
      request* const r =
          t.two.irecv(t.there, messages_of(t.there), buffer::of_bytes(bytes, sizeof bytes), 0, 1);
      finish(t.two, r, t.one);
    }
  };
  burst();
  const long before = test::allocations;
  burst();
  const long again = test::allocations - before;
  EXPECT_GE(again, many / 2);       // at least so many have gone back
  EXPECT_LE(again, many * 9 / 10);  // and some have not
}

TEST_P(p2p_allocations, set_up_survives_every_failure) {
  int failures = 0;
  for (long at = 1; at < 10000; ++at) {
    bool failed = false;
    test::fails_at = at;
    try {
      two_ranks t(GetParam());
      test::fails_at = 0;
      round(t, 8, mode::standard);
    } catch (const std::bad_alloc&) {
      failed = true;
      ++failures;
    }
    test::fails_at = 0;
    if (!failed) {
      break;
    }
  }
  EXPECT_GT(failures, 10);
}

/// Calls it again if memory was exhausted: only one allocation ever fails here.
template <class Call>
auto despite_failure(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return call();
  }
}

constexpr int several = 100;  // more than a slab of operations, and than a short list
struct line {
  int first;
  std::byte rest[196];
};

// Messages that nobody waits for, then their receives, in the opposite order and by wildcards; long
// ones of every kind, strided ones too. All must arrive as if nothing had happened.
void all_kinds(two_ranks& t, std::vector<line>& from, std::vector<line>& into, long fails_at) {
  std::vector<request*> sends;
  sends.reserve(several);
  test::fails_at = fails_at;
  for (int i = 0; i < several; ++i) {
    line& l = from[static_cast<std::size_t>(i)];
    l.first = i + 1;
    sends.push_back(despite_failure([&] {
      return t.one.isend(t.here, messages_of(t.here), buffer::of_bytes(&l, sizeof l), 1,
                         message_tag{i}, i % 3 == 0 ? mode::synchronous : mode::standard);
    }));
    t.second.poll();
    t.first.poll();
  }
  for (int i = 0; i < 4; ++i) {
    t.second.poll();
    t.first.poll();
  }
  for (int i = several; i-- > 0;) {
    line& l = into[static_cast<std::size_t>(i)];
    l = {};
    request* const r = despite_failure([&] {
      return t.two.irecv(t.there, messages_of(t.there), buffer::of_bytes(&l, sizeof l),
                         i % 2 == 0 ? any_source : comm_rank{0}, message_tag{i});
    });
    finish(t.two, r, t.one);
    ASSERT_EQ(l.first, i + 1);
  }
  for (request* s : sends) {
    finish(t.one, s, t.two);
  }
}

void long_kinds(two_ranks& t, std::size_t bytes, bool posted_first, long fails_at) {
  std::vector<std::byte> from(2 * bytes, std::byte{5});
  std::vector<std::byte> into(2 * bytes);
  const layout::datatype_ref strided =
      layout::vector(bytes, 1, 2, layout::of(layout::element::byte));
  test::fails_at = fails_at;
  const auto receive = [&] {
    return despite_failure([&] {
      return t.two.irecv(t.there, messages_of(t.there), {into.data(), 1, strided.get()}, 0, 1);
    });
  };
  request* r = posted_first ? receive() : nullptr;
  request* const s = despite_failure([&] {
    return t.one.isend(t.here, messages_of(t.here), {from.data(), 1, strided.get()}, 1, 1);
  });
  for (int i = 0; i < 4 && !posted_first; ++i) {
    t.second.poll();
    t.first.poll();
  }
  r = posted_first ? r : receive();
  while (!t.two.test(*r)) {
    t.first.poll();
  }
  const bool told = r->outcome.error == fault::no_memory;
  finish(t.two, r, t.one);
  finish(t.one, s, t.two);
  for (std::size_t i = 0; i < bytes && !told; ++i) {
    ASSERT_EQ(into[2 * i], std::byte{5});
  }
}

TEST_P(p2p_allocations, messages_survive_every_failure) {
  std::vector<line> from(several);
  std::vector<line> into(several);
  long at = 0;
  bool failed = true;
  for (at = 1; failed && at < 10000; ++at) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    two_ranks t(GetParam());
    all_kinds(t, from, into, at);
    failed = test::fails_at == 0;
    test::fails_at = 0;
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(at, 30);
}

TEST_P(p2p_allocations, long_messages_survive_every_failure) {
  for (const bool posted_first : {false, true}) {
    for (const std::size_t bytes : {std::size_t{5000}, std::size_t{50000}, std::size_t{500000}}) {
      bool failed = true;
      for (long at = 1; failed && at < 1000; ++at) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes, allocation " + std::to_string(at));
        two_ranks t(GetParam());
        long_kinds(t, bytes, posted_first, at);
        failed = test::fails_at == 0;
        test::fails_at = 0;
        if (::testing::Test::HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, p2p_allocations, ::testing::Values(backend::inproc, backend::shm),
                         [](const auto& param) { return test::name_of(param.param); });

}  // namespace
}  // namespace sinew::p2p
