// SPDX-License-Identifier: BSD-3-Clause
// What the randomised tests of collectives share: types with gaps and odd bounds, buffers whose
// every byte is checked, values that each rank can compute for all others, operators.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "calls.hpp"
#include "coll/over_node.hpp"
#include "coll/tuning.hpp"
#include "gtest/gtest.h"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/coll/nonblocking.hpp"
#include "sinew/rma/engine.hpp"
#include "support/job.hpp"

namespace sinew::test {

using coll::fault;
using coll::in_place;
using ints = std::vector<std::int32_t>;
using offsets = std::vector<std::ptrdiff_t>;

/// Types made of 32-bit integers; `elements()` of them per instance.
class type_box {
 public:
  type_box() {
    using namespace layout;
    const datatype& i = of(element::i32);
    const auto keep = [&](datatype_ref t) { all_.push_back(std::move(t)); };
    const std::size_t one_one[] = {1, 1};
    const std::size_t two_one[] = {2, 1};
    const std::ptrdiff_t around[] = {-8, 4};
    const std::ptrdiff_t backwards[] = {16, 4};
    keep(contiguous(1, i));
    keep(contiguous(2, i));
    keep(vector(3, 1, 8, i));                     // gaps
    keep(indexed(one_one, around, i));            // begins before the buffer's address
    keep(indexed(two_one, backwards, i));         // true lower bound 4, not in memory order
    keep(resized(*vector(2, 1, 12, i), -4, 24));  // artificial bounds
    keep(resized(*contiguous(6, i), 0, 32));
    keep(resized(*contiguous(2, i), 0, -12));  // instances go downwards
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  const layout::datatype& operator[](std::size_t i) const { return *all_[i]; }

 private:
  std::vector<layout::datatype_ref> all_;
};

/// Memory for `count` instances, with a known byte in every gap and around.
class area {
 public:
  area(const layout::datatype& type, std::size_t count) : type_(&type) {
    const auto last = count == 0 ? 0 : static_cast<std::ptrdiff_t>(count - 1) * type.extent();
    const std::ptrdiff_t low = type.true_lower() + std::min<std::ptrdiff_t>(last, 0);
    const std::ptrdiff_t high =
        type.true_lower() + type.true_extent() + std::max<std::ptrdiff_t>(last, 0);
    before_ = 16 - (low & ~std::ptrdiff_t{15});
    bytes_.assign(static_cast<std::size_t>(before_ + high + 32), std::byte{0xa5});
  }
  [[nodiscard]] std::byte* base() { return bytes_.data() + before_; }
  [[nodiscard]] coll::buffer all(std::size_t count) { return {base(), count, type_}; }
  /// Writes integers from instance `first` on.
  void write(std::ptrdiff_t first, const ints& values) {
    const std::size_t count = values.size() / type_->elements();
    layout::unpack(*type_, count, base() + first * type_->extent(), 0,
                   std::as_bytes(std::span(values)));
  }
  [[nodiscard]] bool operator==(const area& other) const { return bytes_ == other.bytes_; }

 private:
  const layout::datatype* type_;
  std::ptrdiff_t before_ = 0;
  std::vector<std::byte> bytes_;
};

/// One call of one collective. Every rank draws the same numbers from the same seed.
struct trial {
  member& m;
  const type_box& types;
  std::uint64_t seed;
  std::mt19937_64 random;

  trial(member& who, const type_box& box, std::uint64_t s)
      : m(who), types(box), seed(s), random(s) {}

  [[nodiscard]] coll::participant at() const { return {m.engine, m.comm}; }
  [[nodiscard]] std::size_t draw(std::size_t below) { return random() % below; }
  [[nodiscard]] bool coin() { return draw(2) == 0; }
  [[nodiscard]] int root() { return static_cast<int>(draw(static_cast<std::size_t>(m.size))); }
  [[nodiscard]] const layout::datatype& type() { return types[draw(types.size())]; }
  [[nodiscard]] const layout::datatype& even_type() {
    for (;;) {
      const layout::datatype& t = type();
      if (t.elements() % 2 == 0) {
        return t;
      }
    }
  }
  /// Integers per block, a multiple of 6 so that it is whole for every type.
  [[nodiscard]] std::size_t length() {
    switch (draw(8)) {
      case 0:
        return 0;
      case 1:
        return 6 * draw(6000);
      case 2:
        return 6 * draw(300);
      default:
        return 6 * draw(12);
    }
  }
  /// What rank r contributes; `salt` tells several vectors apart.
  [[nodiscard]] ints values(int r, std::size_t n, std::uint64_t salt = 0) const {
    ints out(n);
    std::uint64_t x = seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(r) * 77777 + salt;
    for (auto& v : out) {
      x = x * 6364136223846793005U + 1442695040888963407U;
      v = static_cast<std::int32_t>((x >> 33) % 9973);
    }
    return out;
  }
  void same(const area& got, const area& wanted, const char* what) const {
    if (got == wanted) {
      return;
    }
    ADD_FAILURE() << what << " differs on rank " << m.rank << " of " << m.size << ", seed " << seed;
  }
  /// The collective, or its plan carried out: all ranks draw the same.
  [[nodiscard]] fault either(const coll::call& c) {
    if (coin()) {
      return coll::run(at(), c);
    }
    const coll::communicator_ref over(coll::communicator_ref(), &m.comm);  // outlives it
    const auto o = coll::start(m.engine, over, coll::plan_of(coll::position_of(at()), c),
                               coll::nonblocking_tag(m.comm));
    coll::wait(m.engine, *o);
    return o->problem == nullptr ? o->outcome : fault::no_memory;
  }
  void good(fault f, const char* what) const {
    EXPECT_EQ(f, fault::none) << what << " on rank " << m.rank << ", seed " << seed;
  }
};

/// Operators of the tests, as the library sees them and on vectors of integers.
struct test_op {
  coll::op op;
  ints (*fold)(const ints& lower, const ints& higher);
};

inline ints add(const ints& a, const ints& b) {
  ints out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    out[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) +
                                       static_cast<std::uint32_t>(b[i]));
  }
  return out;
}

