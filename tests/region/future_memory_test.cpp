// SPDX-License-Identifier: BSD-3-Clause
// Places that are reserved among what will be given back.
#include "region/future_memory.hpp"

#include <map>
#include <set>
#include <sstream>

#include "fixture.hpp"
#include "sinew/base/random.hpp"

namespace sinew::region {
namespace {

using answer = future_memory::answer;
using fit = future_memory::fit;
using outcomes = future_memory::outcomes;

constexpr std::uint64_t grain = rma::arena::grain;

/// So many grains of memory of one kind, and what a test asks of it.
class account {
 public:
  explicit account(std::uint64_t grains, fit f = fit::in_one_piece)
      : arena_(grain, grains * grain),
        all_(arena_, f,
             {[this](std::size_t bytes) { return arena_.allocate(bytes, grain); },
              [this](std::uint64_t offset, bool) { arena_.release(offset); }}) {}
  answer place(std::uint64_t id, std::uint64_t grains) {
    std::uint64_t offset = 0;
    const answer a = all_.place({0, {id, 0, grains * grain, 0, memory_kind::shared}}, offset);
    if (a == answer::placed) {
      offsets[id] = offset;
    }
    return a;
  }
  void promise(std::uint64_t id) { all_.promise(name(id)); }
  /// The names of those that have got places, and in brackets of those that are refused.
  std::string release(std::uint64_t id) {
    return told([&](outcomes& o) { all_.release(name(id), o); });
  }
  std::string keep(std::uint64_t id) {
    return told([&](outcomes& o) { all_.keep(name(id), o); });
  }
  std::string withdraw(std::uint64_t id) {
    return told([&](outcomes& o) { all_.withdraw(name(id), o); });
  }
  [[nodiscard]] std::size_t waiting() const { return all_.waiting(); }
  [[nodiscard]] std::uint64_t used() const { return arena_.used() / grain; }
  [[nodiscard]] std::uint64_t largest_free() const { return arena_.largest_free() / grain; }
  std::map<std::uint64_t, std::uint64_t> offsets;  ///< of those that have places

 private:
  static part_name name(std::uint64_t id) { return {id, 0, memory_kind::shared}; }
  template <class Call>
  std::string told(Call call) {
    outcomes all;
    call(all);
    std::string text;
    for (const future_memory::outcome& o : all) {
      const std::uint64_t id = o.of.what.id;
      text += o.offset != 0 ? std::to_string(id) + " " : "(" + std::to_string(id) + ") ";
      if (o.offset != 0) {
        offsets[id] = o.offset;
      }
    }
    return text;
  }

