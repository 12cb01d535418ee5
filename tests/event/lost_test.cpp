// SPDX-License-Identifier: BSD-3-Clause
// What becomes of events, barriers, queues, reservations and tasks when a rank is killed. Ranks are
// processes; the victim kills itself where nothing of it is under way, or just after it has sent.
#include <array>
#include <string>
#include <vector>

#include "event/event_fixture.hpp"
#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/task.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/event_processes.hpp"

namespace {

using namespace sinew;
using namespace sinew::test;
using event::barrier;
using event::hold;
using event::reservation;
using event::reservations;
using event::state;
using event::user_event;
using occurrence = event::event;

occurrence shared_event(const process_rank& m, std::size_t word) {
  return occurrence::from_bits(m.board.words[word].load());
}

TEST(lost, events_of_a_killed_rank_and_all_that_hangs_on_them_are_poisoned) {
  run_event_processes(3, {2}, [](process_rank& m) {
    event::system& s = m.events;
    if (m.rank == 2) {
      m.board.words[0].store(s.create().bits());
      m.board.words[1].store(s.create().bits());
      const user_event was = s.create();
      s.trigger(was);
      m.board.words[2].store(was.bits());
    }
    m.meet();
    event::completion_queue queue(s);
    if (m.rank == 2) {
      m.kill(2, 1);
    }
    const occurrence first = shared_event(m, 0);
    const occurrence known = shared_event(m, 2);
    const user_event own = s.create();
    const occurrence merged = s.merge(own, first);
    const occurrence calm = s.settled(first);
    const user_event follows = s.create();
    s.trigger(follows, first);
    queue.add(merged, 1);
    queue.add(first, 2);
    queue.add(own, 3);
    const occurrence filled = queue.filled();
    EXPECT_EQ(s.look(known), state::pending);  // asks
    m.kill(2, 1);
    EXPECT_EQ(s.wait(merged), state::poisoned);
    EXPECT_EQ(s.wait(follows), state::poisoned);
    EXPECT_EQ(s.wait(filled), state::triggered);
    EXPECT_EQ(s.wait(calm), state::triggered);
    EXPECT_EQ(s.look(own), state::pending);
    EXPECT_EQ(s.look(known), state::triggered) << "it was told in time";
    EXPECT_EQ(s.wait(shared_event(m, 1)), state::poisoned) << "asked for afterwards";
    s.trigger(user_event(shared_event(m, 1)));  // nobody is there to hear
    s.trigger(own);
    std::array<event::completed, 4> got;
    ASSERT_EQ(queue.pop(got), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(got[i].poisoned, got[i].tag != 3);
    }
    s.lost(2);  // again: nothing
    EXPECT_THROW(s.lost(job_rank{m.rank}), error);
  });
}

TEST(lost, what_was_entrusted_to_a_killed_rank_is_poisoned) {
  run_event_processes(2, {1}, [](process_rank& m) {
    event::system& s = m.events;
    std::vector<user_event> all;
    if (m.rank == 0) {
      for (int i = 0; i < 1000; ++i) {
        all.push_back(s.create());
        s.entrust(all.back(), 1);
        if (i % 2 == 0) {
          s.trigger(all.back());
        }
      }
    }
    const user_event not_entrusted = s.create();
    m.kill(1, 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(s.look(all[i]), i % 2 == 0 ? state::triggered : state::poisoned);
    }
    EXPECT_EQ(s.look(not_entrusted), state::pending);
    const user_event late = s.create();
    s.entrust(late, 1);
    EXPECT_EQ(s.look(late), state::poisoned);
    s.trigger(not_entrusted);
  });
}

TEST(lost, barriers_of_a_killed_rank_or_with_its_part_in_them_are_broken) {
  run_event_processes(4, {2}, [](process_rank& m) {
    event::system& s = m.events;
    event::barriers& all = s.all_barriers();
    const auto made = [&](int owner, std::size_t word, std::uint64_t arrivals) {
      if (m.rank == owner) {
        m.board.words[word].store(all.create(arrivals).id);
      }
      m.meet();
      return barrier{m.board.words[word].load(), 0, 0};
    };
    const barrier theirs = made(2, 0, 3);
    const barrier together = made(0, 1, 4);
    const barrier without = made(0, 2, 2);
    const barrier unused = made(1, 3, 2);
    const occurrence end = all.completed(theirs);
    const occurrence first = all.completed(together);
    const occurrence second = all.completed(together.next());
    const occurrence fine = all.completed(without.next());
    m.settle();
    all.arrive(together);
    EXPECT_EQ(s.wait(first), state::triggered);
    if (m.rank < 2) {
      all.arrive(without);
      EXPECT_EQ(s.wait(all.completed(without)), state::triggered);
    }
    if (m.rank != 2) {
      all.arrive(together.next());
    }
    m.settle();
    m.kill(2, 3);
    EXPECT_EQ(s.wait(end), state::poisoned);
    EXPECT_EQ(s.wait(second), state::poisoned);
    EXPECT_EQ(s.wait(all.completed(together.next().next())), state::poisoned);
    EXPECT_EQ(s.wait(all.completed(unused)), state::poisoned);
    all.arrive(together.next());  // ignored
    m.settle();
    // The killed rank had asked for `without`, so it is broken, too.
    EXPECT_EQ(s.wait(fine), state::poisoned);
    const barrier anew = made(0, 4, 3);
    const occurrence done = all.completed(anew);
    m.settle();
    all.arrive(anew);
    EXPECT_EQ(s.wait(done), state::triggered);
  });
}

TEST(lost, a_barrier_that_a_killed_rank_had_no_part_in_goes_on) {
  run_event_processes(3, {2}, [](process_rank& m) {
    event::barriers& all = m.events.all_barriers();
    if (m.rank == 0) {
      m.board.words[0].store(all.create(2).id);
    }
    m.meet();
    barrier b{m.board.words[0].load(), 0, 0};
    for (int phase = 0; phase < 3; ++phase, b = b.next()) {
      const occurrence done = m.rank == 2 ? occurrence{} : all.completed(b);
      m.settle();
      if (m.rank != 2) {
        all.arrive(b);
        EXPECT_EQ(m.events.wait(done), state::triggered);
      }
      if (phase == 1) {
        m.kill(2, 0);
      }
    }
  });
}

struct with_locks {
  process_rank& m;
  reservations locks{m.events};

