// SPDX-License-Identifier: BSD-3-Clause
// Everything at once, at random: what is collective follows from a seed that all ranks share, the
// rest from each rank's own. At the end the books must balance. SINEW_TEST_SEED repeats a run,
// SINEW_TEST_STEPS sets its length.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "rma/fixture.hpp"
#include "sinew/rma/barrier.hpp"
#include "sinew/rma/lock.hpp"

namespace sinew::rma {
namespace {

class rma_stress : public rma_test {};

int steps() {
  const char* set = std::getenv("SINEW_TEST_STEPS");
  return set != nullptr ? std::atoi(set) : slow_build ? 150 : 1500;
}

class player {
 public:
  explicit player(rma_member& m)
      : m_(m), common_(common_random()), own_(own_random(m)), locks_(m.rma) {
    books_ = m.rma.memory().allocate(part::symmetric, 256);
    boxes_ = m.rma.memory().allocate(part::symmetric, box_bytes * 16);
    sent_.resize(static_cast<std::size_t>(m.size));
    received_.resize(static_cast<std::size_t>(m.size));
  }

  void play() {
    for (int k = 0; k < steps(); ++k) {
      switch (common_.below(8)) {
        case 0:
          m_.rma.sync_all();
          break;
        case 1:
          some_meet();
          break;
        case 2:
          pairs_meet();
          break;
        case 3:
          grow_or_shrink();
          break;
        default:
          act_alone();
      }
    }
    balance();
  }

 private:
  static constexpr std::uint64_t box_bytes = 4096;
  static constexpr std::uint64_t lock_at = 0;
  static constexpr std::uint64_t guarded_at = 64;
  static constexpr std::uint64_t sum_at = 128;
  static constexpr std::uint64_t events_at = 192;

  std::vector<job_rank> shuffled() {
    std::vector<job_rank> ranks(static_cast<std::size_t>(m_.size));
    std::iota(ranks.begin(), ranks.end(), job_rank(0));
    for (std::size_t i = ranks.size(); i > 1; --i) {
      std::swap(ranks[i - 1], ranks[common_.below(i)]);
    }
    return ranks;
  }

  void some_meet() {
    std::vector<job_rank> some = shuffled();
    some.resize(1 + common_.below(some.size()));
    if (std::find(some.begin(), some.end(), job_rank{m_.rank}) != some.end()) {
      barrier among(m_.rma, some);
      among.wait();
    }
  }

  void pairs_meet() {
    const std::vector<job_rank> ranks = shuffled();
    const auto me = static_cast<std::size_t>(
        std::find(ranks.begin(), ranks.end(), job_rank{m_.rank}) - ranks.begin());
    const std::size_t partner = me ^ 1U;
    if (partner < ranks.size()) {
      m_.rma.sync_with(std::span(&ranks[partner], 1));
    }
  }

  void grow_or_shrink() {
    if (blocks_.empty() || common_.with_probability(0.6)) {
      const std::uint64_t at =
          m_.rma.memory().try_allocate(part::symmetric, common_.below(100'000));
      if (at != 0) {
        blocks_.push_back(at);
      }
    } else {
      m_.rma.memory().release(blocks_.back());
      blocks_.pop_back();
    }
  }

  void act_alone() {
    const auto peer = static_cast<int>(own_.below(static_cast<std::uint64_t>(m_.size)));
    switch (own_.below(6)) {
      case 0: {
        require(locks_.acquire({job_rank{peer}, books_ + lock_at}) == lock_table::answer::done,
                "no lock");
        std::uint64_t n = 0;
        m_.rma.get(&n, {job_rank{peer}, books_ + guarded_at}, 8);
        ++n;
        m_.rma.put({job_rank{peer}, books_ + guarded_at}, &n, 8);
        require(locks_.release({job_rank{peer}, books_ + lock_at}) == lock_table::answer::done,
                "not mine");
        ++guarded_;
        break;
      }
      case 1: {
        const std::int64_t by = own_.between(-1000, 1000);
        m_.rma.accumulate({job_rank{peer}, books_ + sum_at}, &by, 1, element::i64, combine::sum);
        sum_ += by;
        break;
      }
      case 2:
        m_.rma.post({job_rank{peer}, books_ + events_at});
        ++posted_;
        break;
      case 3:
        send(peer);
        break;
      case 4:
        receive(peer);
        break;
      default:
        if (own_.with_probability(0.05)) {
          ::usleep(static_cast<useconds_t>(own_.below(3000)));
        }
    }
  }

  // A box for each sender at each receiver: the count of what was sent, the count of what was
  // read (the sender's own copy), the data.
  [[nodiscard]] std::uint64_t box_of(int sender) const {
    return boxes_ + box_bytes * static_cast<std::uint64_t>(sender);
  }
  void send(int peer) {
    std::uint64_t& n = sent_[static_cast<std::size_t>(peer)];
    if (m_.rma.load<std::uint64_t>({job_rank{m_.rank}, box_of(peer) + 8}) != n) {
      return;  // not read yet
    }
    ++n;
    const auto data = patterned(n * 37 % 2048, n + static_cast<std::uint64_t>(m_.rank));
    m_.rma.put_notify({job_rank{peer}, box_of(m_.rank) + 64}, data.data(), data.size(),
                      box_of(m_.rank));
  }
  void receive(int peer) {
    std::uint64_t& n = received_[static_cast<std::size_t>(peer)];
    if (m_.rma.load<std::uint64_t>({job_rank{m_.rank}, box_of(peer)}) == n) {
      return;
    }
    ++n;
    const auto data = patterned(n * 37 % 2048, n + static_cast<std::uint64_t>(peer));
    require(same(m_.rma.at({job_rank{m_.rank}, box_of(peer) + 64}), data.data(), data.size()),
            "what came with a notice is wrong");
    m_.rma.fetch_add<std::uint64_t>({job_rank{peer}, box_of(m_.rank) + 8}, 1);
  }

  void balance() {
    m_.all.word[0].fetch_add(guarded_);
    m_.all.word[1].fetch_add(static_cast<std::uint64_t>(sum_));
    m_.all.word[2].fetch_add(posted_);
    m_.rma.sync_all();
    m_.all.word[3].fetch_add(m_.rma.load<std::uint64_t>({job_rank{m_.rank}, books_ + guarded_at}));
    m_.all.word[4].fetch_add(m_.rma.load<std::uint64_t>({job_rank{m_.rank}, books_ + sum_at}));
    const auto events = m_.rma.load<std::uint64_t>({job_rank{m_.rank}, books_ + events_at});
    m_.rma.take(books_ + events_at, events);
    m_.all.word[5].fetch_add(events);
    m_.rma.sync_all();
    for (const int k : {0, 1, 2}) {
      require(m_.all.word[k].load() == m_.all.word[k + 3].load(),
              "book " + std::to_string(k) + " does not balance");
    }
  }

  rma_member& m_;
  random_generator common_;
  random_generator own_;
  lock_table locks_;
  std::uint64_t books_ = 0;
  std::uint64_t boxes_ = 0;
  std::vector<std::uint64_t> blocks_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  std::uint64_t guarded_ = 0;
  std::int64_t sum_ = 0;
  std::uint64_t posted_ = 0;
};

TEST_P(rma_stress, the_books_balance) {
  for (const int ranks : {2, 3, 7, 16}) {
    run(ranks, [](rma_member& m) { player(m).play(); });
  }
}

INSTANTIATE_TEST_SUITE_P(ways, rma_stress, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
