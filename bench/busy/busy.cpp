// SPDX-License-Identifier: BSD-3-Clause
// What a rank waits for another one's help: rank 0 asks rank 1, which waits in the runtime, or
// computes and does not call it at all. `sinew run -n 2 bench-busy [budget_ms=N]`, on one node or
// on two hosts. Each sample is one request and its answer, after a pause: whoever helps has had
// time to sleep.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/region/job.hpp"
#include "sinew/rma/engine.hpp"

namespace {

using namespace sinew;
using occurrence = event::event;
using event::user_event;

constexpr std::size_t rounds = 200;
constexpr std::int64_t pause_ns = 200'000;
// Of the memory of a series: what is got, how many kinds are done, the line that is passed on.
constexpr std::uint64_t done_at = 64, line_at = 192, series_bytes = 320;
constexpr job_rank asker{0};
constexpr job_rank owner{1};

void nothing() {}

/// Neither calls the runtime nor leaves the processor.
void compute_until(std::int64_t end_ns) {
  volatile double x = 1;
  while (now_ns() < end_ns) {
    for (int i = 0; i < 1000; ++i) {
      x = x * 1.0000001 + 1e-9;
    }
  }
}

/// What the owner has made for one series, by handles that are valid everywhere.
struct series {
  std::vector<std::uint64_t> first, second, both, locks;
  std::uint64_t word = 0;  ///< offset in its heap
};

series make(job& here) {
  series s;
  s.word = here.memory().memory().allocate(rma::part::symmetric, series_bytes);
  std::memset(here.memory().at({here.rank(), s.word}), 0, series_bytes);
  for (std::size_t i = 0; i < rounds; ++i) {
    const user_event a = here.events().create();
    const user_event b = here.events().create();
    const auto tell = [&](std::vector<std::uint64_t>& to, std::uint64_t bits) {
      to.push_back(here.gather(bits)[owner.index()]);
    };
    tell(s.first, a.bits());
    tell(s.second, b.bits());
    tell(s.both, here.events().merge(a, b).bits());
    tell(s.locks, here.locks().create().bits());
  }
  return s;
}

std::atomic_ref<std::uint64_t> word_of(job& here, job_rank rank, std::uint64_t offset) {
  return std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(here.memory().at({rank, offset})));
}

/// The one-way trip of a cache line between the two in ns, the median of short batches; 0 on two
/// hosts. Both call it.
double line_trip(job& here, const series& s, std::uint64_t& number) {
  constexpr int trips = 200;
  here.meet();
  if (!here.memory().maps(asker) || !here.memory().maps(owner)) {
    return 0;
  }
  const bool asks = here.rank() == asker;
  const auto there = word_of(here, owner, s.word + line_at);
  const auto back = word_of(here, asker, s.word + line_at);
  const auto await = [&number](const std::atomic_ref<std::uint64_t>& word) {
    for (int polls = 1; word.load(std::memory_order_acquire) != number; ++polls) {
      if (polls % 20000 == 0) {
        sched_yield();  // Wait: the other rank is in line_trip(), perhaps on no processor.
      }
    }
  };
  std::vector<double> ns;
  for (int batch = -1; batch < 5; ++batch) {  // the first one warms up
    const std::int64_t begin = now_ns();
    for (int i = 0; i < trips; ++i) {
      ++number;
      if (asks) {
        there.store(number, std::memory_order_release);
        await(back);
      } else {
        await(there);
        back.store(number, std::memory_order_release);
      }
    }
    if (batch >= 0) {
      ns.push_back(static_cast<double>(now_ns() - begin) / trips / 2);
    }
  }
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

/// What one kind of request takes, and how a report calls it.
struct kind {
  const char* name;
  std::function<void(std::size_t)> ask;
};

void measure(const kind& what, const char* mode, double line_ns) {
  std::vector<double> took;
  for (std::size_t i = 0; i < rounds; ++i) {
    // Wait: for whoever helps the owner to fall asleep.
    ::usleep(pause_ns / 1000);
    const std::int64_t begin = now_ns();
    what.ask(i);
    took.push_back(static_cast<double>(now_ns() - begin) / 1000);
  }
  std::sort(took.begin(), took.end());
  char line[32] = "";
  if (line_ns > 0) {
    std::snprintf(line, sizeof line, " line=%.4g", line_ns);
  }
  std::printf("@ %s median us owner=%s %.2f%s\n", what.name, mode, took[rounds / 2], line);
  std::printf("@ %s p99 us owner=%s %.2f%s\n", what.name, mode, took[rounds * 99 / 100], line);
  std::fflush(stdout);
}

std::vector<kind> kinds_of(job& here, const series& s) {
  event::system& events = here.events();
  return {{"get",
           [&](std::size_t) {
             std::uint64_t got = 0;
             here.memory().get(&got, {owner, s.word}, sizeof got);
           }},
          {"trigger",
           [&](std::size_t i) {
             events.trigger(user_event(occurrence::from_bits(s.first[i])));
             events.trigger(user_event(occurrence::from_bits(s.second[i])));
             (void)events.wait(occurrence::from_bits(s.both[i]));
           }},
          {"lock",
           [&](std::size_t i) {
             const auto lock = event::reservation::from_bits(s.locks[i]);
             (void)events.wait(here.locks().acquire(lock));
             here.locks().release(lock);
           }},
          {"task", [&](std::size_t) {
             (void)events.wait(here.tasks().spawn<&nothing>(here.tasks().at(owner, 1), {}));
           }}};
}

/// All kinds, one after the other; the owner waits or computes until the asker says that it is
/// done.
void one_mode(job& here, bool computes) {
  const series s = make(here);
  here.meet();
  const std::uint64_t done = s.word + done_at;
  std::uint64_t number = 0, so_far = 0;
  for (const kind& what : kinds_of(here, s)) {
    const double line_ns = line_trip(here, s, number);
    ++so_far;
    if (here.rank() == asker) {
      measure(what, computes ? "computes" : "waits", line_ns);
      here.memory().store<std::uint64_t>({owner, done}, so_far);
    } else if (here.rank() == owner && computes) {
      while (word_of(here, owner, done).load() != so_far) {
        compute_until(now_ns() + 1'000'000);
      }
    } else if (here.rank() == owner) {
      (void)here.memory().wait(done, rma::until::equal, so_far);
    }
  }
  here.meet();
}

void run() {
  job here({.workers = 2});
  here.tasks().add<&nothing>("nothing");
  here.start();
  one_mode(here, false);
  one_mode(here, true);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench-busy: %s\n", e.what());
    return 1;
  }
  return 0;
}
