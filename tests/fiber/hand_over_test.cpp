// SPDX-License-Identifier: BSD-3-Clause
// Workers whose fibers get stuck, in orders by seed and in all with few preemptions: each worker is
// always carried by one thread at most, each fiber run by one, and no signal is lost, whether the
// fiber is with its worker, away, or on its way back to another one.
#include "fiber/hand_over.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "explored_waits.hpp"
#include "fiber/inbox.hpp"
#include "fiber/ready_set.hpp"
#include "sinew/base/random.hpp"
#include "support/explorer.hpp"

namespace sinew::fiber {
namespace {

using steps = test::explored_steps;
constexpr std::uint32_t inbox_positions = 512;

/// What one fiber does in turn: block in the kernel, or wait until so many letters have come.
enum class deed : std::uint8_t { block, wait };

struct model_fiber {
  std::atomic<std::uint32_t> owner{nobody};
  std::atomic<std::uint64_t> place{nowhere};
  std::uint32_t number = 0;
  std::vector<deed> work;
  std::size_t at = 0;
  int awaited = 0;
  int runs = 0;  ///< threads that run it
  std::atomic<int> letters{0};
};

struct model_worker {
  explicit model_worker(std::uint32_t n) : number(n) {}
  std::uint32_t number;
  int carried = 0;  ///< threads that carry it
  inbox<steps> signals{inbox_positions};
  ready_set ready{inbox_positions};
};

struct model_berth : basic_berth<steps, model_worker, model_fiber> {
  int occupied = 0;
};

struct sightings {
  long left = 0;      ///< fibers that parted from their worker
  long moved = 0;     ///< that came back to another one
  long strays = 0;    ///< signals that found the fiber elsewhere
  long dropped = 0;   ///< likewise, and nowhere
  long unplaced = 0;  ///< senders that found it nowhere
};
sightings seen;

/// Two workers with some fibers, spare threads, and others that send letters.
class model {
 public:
  model(std::vector<std::vector<deed>> work, std::size_t spares, std::uint64_t seed)
      : random_(seed) {
    for (std::uint32_t w = 0; w < 2; ++w) {
      workers_.push_back(std::make_unique<model_worker>(w));
    }
    for (auto& each : work) {
      fibers_.push_back(std::make_unique<model_fiber>());
      model_fiber& f = *fibers_.back();
      f.number = static_cast<std::uint32_t>(fibers_.size());
      f.work = std::move(each);
      const std::uint32_t w = f.number % 2;
      f.place.store(std::uint64_t{w} << 32U | f.number);
      f.owner.store(w);
      workers_[w]->ready.set(f.number);
    }
    for (std::size_t i = 0; i < spares; ++i) {
      berths_.push_back(std::make_unique<model_berth>());
    }
    unfinished_ = static_cast<int>(fibers_.size());
  }

  std::vector<std::function<void()>> all() {
    std::vector<std::function<void()>> made;
    for (auto& each : workers_) {
      made.emplace_back([this, w = each.get()] { carrier(w, nullptr); });
    }
    for (auto& each : berths_) {
      made.emplace_back([this, b = each.get()] { carrier(nullptr, b); });
    }
    made.emplace_back([this] { send_letters(); });
    return made;
  }

  void check() const {
    ASSERT_EQ(unfinished_, 0);
    for (const auto& each : workers_) {
      ASSERT_LE(each->carried, 1);
    }
  }

 private:
  /// A kernel thread: in a berth or with a worker, until all is over.
  void carrier(model_worker* with, model_berth* in) {
    while (unfinished_ != 0) {
      if (with == nullptr) {
        with = wait_in(*in);
        continue;
      }
      in = carry(*with);
      with = nullptr;
      if (in == nullptr) {
        return;
      }
    }
  }

  model_worker* wait_in(model_berth& b) {
    EXPECT_EQ(++b.occupied, 1) << "two threads on one stack";
    if (b.arrived != nullptr) {
      model_fiber& f = *std::exchange(b.arrived, nullptr);
      model_worker& to = *b.arrived_at;
      settle_at<steps>(f, std::uint64_t{to.number} << 32U | f.number);
      signal(to, f.number);
    }
    spares_.put(b);
    for (unsigned i = 0; !b.is_called(); ++i) {
      if (unfinished_ == 0) {
        return nullptr;
      }
      test::explorer::wait(i);
    }
    model_worker& w = b.answer();
    EXPECT_EQ(++w.carried, 1) << "two threads carry one worker";
    --w.carried;
    --b.occupied;
    b.be_empty();
    return &w;
  }

  /// The worker's loop; the berth that the thread goes to in the end, or null when all is over.
  model_berth* carry(model_worker& w) {
    EXPECT_EQ(++w.carried, 1);
    while (unfinished_ != 0) {
      if (w.ready.rest() == 0 && !w.ready.advance()) {
        const bool any = w.signals.signals.drain(
            signal_set<steps>::levels_for(inbox_positions),
            [&w](std::uint32_t index, std::uint64_t bits) { w.ready.merge(index, bits); });
        if (!any) {
          sleep(w);
        }
        continue;
      }
      model_fiber& f = *fibers_[w.ready.current_word() * 64 + w.ready.take() - 1];
      test::explorer::step();
      if (f.owner.load(std::memory_order_acquire) != w.number) {
        pass_on(w, f);
      } else if (model_berth* const ticket = run(w, f)) {
        return come_back(w, f, *ticket);
      }
    }
    return nullptr;
  }

  void pass_on(const model_worker& w, const model_fiber& f) {
    const std::uint64_t place = place_of_stray<steps>(f);
    ++seen.strays;
    if (place == nowhere) {
      ++seen.dropped;
    } else if (place >> 32U != w.number) {
      signal(*workers_[place >> 32U], f.number);
    }
  }

