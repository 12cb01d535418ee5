// SPDX-License-Identifier: BSD-3-Clause
// What events, barriers, locks and groups promise, among ranks that are processes, on one node or
// on several: everybody sees the same of everybody's handles.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/event/completion_queue.hpp"
#include "sinew/region/job.hpp"

namespace {

using namespace sinew;
using event::state;
using event::user_event;
using occurrence = event::event;

occurrence of(std::uint64_t bits) { return occurrence::from_bits(bits); }

// Each rank triggers or poisons its left neighbour's; all wait for all, merge and settle them.
void handles(job& here) {
  event::system& s = here.events();
  const auto size = static_cast<std::size_t>(here.size());
  const auto own = here.gather(s.create().bits());
  const auto bad = here.gather(s.create().bits());
  const auto go = here.gather(s.create().bits());
  std::vector<occurrence> good;
  std::vector<occurrence> mixed;
  for (std::size_t r = 0; r < size; ++r) {
    good.push_back(of(own[r]));
    mixed.push_back(of(r % 2 == 0 ? own[r] : bad[r]));
  }
  const occurrence all_good = s.merge(good);
  const occurrence some_bad = s.merge(mixed);
  const occurrence calm = s.settled(mixed);
  event::completion_queue queue(s);
  for (std::size_t r = 0; r < size; ++r) {
    queue.add(good[r], r);
  }
  // Another rank's merge is as good as one's own; and a trigger may come after another rank's
  // event.
  const auto merged = here.gather(all_good.bits());
  const std::size_t left = (here.rank().index() + size - 1) % size;
  s.trigger(user_event(of(own[left])), of(go[left]));
  s.poison(user_event(of(bad[left])));
  s.trigger(user_event(of(go[here.rank().index()])));
  for (const std::uint64_t each : merged) {
    expect(s.wait(of(each)) == state::triggered, "a merge of another rank");
  }
  expect(s.wait(some_bad) == (size > 1 ? state::poisoned : state::triggered), "a poisoned merge");
  expect(s.wait(calm) == state::triggered, "settled");
  for (std::size_t r = 0; r < size; ++r) {
    expect(s.wait(of(own[r])) == state::triggered && s.wait(of(bad[r])) == state::poisoned,
           "everybody's events");
  }
  std::vector<event::completed> got(size);
  for (std::size_t taken = 0; taken < size; taken += queue.pop(got)) {
    expect(s.wait(queue.filled()) == state::triggered, "a completion queue");
  }
  here.meet();
}

void add(void* into, const void* value) {
  *static_cast<std::uint64_t*>(into) += *static_cast<const std::uint64_t*>(value);
}

// Each rank has a barrier at which all arrive. Ranks ask before or after its end, for older phases
// too, and know the value whenever they know the end.
void barriers(job& here) {
  event::barriers& all = here.events().all_barriers();
  const std::uint64_t zero = 0;
  const auto size = static_cast<std::uint64_t>(here.size());
  const auto ids = here.gather(all.create(size, {sizeof zero, add, &zero}).id);
  constexpr std::uint64_t phases = 8;
  const auto value_at = [&](event::barrier b) {
    std::uint64_t sum = 0;
    const bool there = here.events().wait(all.completed(b)) == state::triggered;
    expect(there && all.value(b, &sum), "a value after the end");
    expect(sum == size * (size + 1) / 2 + size * b.phase, "the value of all arrivals");
  };
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    for (const std::uint64_t id : ids) {
      const event::barrier b{id, phase};
      const std::uint64_t mine = here.rank().index() + 1 + phase;
      if ((here.rank().index() + phase) % 3 != 0) {
        (void)all.completed(b);  // in time
      }
      all.arrive(b, 1, &mine);
    }
  }
  for (const std::uint64_t id : ids) {
    value_at({id, phases - 1});
    value_at({id, 0});
    value_at({id, phases / 2});
  }
  here.meet();
  all.destroy({ids[here.rank().index()]});
  here.meet();
  if (here.size() > 1) {
    const event::barrier gone{ids[(here.rank().index() + 1) % size], phases + 1};
    expect(here.events().wait(all.completed(gone)) == state::poisoned, "a destroyed barrier");
  }
  here.meet();
}

std::vector<int> holders;  // at rank 0
int inside = 0;
void hold_it(int rank) {
  expect(++inside == 1, "one holder at a time");
  holders.push_back(rank);
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  --inside;
}

