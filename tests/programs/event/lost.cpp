// With `sinew run --survive`: the last rank is killed, and whatever others await of it ends,
// poisoned, without a word from the program. What has nothing to do with it goes on.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "expect.hpp"
#include "sinew/event/barrier.hpp"
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
    if (here.size() >= 3) {
      run(here);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