  /// Until it waits or ends (null), or has parted from its worker (the berth it is promised).
  model_berth* run(model_worker& w, model_fiber& f) {
    EXPECT_EQ(++f.runs, 1) << "two threads run one fiber";
    model_berth* ticket = nullptr;
    for (; f.at < f.work.size(); ++f.at) {
      if (f.work[f.at] == deed::wait) {
        test::explorer::step();
        if (f.letters.load() <= f.awaited) {
          break;
        }
        ++f.awaited;
      } else if (model_berth* const spare = spares_.take()) {
        ++f.at;
        ++seen.left;
        part_from_worker<steps>(f);
        --w.carried;
        spare->call(w);
        ticket = spare;
        break;
      }
    }
    if (ticket == nullptr) {
      if (f.at == f.work.size()) {
        f.place.store(nowhere);
        f.owner.store(nobody);
        --unfinished_;
      }
      --f.runs;
    }
    return ticket;
  }

  /// It has been a thread of its own until here.
  model_berth* come_back(model_worker& own, model_fiber& f, model_berth& ticket) {
    for (unsigned i = 0; !ticket.is_empty(); ++i) {
      test::explorer::wait(i);
    }
    model_worker& to = *workers_[random_.below(2)];
    seen.moved += &to != &own ? 1 : 0;
    --f.runs;
    ticket.arrived = &f;
    ticket.arrived_at = &to;
    return &ticket;
  }

  void send_letters() {
    std::vector<int> left;
    int all = 0;
    for (const auto& each : fibers_) {
      left.push_back(
          static_cast<int>(std::count(each->work.begin(), each->work.end(), deed::wait)));
      all += left.back();
    }
    for (; all > 0; --all) {
      std::size_t to = random_.below(fibers_.size());
      while (left[to] == 0) {
        to = (to + 1) % fibers_.size();
      }
      --left[to];
      model_fiber& f = *fibers_[to];
      f.letters.fetch_add(1);
      const std::uint64_t place = place_to_signal<steps>(f);
      if (place == nowhere) {
        ++seen.unplaced;
      } else {
        signal(*workers_[place >> 32U], f.number);
      }
    }
  }

  static void signal(model_worker& w, std::uint32_t position) {
    w.signals.signals.set(position);
    (void)w.signals.wake_up();
  }

  void sleep(model_worker& w) {
    constexpr std::uint32_t how = inbox<steps>::on_futex;
    if (w.signals.lie_down(how, [this] { return unfinished_ == 0; })) {
      for (unsigned i = 0; w.signals.word().load() == how && unfinished_ != 0; ++i) {
        test::explorer::wait(i);
      }
    }
    (void)w.signals.get_up();
  }

  random_generator random_;
  std::vector<std::unique_ptr<model_worker>> workers_;
  std::vector<std::unique_ptr<model_fiber>> fibers_;
  std::vector<std::unique_ptr<model_berth>> berths_;
  berth_list<explored_lock, model_berth> spares_;
  std::atomic<int> unfinished_{0};
};

/// All orders with few preemptions; where a thread waits, one of the others first that differs from
/// time to time, since here several wait in loops for what only a third one does.
class fair_chooser final : public test::chooser {
 public:
  explicit fair_chooser(int preemptions) : all_(preemptions) {}
  int choose(std::size_t others, bool must_leave) override {
    const int chosen = all_.choose(others, must_leave);
    return must_leave ? static_cast<int>((static_cast<std::size_t>(chosen) + first_.below(others)) %
                                         others)
                      : chosen;
  }
  [[nodiscard]] bool next() {
    first_ = random_generator(1);
    return all_.next();
  }

 private:
  test::exhaustive_chooser all_;
  random_generator first_{1};
};

TEST(hand_over, in_every_order_with_few_preemptions) {
  constexpr deed b = deed::block;
  constexpr deed w = deed::wait;
  for (const auto& work :
       {std::vector<std::vector<deed>>{{b, w}}, std::vector<std::vector<deed>>{{w, b, w}, {w}},
        std::vector<std::vector<deed>>{{b, w, b}, {b, w}}}) {
    for (int preemptions : {1, 2, 3}) {
      fair_chooser all(preemptions);
      std::uint64_t runs = 0;
      do {
        model one(work, 1 + work.size() / 2, 7);
        test::explorer::run(one.all(), all);
        one.check();
        ASSERT_FALSE(HasFailure()) << "in run " << runs;
      } while (++runs < 100 * test::exploration_scale && all.next());
    }
  }
}

TEST(hand_over, in_orders_by_seed) {
  seen = {};
  const std::uint64_t seed = seed_from_environment();
  for (std::uint64_t i = 0; i < 500 * test::exploration_scale; ++i) {
    random_generator random(seed + i);
    std::vector<std::vector<deed>> work(1 + random.below(4));
    for (auto& each : work) {
      for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
        each.push_back(random.with_probability(0.5) ? deed::block : deed::wait);
      }
    }
    model one(std::move(work), 1 + random.below(3), seed + i);
    test::random_chooser some(seed + i, i % 2 == 0 ? 0.2 : 0.6);
    test::explorer::run(one.all(), some);
    one.check();
    ASSERT_FALSE(HasFailure()) << "scenario " << seed + i;
  }
  EXPECT_GT(seen.left, 0);
  EXPECT_GT(seen.moved, 0);
  EXPECT_GT(seen.strays, 0);
  EXPECT_GT(seen.dropped, 0);
  EXPECT_GT(seen.unplaced, 0);
}

}  // namespace
}  // namespace sinew::fiber