// All ranks ask for a lock that rank 0 holds until they have; then nobody has it more than
// `grants` and one times in a row, as long as others wait.
void lock(job& here) {
  const char* const chosen = std::getenv("SINEW_EVENT_LOCAL_GRANTS");
  const std::size_t grants = chosen != nullptr ? std::strtoul(chosen, nullptr, 10) : 64;
  constexpr int each = 12;
  event::reservations& locks = here.locks();
  event::system& s = here.events();
  const auto name = event::reservation::from_bits(here.gather(locks.create().bits())[0]);
  if (here.rank() == 0) {
    expect(s.wait(locks.acquire(name)) == state::triggered, "the first to hold");
  }
  here.meet();
  std::vector<occurrence> ends;
  for (int i = 0; i < each; ++i) {
    const occurrence got = locks.acquire(name);
    ends.push_back(
        here.tasks().spawn<&hold_it>(here.tasks().at(0), {.after = got}, here.rank().value()));
    locks.release(name, ends.back());
  }
  here.meet();
  if (here.rank() == 0) {
    locks.release(name);
  }
  expect(s.wait(s.merge(ends)) == state::triggered, "all have held");
  here.meet();
  if (here.rank() == 0) {
    std::vector<int> left(static_cast<std::size_t>(here.size()), each);
    std::size_t in_a_row = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const auto who = static_cast<std::size_t>(holders[i]);
      in_a_row = i != 0 && holders[i - 1] == holders[i] ? in_a_row + 1 : 1;
      --left[who];
      const bool others_wait = std::accumulate(left.begin(), left.end(), 0) != left[who];
      worst = others_wait ? std::max(worst, in_a_row) : worst;
    }
    expect(holders.size() == static_cast<std::size_t>(each * here.size()), "everybody, each time");
    std::printf("a lock of %d ranks: at most %zu grants in a row\n", here.size(), worst);
    expect(worst <= grants + 1, "bounded unfairness");
  }
  here.meet();
}

std::atomic<std::uint64_t> quick_ones{0};
void be_quick() { ++quick_ones; }
void wait_for(event::task_context& c, std::uint64_t what) { (void)c.all.events().wait(of(what)); }
void open_gate(event::task_context& c, std::uint64_t gate) {
  c.all.events().trigger(user_event(of(gate)));
}

// All members but rank 0's are kept by tasks that wait, so the others go there, whoever spawns
// them. And tasks of a group that wait for one behind them all end.
void group(job& here) {
  constexpr int many = 20;
  event::tasks& tasks = here.tasks();
  event::system& s = here.events();
  std::vector<event::processor> members;
  for (int r = 1; r <= here.size(); ++r) {
    members.push_back(tasks.at(job_rank{r % here.size()}));
  }
  const auto shared = event::processor::from_bits(here.gather(tasks.group(members).bits())[0]);
  std::vector<occurrence> ends;
  const user_event gate = s.create();
  const job_rank spawner{here.size() - 1};
  if (here.rank() == spawner) {
    for (int r = 1; r < here.size(); ++r) {
      ends.push_back(tasks.spawn<&wait_for>(shared, {}, gate.bits()));
    }
    std::vector<occurrence> quick;
    for (int i = 0; i < many; ++i) {
      quick.push_back(tasks.spawn<&be_quick>(shared, {}));
    }
    expect(s.wait(s.merge(quick)) == state::triggered, "tasks for whoever is free");
  }
  here.meet();
  const auto counts = here.gather(quick_ones.load());
  expect(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == many,
         "each has run once");
  // All of them, but for one that is handed out since nothing has ended for long.
  expect(counts[0] >= many * 3 / 4, "they have run where nothing else was to do");
  if (here.rank() == spawner) {
    s.trigger(gate);
    const user_event second = s.create();
    for (int i = 0; i < here.size() + 2; ++i) {
      ends.push_back(tasks.spawn<&wait_for>(shared, {}, second.bits()));
    }
    ends.push_back(tasks.spawn<&open_gate>(shared, {}, second.bits()));
    expect(s.wait(s.merge(ends)) == state::triggered, "tasks that wait for one of their group");
    expect(s.wait(tasks.spawn<&be_quick>(shared, {.after =
                                                      [&] {
                                                        const user_event bad = s.create();
                                                        s.poison(bad);
                                                        return bad;
                                                      }()})) == state::poisoned,
           "a task after a poisoned event");
  }
  here.meet();
}

}  // namespace

int main() {
  try {
    job here;
    here.tasks().add<&hold_it>("hold it");
    here.tasks().add<&be_quick>("be quick");
    here.tasks().add<&wait_for>("wait for");
    here.tasks().add<&open_gate>("open the gate");
    here.start();
    handles(here);
    barriers(here);
    lock(here);
    group(here);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
