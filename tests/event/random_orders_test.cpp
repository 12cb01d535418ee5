// SPDX-License-Identifier: BSD-3-Clause
// Random programs of all ranks at once, as threads and as processes: events, merges, triggers that
// come after others, tasks that trigger, wait, start others or fail, locks, barriers, callbacks and
// completion queues, in whatever order 4 to 16 ranks on few processors get to it. All ranks draw
// the whole program and know how each event must end. More rounds of other seeds:
// SINEW_TEST_ROUNDS, and SINEW_TEST_SEED for the first.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <new>

#include "event_fixture.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/event_processes.hpp"
#include "support/pause_at_random.hpp"

namespace sinew::event {
namespace {

enum class action : std::uint8_t {
  create,
  trigger,
  on,  ///< a callback that triggers
  merge,
  settled,
  task,
  acquire,  ///< and a task that changes what the lock guards, and a release
  arrive,
  completed
};
enum class deed : std::uint8_t { succeed, fail, trigger, wait, start, lock, guarded };

struct operation {
  action what{};
  int rank = 0;             ///< who does it
  std::size_t subject = 0;  ///< the event that is triggered, or the barrier or lock
  std::vector<std::size_t> after;
  bool poison = false;
  // of a task
  deed does{};
  int where = 0;  ///< a rank, or beyond them a group
  std::size_t other = 0;
  int priority = 0;
  // of a barrier
  std::uint64_t phase = 0;
  std::uint64_t count = 0;
  std::uint64_t value = 0;
};

/// An event: one of an operation, by its number.
enum class fate : std::uint8_t { none, open, good, bad };

constexpr std::size_t most_operations = 1500;
constexpr std::size_t lock_count = 4;
constexpr std::size_t barrier_count = 3;
constexpr int group_count = 2;

struct program {
  int ranks = 0;
  std::vector<operation> all;
  std::vector<fate> ends;
  std::array<std::uint64_t, lock_count> changes{};
  std::array<std::vector<std::uint64_t>, barrier_count> sums;  ///< by phase
};

class author {
 public:
  author(std::uint64_t seed, int ranks) : random_(seed) { p_.ranks = ranks; }

  program write(std::size_t operations) {
    while (p_.all.size() < operations) {
      step();
    }
    while (!open_.empty()) {
      trigger();
    }
    return std::move(p_);
  }

 private:
  int rank() { return static_cast<int>(random_.below(static_cast<std::uint64_t>(p_.ranks))); }
  /// An event whose end is known; others might wait for each other in a circle.
  std::size_t old() { return usable_[random_.below(usable_.size())]; }
  std::vector<std::size_t> some(std::size_t most) {
    std::vector<std::size_t> all;
    if (!usable_.empty()) {
      for (std::size_t n = random_.below(most + 1); n > 0; --n) {
        all.push_back(old());
      }
    }
    return all;
  }
  fate of(const std::vector<std::size_t>& inputs) const {
    const bool bad = std::any_of(inputs.begin(), inputs.end(),
                                 [this](std::size_t i) { return p_.ends[i] == fate::bad; });
    return bad ? fate::bad : fate::good;
  }
  std::size_t enter(operation o, fate end) {
    o.rank = rank();
    p_.all.push_back(std::move(o));
    p_.ends.push_back(end);
    if (end == fate::good || end == fate::bad) {
      usable_.push_back(p_.all.size() - 1);
    }
    return p_.all.size() - 1;
  }
  std::size_t take_open() {
    std::swap(open_[random_.below(open_.size())], open_.back());
    const std::size_t i = open_.back();
    open_.pop_back();
    return i;
  }
  void close(std::size_t i, fate end) {
    p_.ends[i] = end;
    usable_.push_back(i);
  }

