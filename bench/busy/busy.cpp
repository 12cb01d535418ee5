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
  s.word = here.memory().memory().allocate(rma::part::symmetric, 64);
  std::memset(here.memory().at({here.rank(), s.word}), 0, 64);
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

template <class Ask>
void measure(const char* what, const char* mode, Ask ask) {
  std::vector<double> took;
  for (std::size_t i = 0; i < rounds; ++i) {
    // Wait: for whoever helps the owner to fall asleep.
    ::usleep(pause_ns / 1000);
    const std::int64_t begin = now_ns();
    ask(i);
    took.push_back(static_cast<double>(now_ns() - begin) / 1000);
  }
  std::sort(took.begin(), took.end());
  std::printf("@ %s median us owner=%s %.2f\n", what, mode, took[rounds / 2]);
  std::printf("@ %s p99 us owner=%s %.2f\n", what, mode, took[rounds * 99 / 100]);
  std::fflush(stdout);
}

/// As the asker: one kind of request after the other.
void ask_all(job& here, const char* mode, const series& s) {
  event::system& events = here.events();
  std::uint64_t got = 0;
  measure("get", mode, [&](std::size_t) { here.memory().get(&got, {owner, s.word}, sizeof got); });
  measure("trigger", mode, [&](std::size_t i) {
    events.trigger(user_event(occurrence::from_bits(s.first[i])));
    events.trigger(user_event(occurrence::from_bits(s.second[i])));
    (void)events.wait(occurrence::from_bits(s.both[i]));
  });
  measure("lock", mode, [&](std::size_t i) {
    const auto lock = event::reservation::from_bits(s.locks[i]);
    (void)events.wait(here.locks().acquire(lock));
    here.locks().release(lock);
  });
  measure("task", mode, [&](std::size_t) {
    (void)events.wait(here.tasks().spawn<&nothing>(here.tasks().at(owner, 1), {}));
  });
}

void run() {
  job here({.workers = 2});
  here.tasks().add<&nothing>("nothing");
  here.start();
  for (const bool computes : {false, true}) {
    const series s = make(here);
    here.meet();
    // A rank that computes looks only at its own memory, where the asker says that it is done.
    std::atomic_ref<std::uint64_t> done(
        *reinterpret_cast<std::uint64_t*>(here.memory().at({here.rank(), s.word + 8})));
    if (here.rank() == asker) {
      ask_all(here, computes ? "computes" : "waits", s);
      here.memory().store<std::uint64_t>({owner, s.word + 8}, 1);
    } else if (here.rank() == owner && computes) {
      while (done.load() == 0) {
        compute_until(now_ns() + 1'000'000);
      }
    } else if (here.rank() == owner) {
      (void)here.memory().wait(s.word + 8, rma::until::equal, 1);
    }
    here.meet();
  }
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
