// Realm's events, by the method of event-throughput.cpp: levels of merges in one process. Compiled
// by `sinew bench event-throughput` where CMake knows Realm. Its rows are those with ranks=1: over
// several processes Realm needs a network that it was built with.
#include <realm.h>

#include "../common/micro.hpp"

namespace {

constexpr int levels = 8;
constexpr int tracks = 4;

struct times {
  double build_ns, trigger_ns;
};

times one_round(int fan) {
  const Realm::UserEvent start = Realm::UserEvent::create_user_event();
  std::vector<Realm::Event> ends;
  times t{};
  double begin = micro::now_ns();
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
  const Realm::Event last = Realm::Event::merge_events(ends);
  begin = micro::now_ns();
  start.trigger();
  last.external_wait();
  t.trigger_ns = micro::now_ns() - begin;
  return t;
}

// The first round touches new pages and does not count.
void measure(int fan, double budget_ms) {
  std::vector<double> build, trigger;
  (void)one_round(fan);
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (build.size() < 3 || micro::now_ns() < end) {
    const times t = one_round(fan);
    build.push_back(t.build_ns);
    trigger.push_back(t.trigger_ns);
  }
  const double events = static_cast<double>(fan) * levels * tracks * 1e6;
  const std::string params = "fan=" + std::to_string(fan) + ",ranks=1";
  for (const char* which : {"fan", "fan-shuffled"}) {  // it knows no set that is merged again
    micro::report_row(which, "rate", "Kevents/s", params, events / micro::median(trigger));
    micro::report_row((std::string(which) + "-build").c_str(), "rate", "Kevents/s", params,
                      events / micro::median(build));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  const auto fans = micro::numbers(argc, argv, "fan", {2, 16, 64, 256});
  Realm::Runtime runtime;
  runtime.init(&argc, &argv);
  for (const int fan : fans) {
    measure(fan, o.budget_ms);
  }
  runtime.shutdown();
  runtime.wait_for_shutdown();
  return 0;
}