  void trigger() {
    operation o;
    o.what = random_.with_probability(0.2) && !usable_.empty() ? action::on : action::trigger;
    o.subject = take_open();
    o.after = some(1);
    if (o.what == action::on && o.after.empty()) {
      o.after.push_back(old());
    }
    o.poison = o.after.empty() && random_.with_probability(0.15);
    const std::size_t subject = o.subject;
    const fate end = o.poison ? fate::bad : of(o.after);
    enter(std::move(o), fate::none);
    close(subject, end);
  }

  void task() {
    operation o;
    o.what = action::task;
    o.after = some(3);
    o.where = static_cast<int>(random_.below(static_cast<std::uint64_t>(p_.ranks + group_count)));
    o.priority = static_cast<int>(random_.below(3));
    static constexpr deed deeds[] = {deed::succeed, deed::fail, deed::trigger,
                                     deed::wait,    deed::lock, deed::start};
    o.does = deeds[random_.below(6)];
    fate end = of(o.after);
    const bool runs = end == fate::good;
    std::size_t triggered = most_operations;
    if (o.does == deed::trigger && (open_.empty() || !runs)) {
      o.does = deed::succeed;
    }
    if (o.does == deed::wait && usable_.empty()) {
      o.does = deed::fail;
    }
    if (o.does == deed::fail) {
      end = fate::bad;
    } else if (o.does == deed::trigger) {
      o.other = triggered = take_open();
    } else if (o.does == deed::wait) {
      o.other = old();
      end = p_.ends[o.other] == fate::bad ? fate::bad : end;
    } else if (o.does == deed::lock) {
      o.subject = random_.below(lock_count);
      p_.changes[o.subject] += runs ? 1 : 0;
    }
    const bool starts = o.does == deed::start;
    o.value = runs ? 1 : 0;
    const int priority = o.priority;
    auto before_child = some(2);  // not after this one, whose handle its task may not know yet
    enter(std::move(o), end);
    if (triggered != most_operations) {
      close(triggered, fate::good);
    }
    if (starts) {  // the next operation: done by the task, if it runs
      operation child;
      child.what = action::task;
      child.does = random_.with_probability(0.8) ? deed::succeed : deed::fail;
      child.after = std::move(before_child);
      child.priority = priority;
      child.where = rank();
      fate its = child.does == deed::fail ? fate::bad : of(child.after);
      if (!runs) {
        its = fate::none;
      }
      enter(std::move(child), fate::none);
      p_.all.back().rank = -1;
      p_.ends.back() = its;  // nobody but the end of the test waits for it
    }
  }

  void acquire() {
    operation o;
    o.what = action::acquire;
    o.after = some(3);
    o.subject = random_.below(lock_count);
    o.where = static_cast<int>(random_.below(static_cast<std::uint64_t>(p_.ranks + group_count)));
    o.does = deed::guarded;
    const fate end = of(o.after);
    p_.changes[o.subject] += end == fate::good ? 1 : 0;
    enter(std::move(o), end);
  }

  /// A phase: as many arrivals as ranks, in some portions, and some who wait for it.
  void phase() {
    const std::size_t b = random_.below(barrier_count);
    const std::uint64_t number = p_.sums[b].size();
    p_.sums[b].push_back(0);
    fate end = fate::good;
    std::vector<std::size_t> waiting;
    for (auto left = static_cast<std::uint64_t>(p_.ranks); left > 0;) {
      operation o;
      o.subject = b;
      o.phase = number;
      if (random_.with_probability(0.3)) {
        o.what = action::completed;
        waiting.push_back(enter(std::move(o), fate::open));
        continue;
      }
      o.what = action::arrive;
      o.after = some(1);
      o.count = 1 + random_.below(left);
      o.value = random_.below(1000);
      left -= o.count;
      p_.sums[b].back() += o.value;
      end = of(o.after) == fate::bad ? fate::bad : end;
      enter(std::move(o), fate::none);
    }
    operation last;
    last.what = action::completed;
    last.subject = b;
    last.phase = number;
    waiting.push_back(enter(std::move(last), fate::open));
    for (const std::size_t i : waiting) {
      close(i, end);
    }
  }

