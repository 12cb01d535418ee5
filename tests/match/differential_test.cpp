// SPDX-License-Identifier: BSD-3-Clause
// Every engine against `list`, and `list` against a model, on random traffic. SINEW_TEST_SEED
// repeats a run, SINEW_TEST_STEPS sets its length (of each engine on each kind of traffic).
#include "match/differential.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <tuple>

#include "match/crc32c.hpp"
#include "match/model.hpp"
#include "match/test_lock.hpp"
#include "sinew/match/parallel.hpp"

namespace sinew::match::test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? std::strtoull(set, nullptr, 0) : otherwise;
}

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const std::uint64_t chosen = number_from("SINEW_TEST_SEED", std::random_device{}());
    std::cout << "SINEW_TEST_SEED=" << chosen << std::endl;  // seen even if an engine crashes
    return chosen;
  }();
  return value;
}

/// Ranks or tags, as the context wants them.
struct numbers {
  std::vector<std::int32_t> all;

  template <class Number>
  operator std::vector<Number>() const {
    std::vector<Number> those;
    for (const std::int32_t n : all) {
      those.emplace_back(n);
    }
    return those;
  }
};

numbers multiples(std::int32_t count, std::int32_t of) {
  numbers some;
  for (std::int32_t i = 0; i < count; ++i) {
    some.all.push_back(i * of);
  }
  return some;
}

/// The first so many numbers for which `collides` is true.
template <class Fn>
std::vector<message_tag> where(std::size_t count, Fn&& collides) {
  std::vector<message_tag> all;
  for (std::int32_t i = 0; all.size() < count; ++i) {
    if (collides(static_cast<std::uint32_t>(i))) {
      all.emplace_back(i);
    }
  }
  return all;
}

std::vector<traffic> kinds() {
  const auto one_bin_of_64 = [](std::uint32_t n) { return crc32c(0, n) % 64 == 0; };
  const auto one_truncated_key = [](std::uint32_t n) { return n * 0x9E3779B1u >> 24 == 0; };
  return {
      {"shallow", multiples(3, 1), multiples(3, 1), 20, 6},
      {"no_wildcards", multiples(8, 1), multiples(64, 1), 0, 300},
      {"few_wildcards", multiples(8, 1), multiples(64, 1), 2, 300},
      {"many_wildcards", multiples(8, 1), multiples(16, 1), 40, 120},
      {"one_envelope", {0}, {0}, 10, 200},
      {"many_sources", multiples(2000, 1), multiples(2, 1), 10, 400},
      {"large_sources", multiples(120, 1 << 24), multiples(4, 1), 10, 200},
      {"large_tags", multiples(4, 1), multiples(30000, 65536), 10, 400},
      {"colliding_in_1021", {0}, multiples(500, 1021), 5, 300},
      {"colliding_in_64", {0}, where(500, one_bin_of_64), 5, 300},
      {"colliding_in_vector", {0}, where(500, one_truncated_key), 5, 300},
  };
}

/// `parallel_engine` as one thread sees it, which divides and gathers all the time.
class divided final : public engine {
 public:
  std::string_view name() const noexcept override { return "divided"; }
  message* post(receive& r) override { return part(r.wanted).post(r); }
  receive* arrive(message& m) override { return part(m.sent).arrive(m); }
  message* peek(const envelope& wanted) override { return part(wanted).peek(wanted); }
  message* take(const envelope& wanted) override { return part(wanted).take(wanted); }
  bool cancel(receive& r) override { return part(r.wanted).cancel(r); }
  void withdraw(message& m) noexcept override { part(m.sent).withdraw(m); }
  std::size_t posted() const noexcept override { return matcher_.posted(); }
  std::size_t unexpected() const noexcept override { return matcher_.unexpected(); }
  const search_counts& counts() const noexcept override { return counts_; }
  /// Receives that compete for no message keep no order in it. The test stores them by address.
  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    std::vector<const receive*> all;
    matcher_.gathered().all().each_receive(
        [](void* to, const receive& r) {
          static_cast<std::vector<const receive*>*>(to)->push_back(&r);
        },
        &all);
    std::sort(all.begin(), all.end());
    for (const receive* r : all) {
      visit(context, *r);
    }
  }
  void each_message(void (*visit)(void*, const message&), void* context) const override {
    matcher_.gathered().all().each_message(visit, context);
  }

 private:
  using parallel = parallel_engine<refusing_lock>;
  parallel::access part(const envelope& e) {
    if (++calls_ % 7 == 0) {
      matcher_.divide();
    }
    return matcher_.enter(e);
  }
  mutable parallel matcher_{"hash"};
  search_counts counts_;
  int calls_ = 0;
};

