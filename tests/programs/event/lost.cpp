// SPDX-License-Identifier: BSD-3-Clause
// With `sinew run --survive`: the last rank is killed, and whatever others await of it ends,
// poisoned, without a word from the program. What has nothing to do with it goes on.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "expect.hpp"
#include "sinew/base/error.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/region/job.hpp"

namespace {

using namespace sinew;
using event::state;
using event::user_event;
using occurrence = event::event;

void nothing() {}
void wait_for(event::task_context& c, std::uint64_t what) {
  (void)c.all.events().wait(occurrence::from_bits(what));
}

/// Rows of 8-byte words in each rank's private memory, and copies between them.
class rows {
 public:
  static constexpr std::uint64_t length = 20'000;  // more than a message holds
  explicit rows(job& here)
      : here_(here),
        what_(region::shape{length}),
        word_(what_.add<std::uint64_t>("word")),
        mine_(here.regions().create(what_, region::memory::heap(here.rank()))) {
    expect(here.events().wait(mine_.ready) == state::triggered, "an instance");
    for (const std::uint64_t bits : here.gather(mine_.what.bits())) {
      all_.push_back(region::instance::from_bits(bits));
    }
  }
  /// Copies from and to the one that is about to die: some wait, some are under way then.
  void begin_copies(job_rank victim) {
    begin(victim, here_.rank(), later_);
    begin(here_.rank(), victim, later_);
    const std::size_t waiting = ends_.size();
    for (int i = 0; i < 3; ++i) {
      begin(victim, here_.rank(), {});
    }
    ends_.resize(waiting);  // the others may have ended well
  }
  /// It has died.
  void end_copies(job_rank victim) {
    here_.events().trigger(later_);
    begin(victim, here_.rank(), {});
    begin(here_.rank(), victim, {});
    for (const occurrence e : ends_) {
      expect(here_.events().wait(e) == state::poisoned, "a copy from or to the victim");
    }
    ends_.clear();
    begin(here_.rank(), here_.rank(), {});
    expect(ends_.size() == 1 && here_.events().wait(ends_[0]) == state::triggered,
           "a copy among those that live");
  }

 private:
  /// Once a rank is known to be lost, its instances are refused.
  void begin(job_rank from, job_rank to, occurrence after) {
    try {
      ends_.push_back(here_.regions().copy(of(from), of(to), after));
    } catch (const error&) {
      expect(here_.events().is_lost(from) || here_.events().is_lost(to), "a copy is refused");
    }
  }
  [[nodiscard]] region::side of(job_rank r) const {
    return region::at(all_[r.index()], word_, {{0, length, 1}});
  }
  job& here_;
  region::schema what_;
  region::field<std::uint64_t> word_;
  region::made mine_;
  std::vector<region::instance> all_;
  user_event later_ = here_.events().create();
  std::vector<occurrence> ends_;
};

void run(job& here) {
  event::system& s = here.events();
  event::barriers& barriers = s.all_barriers();
  const job_rank victim{here.size() - 1};
  here.tasks().add<&nothing>("nothing");
  here.tasks().add<&wait_for>("wait for");
  here.start();
  const auto size = static_cast<std::uint64_t>(here.size());
  const auto own = here.gather(s.create().bits());
  const auto locks = here.gather(here.locks().create().bits());
  const event::barrier all{here.gather(barriers.create(size).id)[0]};
  // One that the victim has no part in: its first phase completes before.
  event::barrier others{here.gather(barriers.create(size - 1).id)[0]};
  const auto meet = [&] {
    const occurrence e = barriers.completed(others);
    barriers.arrive(others);
    others = others.next();
    expect(s.wait(e) == state::triggered, "the others meet");
  };
  const auto lock = event::reservation::from_bits(locks[0]);
  const auto its = event::reservation::from_bits(locks[victim.index()]);
  const std::vector<event::processor> members{here.tasks().at(victim), here.tasks().at(0)};
  const event::processor group = here.tasks().group(members);
  const occurrence last = occurrence::from_bits(own[victim.index()]);
  if (here.rank() == victim) {
    expect(s.wait(here.locks().acquire(lock)) == state::triggered, "the victim holds a lock");
  } else {
    meet();
  }
  here.meet();
  rows data(here);
  data.begin_copies(victim);
  if (here.rank() == victim) {
    (void)std::raise(SIGKILL);
  }
  int recoveries = 0;
  const occurrence merged = s.merge(s.create(), last);
  const occurrence task = here.tasks().spawn<&wait_for>(here.tasks().at(victim), {}, own[0]);
  const occurrence phase = barriers.completed(all);
  barriers.arrive(all);
  const occurrence got = here.locks().acquire(lock);
  expect(s.wait(last) == state::poisoned, "an event of the victim");
  expect(s.wait(merged) == state::poisoned, "a merge with one");
  expect(s.wait(task) == state::poisoned, "a task at the victim");
  expect(s.wait(phase) == state::poisoned, "a barrier that it would have come to");
  expect(s.is_lost(victim), "it is lost");
  data.end_copies(victim);
  expect(s.wait(here.locks().acquire(its)) == state::poisoned, "a lock that it had made");
  // Whoever gets it first puts right what it guards.
  if (s.wait(got) == state::poisoned) {
    here.locks().recover(lock);
    ++recoveries;
  }
  here.locks().release(lock);
  expect(s.wait(here.locks().acquire(lock)) == state::triggered || recoveries == 0, "it is whole");
  here.locks().release(lock);
  for (int i = 0; i < 3; ++i) {
    expect(s.wait(here.tasks().spawn<&nothing>(group, {})) == state::triggered,
           "a group goes on with the members that live");
  }
  expect(s.look(occurrence::from_bits(own[here.rank().index()])) == state::pending,
         "what has nothing to do with the victim");
  meet();
  std::printf("rank %d has gone on\n", here.rank().value());
}

}  // namespace

int main() {
  try {
    job here;
    const char* const workers = std::getenv("SINEW_FIBER_WORKERS");
    expect(workers == nullptr || fiber::scheduler::of_process()->workers() == std::atoi(workers),
           "the setting of workers is heeded");
    if (here.size() >= 3) {
      run(here);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