  rma::arena arena_;
  future_memory all_;
};

TEST(FutureMemory, TheOrderInWhichOthersGoDoesNotMatter) {
  for (const bool first_first : {true, false}) {
    account all(64);
    EXPECT_EQ(all.place(1, 20), answer::placed);
    EXPECT_EQ(all.place(2, 20), answer::placed);
    all.promise(1);
    all.promise(2);
    EXPECT_EQ(all.place(3, 60), answer::waits);
    EXPECT_EQ(all.place(4, 5), answer::refused) << "four are left";
    EXPECT_EQ(all.place(5, 4), answer::placed);
    EXPECT_EQ(all.release(first_first ? 1 : 2), "");
    EXPECT_EQ(all.release(first_first ? 2 : 1), "3 ");
    EXPECT_EQ(all.used(), 64u);
  }
}

TEST(FutureMemory, WhatIsFreeIsSparedForOthers) {
  account all(64);
  EXPECT_EQ(all.place(1, 20), answer::placed);
  EXPECT_EQ(all.place(2, 30), answer::placed);
  all.promise(2);
  EXPECT_EQ(all.place(3, 30), answer::waits) << "it inherits all of the second";
  EXPECT_EQ(all.place(4, 14), answer::placed);
  EXPECT_EQ(all.release(2), "3 ");
}

TEST(FutureMemory, OthersThatGoEarlierMakeRoom) {
  account all(60);
  for (const std::uint64_t id : {1u, 2u, 3u}) {
    EXPECT_EQ(all.place(id, 20), answer::placed);
  }
  all.promise(1);
  EXPECT_EQ(all.place(4, 20), answer::waits);
  EXPECT_EQ(all.release(3), "4 ") << "nobody had promised that";
  EXPECT_EQ(all.place(5, 20), answer::waits) << "the first's is to be had again";
  EXPECT_EQ(all.release(1), "5 ");
}

TEST(FutureMemory, WhatWaitsMayHaveHeirs) {
  account all(40);
  EXPECT_EQ(all.place(1, 40), answer::placed);
  all.promise(1);
  EXPECT_EQ(all.place(2, 30), answer::waits);
  all.promise(2);
  EXPECT_EQ(all.place(3, 40), answer::waits);
  all.promise(3);
  EXPECT_EQ(all.place(4, 10), answer::waits);
  EXPECT_EQ(all.place(5, 31), answer::refused);
  EXPECT_EQ(all.release(1), "2 ");
  EXPECT_EQ(all.release(2), "3 ");
  EXPECT_EQ(all.release(3), "4 ");
  EXPECT_EQ(all.release(4), "");
  EXPECT_EQ(all.largest_free(), 40u);
}

TEST(FutureMemory, HeirsOfWhatIsWithdrawnInheritFromTheOthers) {
  account all(40);
  EXPECT_EQ(all.place(1, 40), answer::placed);
  all.promise(1);
  EXPECT_EQ(all.place(2, 40), answer::waits);
  all.promise(2);
  EXPECT_EQ(all.place(3, 25), answer::waits);
  EXPECT_EQ(all.withdraw(2), "(2) ");
  EXPECT_EQ(all.place(4, 15), answer::waits);
  EXPECT_EQ(all.withdraw(1), "") << "it has its place";
  EXPECT_EQ(all.release(1), "3 4 ");
}

TEST(FutureMemory, WhoStaysAfterAllHasNoHeirs) {
  account all(49);
  EXPECT_EQ(all.place(1, 20), answer::placed);
  EXPECT_EQ(all.place(2, 20), answer::placed);
  all.promise(1);
  all.promise(2);
  EXPECT_EQ(all.place(3, 20), answer::waits);
  EXPECT_EQ(all.place(4, 20), answer::waits);
  all.promise(3);
  EXPECT_EQ(all.place(5, 10), answer::waits) << "after the third";
  EXPECT_EQ(all.keep(1), "(3) (5) ") << "the fourth has its place";
  EXPECT_EQ(all.waiting(), 1u);
  EXPECT_EQ(all.release(2), "4 ");
}

TEST(FutureMemory, WhoIsAboveOneThatLosesItsPlaceKeepsWhatNobodyTakesBack) {
  account all(60);
  for (const std::uint64_t id : {1u, 2u, 3u}) {
    EXPECT_EQ(all.place(id, 20), answer::placed);
  }
  all.promise(1);
  all.promise(2);
  EXPECT_EQ(all.place(4, 40), answer::waits);
  all.promise(4);
  EXPECT_EQ(all.place(5, 20), answer::waits) << "after the fourth, where the first is";
  EXPECT_EQ(all.keep(2), "(4) ");
  EXPECT_EQ(all.place(6, 20), answer::refused);
  EXPECT_EQ(all.release(1), "5 ");
}

TEST(FutureMemory, BytesThatAreOnlyCountedNeedNoNeighbours) {
  account all(60, fit::in_any_pieces);
  for (const std::uint64_t id : {1u, 2u, 3u, 4u, 5u, 6u}) {
    EXPECT_EQ(all.place(id, 10), answer::placed);
  }
  for (const std::uint64_t id : {1u, 3u, 5u}) {
    all.promise(id);
  }
  EXPECT_EQ(all.place(7, 31), answer::refused);
  EXPECT_EQ(all.place(8, 30), answer::waits);
  EXPECT_EQ(all.release(2), "");
  EXPECT_EQ(all.release(5), "");
  EXPECT_EQ(all.release(4), "8 ") << "as much is free by now";
  EXPECT_EQ(all.used(), 60u);
}

/// Every part that was accepted gets a place that is nobody else's, whatever happens to others,
/// unless one stays that had promised to go.
class lives {
 public:
  lives(bool in_one_piece, random_generator& random)
      : in_one_piece_(in_one_piece),
        random_(random),
        all_(grains, in_one_piece ? fit::in_one_piece : fit::in_any_pieces) {}