  void step() {
    const auto choice = random_.below(100);
    if (choice < 20) {
      open_.push_back(enter({}, fate::open));
    } else if (choice < 35) {
      if (!open_.empty()) {
        trigger();
      }
    } else if (choice < 60) {
      operation o;
      o.what = random_.with_probability(0.6) ? action::merge : action::settled;
      o.after = some(random_.with_probability(0.2) ? 30 : 4);
      const fate end = o.what == action::settled ? fate::good : of(o.after);
      enter(std::move(o), end);
    } else if (choice < 80) {
      task();
    } else if (choice < 92) {
      acquire();
    } else {
      phase();
    }
  }

  random_generator random_;
  program p_;
  std::vector<std::size_t> usable_;
  std::vector<std::size_t> open_;
};

/// What the ranks tell each other: handles, plus one, once they are known.
struct board {
  std::atomic<std::uint64_t> ends[most_operations];
  std::atomic<std::uint64_t> locks[lock_count];
  std::atomic<std::uint64_t> barriers[barrier_count];
  std::atomic<std::uint64_t> groups[group_count];
  std::atomic<int> failed;
  std::uint64_t guarded[lock_count];
};

// Of the program that now runs; tasks have no other way to it.
const program* now_run;
board* now_on;
std::array<reservations*, test::meeting_place::most_ranks> locks_of;

event end_of(std::size_t i) { return event::from_bits(now_on->ends[i].load() - 1); }

bool act(task_context& c, std::uint32_t i) {
  const operation& o = now_run->all[i];
  switch (o.does) {
    case deed::succeed:
      return true;
    case deed::fail:
      return false;
    case deed::trigger:
      c.all.events().trigger(user_event(end_of(o.other)));
      return true;
    case deed::wait:
      return c.all.events().wait(end_of(o.other)) == state::triggered;
    case deed::lock: {
      const hold mine = locks_of[c.here.rank().index()]->lock(
          reservation::from_bits(now_on->locks[o.subject].load() - 1));
      ++now_on->guarded[o.subject];
      return true;
    }
    case deed::guarded:
      ++now_on->guarded[o.subject];
      return true;
    case deed::start: {
      const operation& child = now_run->all[i + 1];
      std::vector<event> before;
      for (const std::size_t a : child.after) {
        before.push_back(end_of(a));
      }
      const event end = c.all.spawn<&act>(
          c.all.at(job_rank{child.where}),
          {.after = c.all.events().merge(before), .priority = child.priority}, i + 1);
      now_on->ends[i + 1].store(end.bits() + 1);
      return true;
    }
  }
  return false;
}

class performer {
 public:
  performer(const test::event_member& m, tasks& all, bool yields, std::uint64_t seed)
      : m_(m),
        tasks_(all),
        yields_(yields),
        random_(seed + 31 * static_cast<std::uint64_t>(m.rank)),
        queue_(m.events) {}

  void perform() {
    for (std::size_t i = 0; i < p_.all.size(); ++i) {
      if (p_.all[i].rank != m_.rank) {
        continue;
      }
      test::pause_at_random(random_, m_.runtime);
      start(i, p_.all[i]);
    }
    check();
  }

  template <class Ready>
  void until(Ready ready) const {
    m_.until([&] {
      if (yields_) {
        fiber::yield();
      }
      return ready();
    });
  }

 private:
  [[nodiscard]] std::uint64_t known(const std::atomic<std::uint64_t>& word) const {
    until([&] { return word.load() != 0; });
    return word.load() - 1;
  }
  [[nodiscard]] event known(std::size_t i) const { return event::from_bits(known(b_.ends[i])); }
  void tell(std::size_t i, event e) {
    b_.ends[i].store(e.bits() + 1);
    if (random_.with_probability(0.2)) {
      queue_.add(e, i);
    }
  }
  [[nodiscard]] processor place(int where) const {
    return where < m_.size
               ? tasks_.at(job_rank{where})
               : processor::from_bits(known(b_.groups[static_cast<std::size_t>(where - m_.size)]));
  }
  [[nodiscard]] barrier that(const operation& o) const {
    return {known(b_.barriers[o.subject]), o.phase, 0};
  }