/// Pairs (a, b) stand for x -> a x + b modulo a prime; applied one after the other. Associative,
/// not commutative.
inline ints compose(const ints& first, const ints& second) {
  constexpr std::int64_t prime = 9973;
  ints out(first.size());
  for (std::size_t i = 0; i + 1 < first.size(); i += 2) {
    const std::int64_t a1 = first[i], b1 = first[i + 1], a2 = second[i], b2 = second[i + 1];
    out[i] = static_cast<std::int32_t>(a1 * a2 % prime);
    out[i + 1] = static_cast<std::int32_t>((a2 * b1 + b2) % prime);
  }
  return out;
}

/// A user's operator on any type of integers; the handle is the function on vectors.
inline void call_user(void* handle, const void* in, void* inout, std::size_t count,
                      const layout::datatype& type) {
  auto* fold = reinterpret_cast<ints (*)(const ints&, const ints&)>(handle);
  ints a(count * type.elements()), b(count * type.elements());
  layout::pack(type, count, in, 0, std::as_writable_bytes(std::span(a)));
  layout::pack(type, count, inout, 0, std::as_writable_bytes(std::span(b)));
  const ints c = fold(a, b);
  layout::unpack(type, count, inout, 0, std::as_bytes(std::span(c)));
}

inline test_op user_op(ints (*fold)(const ints&, const ints&), bool commutative) {
  return {{coll::op_kind::user, commutative, call_user, reinterpret_cast<void*>(fold)}, fold};
}

/// Where the algorithms switch, for one job; put back at the end.
class thresholds {
 public:
  explicit thresholds(std::mt19937_64& random) {
    namespace t = coll::tuning;
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
      return from.begin()[random() % from.size()];
    };
    t::fan.assign(pick({2, 3, 4, 32}));
    t::tree_bytes.assign(pick({0, 48, 4096}));
    t::long_bcast.assign(pick({1, 100, 256 << 10}));
    t::long_reduce.assign(pick({1, 64, 16 << 10}));
    t::long_allgather.assign(pick({1, 1000, 32 << 10}));
    t::short_alltoall.assign(pick({0, 48, 1000}));
    t::many_ranks.assign(pick({2, 32}));
    t::node_direct.assign(pick({0, 1, 100, 8 << 10}));
    t::node_direct_one_way.assign(pick({0, 1, 1000, 40000, 4 << 20}));
    t::node_block.assign(pick({0, 1, 300, 5000}));
    t::node_direct_reduce.assign(pick({0, 1, 500, 8 << 10, 1 << 20}));
    t::node_shared.assign(pick({1, 64, 8 << 10}));
    t::level_block.assign(pick({0, 30, 1000, 100000}));
    t::level_alltoall.assign(pick({0, 48, 100000}));
    for (int i = 0; i < coll::collectives; ++i) {
      const auto what = static_cast<collective>(i);
      if (auto* const named = t::algorithm_of(what); named != nullptr && random() % 3 == 0) {
        const auto all = coll::algorithms_of(what);
        named->assign(std::string(all[random() % all.size()].name) + ",levels," +
                      all[random() % all.size()].name);
      }
    }
  }
  thresholds(const thresholds&) = delete;
  thresholds& operator=(const thresholds&) = delete;
  ~thresholds() {
    namespace t = coll::tuning;
    for (auto* s : {&t::fan, &t::tree_bytes, &t::long_bcast, &t::long_reduce, &t::long_allgather,
                    &t::short_alltoall, &t::many_ranks, &t::node_direct, &t::node_direct_one_way,
                    &t::node_direct_reduce, &t::node_block, &t::node_shared, &t::level_block,
                    &t::level_alltoall}) {
      s->parse(s->default_text());
    }
    for (int i = 0; i < coll::collectives; ++i) {
      if (auto* const named = t::algorithm_of(static_cast<collective>(i)); named != nullptr) {
        named->assign("");
      }
    }
  }
};

