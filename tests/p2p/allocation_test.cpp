// Hot operations allocate nothing once warm; set-up survives the failure of any allocation.
#include "support/allocations.hpp"
#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using test::backend;

/// Two ranks driven by one thread, so that its count is exact.
struct two_ranks {
  explicit two_ranks(backend over)
      : made(2, over, false),
        first(std::make_unique<test::fake_session>(0, 2), made.take(0), core::threading::one),
        second(std::make_unique<test::fake_session>(1, 2), made.take(1), core::threading::one),
        one(first),
        two(second),
        here(0, core::group::range(2), 0),
        there(0, core::group::range(2), 1) {
    one.attach(here);
    two.attach(there);
  }
  test::endpoints made;
  core::runtime first, second;
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
      r = t.two.irecv(t.there, *t.there.messages, buffer::of_bytes(into, n), any_source, 1);
    }
    request* s = t.one.isend(t.here, *t.here.messages, buffer::of_bytes(from, n), 1, 1, how);
    if (k == 1) {
      t.second.poll();
      r = t.two.irecv(t.there, *t.there.messages, buffer::of_bytes(into, n), 0, 1);
    } else if (k == 2) {
      result found;
      matched* m = nullptr;
      while (m == nullptr) {
        m = t.two.improbe(t.there, *t.there.messages, 0, any_tag, found);
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
    round(t, 2048, mode::synchronous);
    round(t, 100000, mode::synchronous);
    round(t, 100000, mode::standard, 1);  // in pieces: stored only if it is unexpected
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

INSTANTIATE_TEST_SUITE_P(all, p2p_allocations, ::testing::Values(backend::inproc, backend::shm),
                         [](const auto& param) { return test::name_of(param.param); });

}  // namespace
}  // namespace sinew::p2p