  void step(std::uint64_t number) {
    auto chosen = parts_.begin();
    std::advance(chosen, parts_.empty() ? 0 : random_.below(parts_.size()));
    const std::uint64_t what = random_.below(10);
    if (parts_.empty() || what < 5) {
      make(number);
      return;
    }
    const auto [id, p] = *chosen;
    if (what < 8) {
      chosen->second.promised = true;
      all_.promise(id);
    } else if (p.there && p.promised && random_.below(8) == 0) {
      chosen->second.promised = false;
      hear(all_.keep(id), true);
    } else if (p.there) {
      parts_.erase(chosen);
      hear(all_.release(id), false);
    } else if (random_.below(4) == 0) {
      std::string others = all_.withdraw(id);
      const std::string own = "(" + std::to_string(id) + ") ";
      ASSERT_NE(others.find(own), std::string::npos);
      others.erase(others.find(own), own.size());
      parts_.erase(chosen);
      hear(others, false);
    }
  }

  void check() const {
    std::set<std::uint64_t> taken;
    std::uint64_t sum = 0;
    for (const auto& [id, p] : parts_) {
      sum += p.there ? p.grains : 0;
      for (std::uint64_t g = 0; in_one_piece_ && p.there && g < p.grains; ++g) {
        ASSERT_TRUE(taken.insert(all_.offsets.at(id) + g * grain).second) << "two have one place";
      }
    }
    ASSERT_LE(sum, all_.used());
  }

  /// In any order all that wait get their turn.
  void end() {
    while (!parts_.empty()) {
      std::vector<std::uint64_t> there;
      for (const auto& [id, p] : parts_) {
        if (p.there) {
          there.push_back(id);
        }
      }
      ASSERT_FALSE(there.empty()) << "those that are left wait for each other";
      const std::uint64_t id = there[random_.below(there.size())];
      parts_.erase(id);
      ASSERT_NO_FATAL_FAILURE(hear(all_.release(id), false));
    }
    ASSERT_EQ(all_.largest_free(), grains);
  }

 private:
  static constexpr std::uint64_t grains = 100;
  struct part {
    std::uint64_t grains;
    bool there;  ///< else it waits
    bool promised = false;
  };

  void make(std::uint64_t id) {
    const std::uint64_t wanted = 1 + random_.below(random_.below(3) == 0 ? 60 : 15);
    std::uint64_t stays = 0;
    for (const auto& [other, p] : parts_) {
      stays += p.promised ? 0 : p.grains;
    }
    const answer a = all_.place(id, wanted);
    ASSERT_TRUE(stays + wanted <= grains || a == answer::refused);
    ASSERT_TRUE(in_one_piece_ || stays + wanted > grains || a != answer::refused);
    if (a != answer::refused) {
      parts_[id] = {wanted, a == answer::placed};
    }
  }

  void hear(const std::string& text, bool may_refuse) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const bool refused = word[0] == '(';
      const std::uint64_t id = std::stoull(word.substr(refused ? 1 : 0));
      ASSERT_FALSE(parts_.at(id).there);
      ASSERT_TRUE(!refused || may_refuse) << id << " was accepted and then refused";
      if (refused) {
        parts_.erase(id);
      } else {
        parts_.at(id).there = true;
      }
    }
  }

  const bool in_one_piece_;
  random_generator& random_;
  account all_;
  std::map<std::uint64_t, part> parts_;
};

TEST(FutureMemory, RandomLives) {
  random_generator random(rma::seed());
  for (int round = 0; round < (rma::slow_build ? 20 : 150); ++round) {
    lives of(round % 2 == 0, random);
    for (std::uint64_t number = 1; number < 400; ++number) {
      ASSERT_NO_FATAL_FAILURE(of.step(number)) << "round " << round;
      ASSERT_NO_FATAL_FAILURE(of.check()) << "round " << round;
    }
    ASSERT_NO_FATAL_FAILURE(of.end()) << "round " << round;
  }
}

}  // namespace
}  // namespace sinew::region
