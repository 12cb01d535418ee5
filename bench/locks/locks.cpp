// SPDX-License-Identifier: BSD-3-Clause
// Chains of deferred lock grants, as the original experiment builds them: each rank makes locks,
// all ranks know all of them, each builds chains in which a random lock is acquired when the one
// before was granted, and released at once. All chains hang off one event. Timed from its trigger
// until all chains have ended; the construction is reported beside it.
//
// Words: those of rows.hpp, budget_ms=N; over=hosts for the ranks that a launcher has started, and
// one round of one row.
#include <vector>

#include "../common/ranks.hpp"
#include "rows.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/reservation.hpp"

namespace {

namespace event = sinew::event;

using lock_rows::row;

/// Seconds of construction and of the run, on rank 0.
struct round_seconds {
  double made = 0;
  double ran = 0;
  double line_ns = 0;  ///< the trip of a line before, in ns
};

/// A chain for each of `r.chains`, hung off `start`; an event that triggers when all have ended.
event::event build_chains(const micro::rank_place& at, event::reservations& locks, const row& r,
                          event::event start, sinew::random_generator& choice) {
  std::vector<event::reservation> all;
  for (int i = 0; i < r.locks * r.ranks; ++i) {
    all.push_back(event::reservation::from_bits(at.meet[std::size_t(i)]));
  }
  std::vector<event::event> ends;
  for (int c = 0; c < r.chains; ++c) {
    event::event e = start;
    for (int d = 0; d < r.depth; ++d) {
      const event::reservation lock = all[choice.below(all.size())];
      e = locks.acquire(lock, {}, e);
      locks.release(lock, e);
    }
    ends.push_back(e);
  }
  return at.events.merge(ends);
}

round_seconds one_round(const micro::rank_place& at, event::reservations& locks, const row& r,
                        sinew::random_generator& choice) {
  const auto start_word = static_cast<std::size_t>(r.locks * r.ranks);  // behind the locks' handles
  const auto end_word = [&](int rank) { return start_word + 1 + static_cast<std::size_t>(rank); };
  if (at.rank == 0) {
    at.meet[start_word] = at.events.create().bits();
    at.meet.share(start_word);
  }
  const double line_ns = at.meet.line_trip();
  at.meet();
  const event::event start = event::event::from_bits(at.meet[start_word]);
  const double begun = micro::now_ns();
  const event::event mine = build_chains(at, locks, r, start, choice);
  at.meet[end_word(at.rank)] = mine.bits();
  at.meet.share(end_word(at.rank));
  at.meet();
  const double built = micro::now_ns();
  round_seconds took;
  if (at.rank == 0) {
    std::vector<event::event> others;
    for (int rank = 0; rank < r.ranks; ++rank) {
      others.push_back(event::event::from_bits(at.meet[end_word(rank)]));
    }
    const event::event last = at.events.merge(others);
    for (int i = 0; i < 1000; ++i) {
      (void)at.runtime.poll();  // subscriptions are answered
    }
    const double triggered = micro::now_ns();
    at.events.trigger(event::user_event(start));
    if (at.events.wait(last) != event::state::triggered) {
      micro::wrong("a chain failed");
    }
    took = {(built - begun) * 1e-9, (micro::now_ns() - triggered) * 1e-9, line_ns};
  } else {
    (void)at.events.wait(mine);
  }
  at.meet();
  return took;
}

/// `took` is what rank 0 has measured: of another process, unless a launcher has started the ranks.
bool run_once(micro::rank_source& from, const row& r, std::uint64_t seed, round_seconds* took) {
  event::options how;
  how.most_pending = static_cast<std::uint32_t>(r.chains * r.depth + 4096);
  return from.run(r.ranks, how, [&](const micro::rank_place& at) {
    event::reservations locks(at.events);
    sinew::random_generator choice(seed * 1000 + static_cast<std::uint64_t>(at.rank));
    const auto own = static_cast<std::size_t>(at.rank * r.locks);
    for (std::size_t i = 0; i < static_cast<std::size_t>(r.locks); ++i) {
      at.meet[own + i] = locks.create().bits();
    }
    at.meet.share(own, static_cast<std::size_t>(r.locks));
    at.meet();
    const round_seconds mine = one_round(at, locks, r, choice);
    if (at.rank == 0) {
      *took = mine;
    }
    at.meet();
  });
}

/// Each round in ranks of its own, as the original experiment: one that reuses what an earlier one
/// left behind meets its memory in another order.
bool measure(micro::rank_source& from, const row& r, double budget_ms) {
  const micro::shared_memory results(sizeof(round_seconds));
  auto* const took = results.as<round_seconds>();
  const double grants = r.grants();
  std::vector<double> rates;
  std::vector<double> makings;
  std::vector<double> lines;
  const double end = micro::now_ns() + budget_ms * 1e6;
  do {
    if (!run_once(from, r, 42 + rates.size(), took)) {
      return false;
    }
    if (took->ran == 0) {
      return true;  // not rank 0
    }
    rates.push_back(grants / took->ran / 1e3);
    lines.push_back(took->line_ns);
    makings.push_back(took->made / (grants / r.ranks) * 1e9);
  } while (!from.launched() && micro::now_ns() < end && rates.size() < 100);
  const std::string params = r.params(from.tail());
  micro::report_row("chains", "rate", "Kgrants/s", params, micro::median(rates),
                    micro::median(lines));
  micro::report_row("construction", "latency", "ns", params, micro::median(makings),
                    micro::median(lines));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  if (o.floor) {
    return 0;  // nothing bounds it but what it does itself
  }
  micro::rank_source from(argc, argv);
  bool good = true;
  for (row r : lock_rows::chosen(argc, argv, from.launched())) {
    r.ranks = from.numbers({r.ranks}).front();
    good = measure(from, r, o.budget_ms) && good;
  }
  return good ? 0 : 1;
}