  void start(std::size_t i, const operation& o) {
    system& s = m_.events;
    std::vector<event> before;
    for (const std::size_t a : o.after) {
      before.push_back(known(a));
    }
    switch (o.what) {
      case action::create:
        return tell(i, s.create());
      case action::trigger: {
        const user_event e(known(o.subject));
        return o.poison ? s.poison(e) : s.trigger(e, s.merge(before));
      }
      case action::on:
        subjects_.push_back({&s, user_event(known(o.subject))});
        return s.on(
            before.front(),
            [](void* argument, bool poisoned) noexcept {
              const auto& one = *static_cast<subject*>(argument);
              poisoned ? one.events->poison(one.what) : one.events->trigger(one.what);
            },
            &subjects_.back());
      case action::merge:
        return tell(i, s.merge(before));
      case action::settled:
        return tell(i, s.settled(before));
      case action::task:
        if (o.does == deed::trigger || o.does == deed::wait) {
          (void)known(o.other);
        }
        if (o.does == deed::start) {
          for (const std::size_t a : p_.all[i + 1].after) {
            (void)known(a);
          }
        }
        return tell(i, spawn(i, o, s.merge(before)));
      case action::acquire: {
        reservations& locks = *locks_of[static_cast<std::size_t>(m_.rank)];
        const auto lock = reservation::from_bits(known(b_.locks[o.subject]));
        const event held = locks.acquire(lock, {}, s.merge(before));
        const event done = spawn(i, o, held);
        locks.release(lock, done);
        return tell(i, done);
      }
      case action::arrive:
        return s.all_barriers().arrive(that(o), o.count, &o.value, s.merge(before));
      case action::completed:
        return tell(i, s.all_barriers().completed(that(o)));
    }
  }
  event spawn(std::size_t i, const operation& o, event after) {
    return tasks_.spawn<&act>(place(o.where), {.after = after, .priority = o.priority},
                              static_cast<std::uint32_t>(i));
  }

  void check() {
    for (std::size_t i = 0; i < p_.all.size(); ++i) {
      if (p_.ends[i] == fate::none) {
        continue;
      }
      const event e = known(i);
      until([&] { return m_.events.has_triggered(e); });
      const state seen = m_.events.look(e);
      EXPECT_EQ(seen, p_.ends[i] == fate::bad ? state::poisoned : state::triggered)
          << "operation " << i << " on rank " << m_.rank;
      if (p_.all[i].what == action::completed && seen == state::triggered) {
        check_value(p_.all[i]);
      }
    }
    completed some[16];
    while (queue_.size() != 0) {
      std::size_t count = 0;
      until([&] { return (count = queue_.pop(some)) != 0; });
      for (std::size_t k = 0; k < count; ++k) {
        EXPECT_EQ(some[k].poisoned, p_.ends[some[k].tag] == fate::bad);
      }
    }
    m_.meet();
    for (std::size_t l = 0; l < lock_count; ++l) {
      EXPECT_EQ(b_.guarded[l], p_.changes[l]);
    }
    m_.meet();
  }

  void check_value(const operation& o) {
    const auto& sums = p_.sums[o.subject];
    std::uint64_t value = 0;
    const bool there = m_.events.all_barriers().value(that(o), &value);
    const bool kept = o.rank == m_.rank && o.phase + kept_phases >= sums.size();
    EXPECT_TRUE(there || !kept);
    EXPECT_EQ(value, there ? sums[o.phase] : 0);
  }