#if defined(SINEW_TSAN)
inline constexpr int share_of_rounds = 8;
#elif defined(SINEW_ASAN) || defined(SINEW_EMULATED)
inline constexpr int share_of_rounds = 4;
#else
inline constexpr int share_of_rounds = 1;
#endif

/// The heaps of a job whose ranks are threads.
class node_heaps {
 public:
  explicit node_heaps(int ranks, rma::heap_sizes sizes = {1 << 20, 64 << 20})
      : shape_(ranks, sizes), memory_(shape_.bytes * static_cast<std::size_t>(ranks)) {
    where_.sizes = sizes;
    for (int r = 0; r < ranks; ++r) {
      where_.parts.push_back(memory_.base() + static_cast<std::size_t>(r) * shape_.bytes);
    }
  }
  [[nodiscard]] const rma::heap_memory& where() const { return where_; }

 private:
  rma::heap_shape shape_;
  shared_memory memory_;
  rma::heap_memory where_;
};

/// As run_job(), with memory that the ranks share: `body` gets a communicator of all ranks that
/// goes before that memory does, and whose collectives go over it unless `by_messages`.
inline void run_job_on_node(int ranks, backend over, core::threading threads,
                            const std::function<void(member&)>& body, bool by_messages = false,
                            rma::heap_sizes sizes = {1 << 20, 64 << 20},
                            const std::vector<int>& node_of = {}) {
  const node_heaps heaps(ranks, sizes);
  coll::tuning::node.assign(!by_messages);
  const auto as_member = [&](member& m) {
    rma::engine memory(m.runtime, heaps.where());
    coll::use_node_memory(m.runtime, memory);
    {
      const coll::communicator_ref all = coll::duplicate({m.engine, m.comm});
      member inner{m.runtime, m.engine, *all, m.rank, m.size};
      for (int i = 0; i < 3; ++i) {  // the first ones always go by messages
        (void)coll::barrier({m.engine, *all});
      }
      EXPECT_EQ(coll::team_of({m.engine, *all}) == nullptr,
                by_messages || m.size == 1 || !node_of.empty());
      EXPECT_EQ(coll::position_in_call({m.engine, *all}).nodes == nullptr, node_of.empty());
      body(inner);
    }
    memory.sync_all();
  };
  run_job(ranks, over, threads, as_member, node_of);
  coll::tuning::node.assign(true);
}

/// Nodes of at least two numbers, of which some have several ranks: in blocks, dealt out, or at
/// random.
inline std::vector<int> some_placement(int ranks, std::mt19937_64& random) {
  SINEW_EXPECT(ranks > 2);
  for (;;) {
    const auto nodes = static_cast<int>(2 + random() % 3);
    const auto how = random() % 3;
    std::vector<int> node_of;
    for (int r = 0; r < ranks; ++r) {
      const int drawn = static_cast<int>(random() % static_cast<unsigned>(nodes));
      node_of.push_back(how == 0 ? r * nodes / ranks : how == 1 ? r % nodes : drawn);
    }
    std::vector<int> counts(static_cast<std::size_t>(nodes));
    for (const int node : node_of) {
      ++counts[static_cast<std::size_t>(node)];
    }
    const auto used = std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; });
    if (used == nodes && *std::max_element(counts.begin(), counts.end()) > 1) {
      return node_of;
    }
  }
}

/// `rounds` trials of `check` on jobs of every size, each round from a seed of its own; some over
/// shared memory; by messages, again as ranks of one node, and of several.
/// SINEW_TEST_SEED chooses another sequence.
inline void many_trials(int rounds, const std::function<void(trial&)>& check) {
  const char* text = std::getenv("SINEW_TEST_SEED");
  const std::uint64_t start = text != nullptr ? std::strtoull(text, nullptr, 10) : 20260;
  const type_box types;
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    std::mt19937_64 random(start + static_cast<std::uint64_t>(n));
    const thresholds set(random);
    const std::uint64_t first = random() % 1000000000;
    const backend over = n % 3 == 2 ? backend::shm : backend::inproc;
    for (const bool by_messages : {true, false}) {
      const auto body = [&](member& m) {
        for (int i = 0; i < rounds / share_of_rounds; ++i) {
          trial t(m, types, first + static_cast<std::uint64_t>(i));
          check(t);
        }
      };
      run_job_on_node(n, over, core::threading::one, body, by_messages);
    }
    for (int placements = n > 2 ? 2 : 0; placements > 0; --placements) {
      run_job_on_node(
          n, over, core::threading::one,
          [&](member& m) {
            for (int i = 0; i < std::max(1, rounds / share_of_rounds / 3); ++i) {
              trial t(m, types, first + static_cast<std::uint64_t>(i));
              check(t);
            }
          },
          false, {1 << 20, 64 << 20}, some_placement(n, random));
    }
    if (::testing::Test::HasFailure()) {
      FAIL() << "with SINEW_TEST_SEED=" << start << ", " << n << " ranks";
    }
  }
}

}  // namespace sinew::test
