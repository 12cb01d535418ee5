// Every engine against a model that is right by inspection: one vector of everything posted and one
// of everything arrived, scanned from the front.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sinew/match/engine.hpp"

namespace sinew::match {
namespace {

std::uint64_t seed() {
  const char* set = std::getenv("SINEW_TEST_SEED");
  const std::uint64_t value =
      set != nullptr ? std::strtoull(set, nullptr, 0) : std::random_device{}();
  std::cout << "SINEW_TEST_SEED=" << value << '\n';
  return value;
}

/// One engine and the model side by side; every answer is compared.
class pair_of_both {
 public:
  explicit pair_of_both(std::string_view name) : engine_(make_engine(name)) {}

  void post(envelope wanted) {
    auto r = std::make_unique<receive>(receive{wanted, {}});
    const message* expected = first_message(wanted);
    ASSERT_EQ(engine_->post(*r), expected);
    if (expected != nullptr) {
      drop(messages_, expected);
      ASSERT_FALSE(engine_->cancel(*r));
    } else {
      receives_.push_back(std::move(r));
    }
  }

  void arrive(envelope sent) {
    auto m = std::make_unique<message>(message{sent, {}});
    const auto at = std::find_if(receives_.begin(), receives_.end(),
                                 [&](const auto& r) { return r->wanted.takes(sent); });
    receive* const expected = at == receives_.end() ? nullptr : at->get();
    ASSERT_EQ(engine_->arrive(*m), expected);
    if (expected != nullptr) {
      ASSERT_FALSE(engine_->cancel(*expected));
      receives_.erase(at);
    } else {
      messages_.push_back(std::move(m));
    }
  }

  void peek(envelope wanted) { ASSERT_EQ(engine_->peek(wanted), first_message(wanted)); }

  void take(envelope wanted) {
    const message* expected = first_message(wanted);
    ASSERT_EQ(engine_->take(wanted), expected);
    if (expected != nullptr) drop(messages_, expected);
  }

  void cancel(std::size_t pick) {
    if (receives_.empty()) return;
    const auto at = receives_.begin() + static_cast<std::ptrdiff_t>(pick % receives_.size());
    ASSERT_TRUE(engine_->cancel(**at));
    ASSERT_FALSE(engine_->cancel(**at));
    receives_.erase(at);
  }

  void check() const {
    ASSERT_EQ(engine_->posted(), receives_.size());
    ASSERT_EQ(engine_->unexpected(), messages_.size());
    std::vector<const void*> seen;
    engine_->each_receive(
        [](void* to, const receive& x) { static_cast<decltype(seen)*>(to)->push_back(&x); }, &seen);
    engine_->each_message(
        [](void* to, const message& x) { static_cast<decltype(seen)*>(to)->push_back(&x); }, &seen);
    std::vector<const void*> expected;
    for (const auto& r : receives_) expected.push_back(r.get());
    for (const auto& m : messages_) expected.push_back(m.get());
    ASSERT_EQ(seen, expected);
  }

  [[nodiscard]] std::size_t posted() const { return receives_.size(); }
  [[nodiscard]] std::size_t unexpected() const { return messages_.size(); }

 private:
  const message* first_message(const envelope& wanted) const {
    for (const auto& m : messages_) {
      if (wanted.takes(m->sent)) return m.get();
    }
    return nullptr;
  }

  template <class V>
  static void drop(V& v, const void* what) {
    v.erase(std::find_if(v.begin(), v.end(), [&](const auto& x) { return x.get() == what; }));
  }

  std::unique_ptr<engine> engine_;
  std::vector<std::unique_ptr<receive>> receives_;
  std::vector<std::unique_ptr<message>> messages_;
};

struct traffic {
  const char* name;
  int sources;
  int tags;
  int tag_stride;        ///< tags are multiples of this
  int wildcard_percent;  ///< of receives and probes, for source and for tag each
  std::size_t depth;     ///< what is stored swings between 0 and about this
};

const traffic kinds[] = {
    {"shallow", 3, 3, 1, 20, 6},
    {"no_wildcards", 8, 64, 1, 0, 300},
    {"few_wildcards", 8, 64, 1, 2, 300},
    {"many_wildcards", 8, 16, 1, 40, 120},
    {"one_tag", 1, 1, 1, 10, 200},
    {"multiples_of_1021", 4, 500, 1021, 5, 300},
    {"multiples_of_64", 4, 500, 64, 5, 300},
    {"large_tags", 4, 30000, 65536, 10, 400},
};

class random_traffic : public ::testing::TestWithParam<std::tuple<std::string_view, traffic>> {};

TEST_P(random_traffic, agrees_with_the_model) {
  const auto& [name, kind] = GetParam();
  std::mt19937_64 random(seed());
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto percent = [&](int p) { return static_cast<int>(below(100)) < p; };
  pair_of_both both(name);
  const auto sent = [&] {
    return envelope{
        static_cast<std::int32_t>(below(static_cast<std::size_t>(kind.sources))),
        static_cast<std::int32_t>(below(static_cast<std::size_t>(kind.tags))) * kind.tag_stride};
  };
  bool wild_period = true;
  const auto wanted = [&] {
    envelope e = sent();
    if (wild_period && percent(kind.wildcard_percent)) e.source = any_source;
    if (wild_period && percent(kind.wildcard_percent)) e.tag = any_tag;
    return e;
  };
  std::size_t goal = 0;
  bool grow_receives = true;
  for (int i = 0; i < 150000; ++i) {
    // Swing: towards a random number stored, on the receive or the message side, now and then
    // empty.
    if (below(400) == 0) {
      goal = below(3) == 0 ? 0 : below(kind.depth + 1);
      grow_receives = below(2) == 0;
      wild_period = below(4) != 0;
    }
    const bool up = (grow_receives ? both.posted() : both.unexpected()) < goal;
    const bool receive_side = percent(grow_receives == up ? 70 : 30);
    const std::size_t what = below(100);
    if (what < 85) {
      receive_side ? both.post(wanted()) : both.arrive(sent());
    } else if (what < 90) {
      both.peek(wanted());
    } else if (what < 95 && !(up && !grow_receives)) {
      both.take(wanted());
    } else if (!(up && grow_receives)) {
      both.cancel(random());
    }
    if (goal == 0 && below(40) == 0) {
      while (both.unexpected() != 0 && !HasFatalFailure()) both.take({any_source, any_tag});
      while (both.posted() != 0 && !HasFatalFailure()) both.cancel(0);
    }
    if (i % 501 == 0) both.check();
    ASSERT_FALSE(HasFatalFailure()) << "operation " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(engines, random_traffic,
                         ::testing::Combine(::testing::ValuesIn(engine_names()),
                                            ::testing::ValuesIn(kinds)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" +
                                  std::get<1>(p.param).name;
                         });

}  // namespace
}  // namespace sinew::match
