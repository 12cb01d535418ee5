// SPDX-License-Identifier: BSD-3-Clause
// Realm's reservations, by the method of locks.cpp: chains of deferred grants in one process. Its
// rows are those with ranks=1.
#include "../common/realm.hpp"

#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace {

using lock_rows::row;

micro::realm_times one_round(const row& r, std::vector<Realm::Reservation>& locks,
                             std::uint64_t& choice) {
  const Realm::UserEvent start = Realm::UserEvent::create_user_event();
  std::vector<Realm::Event> ends;
  micro::realm_times t;
  const double begin = micro::now_ns();
  for (int c = 0; c < r.chains; ++c) {
    Realm::Event e = start;
    for (int d = 0; d < r.depth; ++d) {
      choice = choice * 6364136223846793005u + 1442695040888963407u;
      const Realm::Reservation lock = locks[(choice >> 33) % locks.size()];
      e = lock.acquire(0, true, e);
      lock.release(e);
    }
    ends.push_back(e);
  }
  const Realm::Event last = Realm::Event::merge_events(ends);
  t.build_ns = micro::now_ns() - begin;
  t.run_ns = micro::realm_run(start, last);
  return t;
}

void measure(const row& r, double budget_ms) {
  std::vector<Realm::Reservation> locks;
  for (int i = 0; i < r.locks; ++i) {
    locks.push_back(Realm::Reservation::create_reservation());
  }
  std::uint64_t choice = 42;
  const auto t = micro::realm_rounds(budget_ms, [&] { return one_round(r, locks, choice); }, 1);
  for (Realm::Reservation& each : locks) {
    each.destroy_reservation();
  }
  micro::report_row("chains", "rate", "Kgrants/s", r.params(), r.grants() / t.run_ns * 1e6);
  micro::report_row("construction", "latency", "ns", r.params(), t.build_ns / r.grants());
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  std::vector<row> rows = lock_rows::chosen(argc, argv);
  std::erase_if(rows, [](const row& r) { return r.ranks != 1; });
  if (rows.empty()) {
    return 0;
  }
  return micro::over_realm(argc, argv, [&](Realm::Runtime&) {
    for (const row& r : rows) {
      measure(r, o.budget_ms);
    }
  });
}
