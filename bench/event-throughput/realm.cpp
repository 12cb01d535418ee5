// SPDX-License-Identifier: BSD-3-Clause
// Realm's events, by the method of event-throughput.cpp: levels of merges in one process. Its rows
// are those with ranks=1.
#include "../common/realm.hpp"

#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int levels = 8;
constexpr int tracks = 4;

micro::realm_times one_round(int fan) {
  const Realm::UserEvent start = Realm::UserEvent::create_user_event();
  std::vector<Realm::Event> ends;
  micro::realm_times t;
  const double begin = micro::now_ns();
  for (int track = 0; track < tracks; ++track) {
    std::vector<Realm::Event> before;
    for (int i = 0; i < fan; ++i) {
      const Realm::UserEvent first = Realm::UserEvent::create_user_event();
      first.trigger(start);
      before.push_back(first);
    }
    for (int l = 1; l < levels; ++l) {
      std::vector<Realm::Event> level;
      for (int i = 0; i < fan; ++i) {
        level.push_back(Realm::Event::merge_events(before));
      }
      before = std::move(level);
    }
    ends.insert(ends.end(), before.begin(), before.end());
  }
  t.build_ns = micro::now_ns() - begin;
  t.run_ns = micro::realm_run(start, Realm::Event::merge_events(ends));
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  const auto fans = micro::numbers(argc, argv, "fan", {2, 16, 64, 256});
  return micro::over_realm(argc, argv, [&](Realm::Runtime&) {
    for (const int fan : fans) {
      const auto t = micro::realm_rounds(o.budget_ms, [fan] { return one_round(fan); });
      const double events = static_cast<double>(fan) * levels * tracks * 1e6;
      const std::string params = "fan=" + std::to_string(fan) + ",ranks=1";
      for (const char* which : {"fan", "fan-shuffled"}) {  // it knows no set that is merged again
        micro::report_row(which, "rate", "Kevents/s", params, events / t.run_ns);
        micro::report_row((std::string(which) + "-build").c_str(), "rate", "Kevents/s", params,
                          events / t.build_ns);
      }
    }
  });
}