maker named(std::string_view name) {
  if (name == "divided") {
    return []() -> std::unique_ptr<engine> { return std::make_unique<divided>(); };
  }
  return [name] { return make_engine(name); };
}

std::vector<std::string_view> subjects() {
  const auto engines = engine_names();
  std::vector<std::string_view> all(engines.begin(), engines.end());
  all.push_back("divided");
  return all;
}

maker flawed(flaw f) {
  return [f] { return std::make_unique<model>(f); };
}

class differential : public ::testing::TestWithParam<std::tuple<std::string_view, traffic>> {};

TEST_P(differential, agrees_with_the_reference) {
  const auto& [name, kind] = GetParam();
  const maker reference = name == "list" ? flawed(flaw::none) : named("list");
  const auto failing = find_difference(reference, named(name), kind, seed(),
                                       number_from("SINEW_TEST_STEPS", 100000));
  if (failing.empty()) {
    return;
  }
  const auto shortest = shrink(reference, named(name), failing);
  ADD_FAILURE() << name << " and " << reference()->name()
                << " disagree with SINEW_TEST_SEED=" << seed() << " after " << failing.size()
                << " steps, and after these " << shortest.size() << ":\n"
                << to_text(shortest);
}

INSTANTIATE_TEST_SUITE_P(engines, differential,
                         ::testing::Combine(::testing::ValuesIn(subjects()),
                                            ::testing::ValuesIn(kinds())),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" +
                                  std::get<1>(p.param).name;
                         });

std::vector<traffic> exact_kinds() {
  return {
      {"shallow", multiples(3, 1), multiples(3, 1), 0, 6, true},
      {"deep", multiples(8, 1), multiples(64, 1), 0, 300, true},
      {"one_envelope", {0}, {0}, 0, 200, true},
      {"many_sources", multiples(300, 1), multiples(2, 1), 0, 400, true},
      {"large_tags", multiples(4, 1), multiples(300, 65536), 0, 400, true},
  };
}

INSTANTIATE_TEST_SUITE_P(exact, differential,
                         ::testing::Combine(::testing::Values(exact_engine),
                                            ::testing::ValuesIn(exact_kinds())),
                         [](const auto& p) { return std::get<1>(p.param).name; });

// The test must be able to fail: engines with known flaws are found out, and the sequence that is
// left is the shortest there is. Shrinking ends where no single change helps, which need not be the
// shortest from every start; so this one test has a seed of its own.
constexpr std::uint64_t seed_of_flaws = 1;

struct mutation {
  flaw with;
  std::size_t shortest;
};

class differential_on_flaws : public ::testing::TestWithParam<mutation> {};

TEST_P(differential_on_flaws, finds_and_shrinks) {
  const maker subject = flawed(GetParam().with);
  std::vector<step> failing;
  for (const traffic& kind : kinds()) {
    failing = find_difference(named("list"), subject, kind, seed_of_flaws, 100000);
    if (!failing.empty()) {
      break;
    }
  }
  ASSERT_FALSE(failing.empty());
  const auto shortest = shrink(named("list"), subject, failing);
  EXPECT_EQ(shortest.size(), GetParam().shortest) << to_text(shortest);
}

INSTANTIATE_TEST_SUITE_P(all, differential_on_flaws,
                         ::testing::Values(mutation{flaw::youngest_first, 3},
                                           mutation{flaw::exact_before_wildcard, 3},
                                           mutation{flaw::cancel_forgets, 2},
                                           mutation{flaw::late, 42}, mutation{flaw::probe_takes, 2},
                                           mutation{flaw::unordered_messages, 6}));

}  // namespace

void PrintTo(const traffic& kind, std::ostream* out) { *out << kind.name; }

}  // namespace sinew::match::test