  [[nodiscard]] reservation made(int creator, std::size_t word) {
    if (m.rank == creator) {
      m.board.words[word].store(locks.create().bits());
    }
    m.meet();
    return reservation::from_bits(m.board.words[word].load());
  }
};

TEST(lost, a_reservation_held_by_a_killed_rank_comes_back_poisoned_until_recovered) {
  run_event_processes(3, {2}, [](process_rank& m) {
    with_locks w{m};
    event::system& s = m.events;
    const reservation lock = w.made(0, 0);
    if (m.rank == 2) {
      EXPECT_EQ(s.wait(w.locks.acquire(lock)), state::triggered);
    }
    m.settle();
    const occurrence mine = w.locks.acquire(lock);
    w.locks.release(lock, mine);
    m.settle();
    EXPECT_EQ(s.look(mine), state::pending);
    m.kill(2, 1);
    EXPECT_EQ(s.wait(mine), state::poisoned);
    m.settle();
    EXPECT_EQ(w.locks.held(lock), 0u) << "the release came after the poisoned grant";
    EXPECT_THROW(w.locks.recover(lock), error) << "not held";
    if (m.rank == 1) {
      EXPECT_FALSE(w.locks.try_acquire(lock));
      const hold by_me = w.locks.lock(lock);
      EXPECT_TRUE(by_me.poisoned());
      w.locks.recover(lock);
    }
    m.settle();
    for (int i = 0; i < 10; ++i) {
      const hold by_me = w.locks.lock(lock);
      EXPECT_FALSE(by_me.poisoned());
    }
    m.settle();
    EXPECT_EQ(w.locks.misuses(), 0u);
  });
}

TEST(lost, a_reservation_made_by_a_killed_rank_ends_with_it) {
  run_event_processes(3, {0}, [](process_rank& m) {
    with_locks w{m};
    event::system& s = m.events;
    const reservation lock = w.made(0, 0);
    const reservation other = w.made(0, 1);
    if (m.rank == 1) {
      EXPECT_EQ(s.wait(w.locks.acquire(lock)), state::triggered);
    }
    m.settle();
    occurrence waits;
    if (m.rank == 2) {
      waits = w.locks.acquire(lock);
      w.locks.release(lock, waits);
    }
    m.kill(0, 2);
    if (m.rank == 2) {
      EXPECT_EQ(s.wait(waits), state::poisoned);
    } else {
      EXPECT_EQ(w.locks.held(lock), 1u) << "who holds it keeps it";
      w.locks.release(lock);
    }
    EXPECT_EQ(s.wait(w.locks.acquire(lock)), state::poisoned);
    w.locks.release(lock);  // ignored
    EXPECT_EQ(s.wait(w.locks.acquire(other)), state::poisoned) << "not used before";
    EXPECT_EQ(s.wait(w.locks.destroy(other)), state::poisoned);
    EXPECT_EQ(w.locks.misuses(), 0u);
  });
}

TEST(lost, wishes_on_their_way_through_a_killed_rank_are_sent_again) {
  run_event_processes(4, {1, 2}, [](process_rank& m) {
    with_locks w{m};
    event::system& s = m.events;
    std::vector<reservation> all;
    for (std::size_t i = 0; i < 32; ++i) {
      all.push_back(w.made(static_cast<int>(i % 4), i));
    }
    std::vector<occurrence> grants;
    const auto ask = [&] {
      for (const reservation r : all) {
        grants.push_back(w.locks.acquire(r));
        w.locks.release(r, grants.back());
      }
    };
    for (int i = 0; i < 20; ++i) {
      ask();
    }
    if (m.rank == 2) {
      ::kill(::getpid(), SIGKILL);  // with all of its messages under way
    }
    m.until([&] { return m.place.dead[2].load(); });
    m.events.lost(2);  // whoever learns it first
    for (int i = 0; i < 20; ++i) {
      ask();
    }
    if (m.rank == 1) {
      ::kill(::getpid(), SIGKILL);
    }
    m.until([&] { return m.place.dead[1].load(); });
    if (m.rank == 0) {
      m.events.lost(1);
    }
    for (int i = 0; i < 20; ++i) {
      ask();
    }
    for (const occurrence e : grants) {
      (void)s.wait(e);
    }
    m.settle();
    for (const reservation r : all) {
      EXPECT_EQ(w.locks.held(r), 0u);
      EXPECT_EQ(w.locks.waiting(r), 0u);
    }
    EXPECT_EQ(w.locks.misuses(), 0u);
  });
}

int started = 0;  ///< tasks on this rank
void nothing() { ++started; }
void for_ever(event::task_context& c, std::uint64_t until) {
  ++started;
  (void)c.all.events().wait(occurrence::from_bits(until));
}

TEST(lost, tasks_given_to_a_killed_rank_are_poisoned) {
  run_event_processes(3, {2}, [](process_rank& m) {
    const fiber::scheduler workers({.workers = 1, .pin = false});
    event::system& s = m.events;
    event::tasks all(s);
    m.meet();  // all can hear of each other's tables
    all.add<&nothing>("nothing");
    all.add<&for_ever>("for ever");
    all.start();
    if (m.rank == 1) {  // a group of rank 1 whose one member is on rank 2
      const std::array<event::processor, 1> members{all.at(2)};
      m.board.words[0].store(all.group(members).bits());
    }
    m.board.words[1 + static_cast<std::size_t>(m.rank)].store(s.create().bits());
    m.meet();
    const auto group = event::processor::from_bits(m.board.words[0].load());
    const std::uint64_t never = m.board.words[1].load();  // of rank 0
    occurrence direct;
    occurrence through;
    occurrence done;
    if (m.rank != 2) {
      direct = all.spawn<&for_ever>(all.at(2), {}, never);
      through = all.spawn<&for_ever>(group, {}, never);
      done = all.spawn<&nothing>(all.at(2), {});
      EXPECT_EQ(s.wait(done), state::triggered);
    } else {
      m.until([&] {
        fiber::yield();
        return started == 6;
      });
    }
    m.kill(2, 0);
    EXPECT_EQ(s.wait(direct), state::poisoned);
    EXPECT_EQ(s.wait(through), state::poisoned);
    EXPECT_EQ(s.look(done), state::triggered);
    EXPECT_EQ(s.wait(all.spawn<&nothing>(all.at(2), {})), state::poisoned) << "given to the dead";
    EXPECT_EQ(s.wait(all.spawn<&nothing>(all.at(0), {})), state::triggered);
    m.board.words[4].fetch_add(1);  // nobody leaves while the other may still give it a task
    m.until([&] {
      fiber::yield();
      return m.board.words[4].load() == 2;
    });
  });
}

TEST(lost, a_group_goes_on_with_the_members_that_live) {
  run_event_processes(3, {2}, [](process_rank& m) {
    const fiber::scheduler workers({.workers = 1, .pin = false});
    event::system& s = m.events;
    event::tasks all(s);
    m.meet();
    all.add<&nothing>("nothing");
    all.start();
    const auto group_of = [&](std::initializer_list<event::processor> members) {
      return all.group(std::span<const event::processor>(members.begin(), members.size()));
    };
    if (m.rank == 1) {
      m.board.words[0].store(group_of({all.at(2), all.at(0), all.at(2), all.at(1)}).bits());
      m.board.words[1].store(group_of({all.at(2), all.at(2)}).bits());
    }
    m.kill(2, 0);
    if (m.rank == 1) {
      m.board.words[2].store(group_of({all.at(1), all.at(2)}).bits());
      m.board.words[3].store(group_of({all.at(2)}).bits());
    }
    m.meet();
    for (const std::size_t some_live : {0, 2}) {
      const auto group = event::processor::from_bits(m.board.words[some_live].load());
      for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(s.wait(all.spawn<&nothing>(group, {})), state::triggered);
      }
    }
    for (const std::size_t none_lives : {1, 3}) {
      const auto group = event::processor::from_bits(m.board.words[none_lives].load());
      ::testing::internal::CaptureStderr();
      EXPECT_EQ(s.wait(all.spawn<&nothing>(group, {})), state::poisoned);
      const std::string said = ::testing::internal::GetCapturedStderr();
      if (m.rank == 1) {  // whose group it is
        EXPECT_NE(said.find("whose ranks are all lost"), std::string::npos) << said;
      }
    }
    m.board.words[4].fetch_add(1);  // nobody leaves while the other may still give it a task
    m.until([&] {
      fiber::yield();
      return m.board.words[4].load() == 2;
    });
    m.board.words[5].fetch_add(static_cast<std::uint64_t>(started));
    m.meet();
    EXPECT_EQ(m.board.words[5].load(), 24u);
  });
}

}  // namespace