  struct subject {
    system* events;
    user_event what;
  };
  const program& p_ = *now_run;
  board& b_ = *now_on;
  const test::event_member& m_;
  tasks& tasks_;
  bool yields_;
  random_generator random_;
  completion_queue queue_;
  std::deque<subject> subjects_;
};

void add_words(void* into, const void* value) {
  *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(value);
}

/// One rank's part. `yields`: its tasks run on this thread.
void perform(const test::event_member& m, bool yields, std::uint64_t seed) {
  tasks all(m.events);
  reservations locks(m.events);
  locks_of[static_cast<std::size_t>(m.rank)] = &locks;
  m.meet();
  all.add<&act>("act");
  all.start();
  const std::uint64_t zero = 0;
  for (std::size_t i = 0; i < lock_count; ++i) {
    if (static_cast<int>(i) % m.size == m.rank) {
      now_on->locks[i].store(locks.create().bits() + 1);
    }
  }
  for (std::size_t i = 0; i < barrier_count; ++i) {
    if (static_cast<int>(i + 1) % m.size != m.rank) {
      continue;
    }
    const barrier b = m.events.all_barriers().create(static_cast<std::uint64_t>(m.size),
                                                     {sizeof zero, add_words, &zero});
    now_on->barriers[i].store(b.id + 1);
  }
  for (int g = 0; g < group_count; ++g) {
    if ((g + 2) % m.size != m.rank) {
      continue;
    }
    std::vector<processor> of;
    for (int r = g; r < m.size; r += 2) {
      of.push_back(all.at(job_rank{r}));
    }
    now_on->groups[g].store(all.group(of).bits() + 1);
  }
  m.meet();
  performer doer(m, all, yields, seed);
  doer.perform();
  // Tasks have ended everywhere, and what that causes has arrived.
  m.settle();
  doer.until([&] { return all.pending() == 0; });
  m.settle();
  EXPECT_EQ(locks.misuses(), 0u);
  EXPECT_EQ(m.events.pending(), 0u) << m.events.report();
  m.meet();
}

/// Calls body(ranks, seed) with a program drawn from the seed and a board.
template <class Body>
void each_round(std::initializer_list<int> sizes, Body body) {
  const char* const asked = std::getenv("SINEW_TEST_ROUNDS");
  const int rounds = asked != nullptr ? std::atoi(asked) : 1;
  const std::uint64_t first = asked != nullptr ? seed_from_environment() : 1;
  for (int round = 0; round < rounds; ++round) {
    for (const int ranks : sizes) {
      if (slow_build && ranks > 4) {
        continue;
      }
      const std::uint64_t seed = first + static_cast<std::uint64_t>(round);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(ranks));
      const program p = author(seed, ranks).write(slow_build ? 150 : 300 + 100 * (round % 8));
      ASSERT_LT(p.all.size(), most_operations);
      const test::shared_memory memory(sizeof(board));
      now_on = &memory.as<board>();
      now_run = &p;
      body(ranks, seed);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

class random_orders : public testing::TestWithParam<backend> {};

TEST_P(random_orders, of_threads_agree_with_the_model) {
  each_round({4, 16}, [](int ranks, std::uint64_t seed) {
    const fiber::scheduler workers({.workers = 2, .pin = false});
    completion done;
    std::thread others([&] {  // the caller is a worker, and must not block
      test::run_events(ranks, GetParam(), core::threading::many,
                       [&](event_member& m) { perform(m, false, seed); });
      done.complete();
    });
    fiber::wait(done);
    others.join();
  });
}

INSTANTIATE_TEST_SUITE_P(fabrics, random_orders, testing::Values(backend::inproc, backend::shm),
                         [](const auto& i) { return name_of(i.param); });

TEST(random_orders, of_processes_agree_with_the_model) {
  each_round({4, 8, 16}, [](int ranks, std::uint64_t seed) {
    test::run_event_processes(ranks, {}, [&](test::process_rank& m) {
      const fiber::scheduler workers({.workers = 1, .pin = false});
      perform(m, true, seed);
    });
  });
}

}  // namespace
}  // namespace sinew::event
