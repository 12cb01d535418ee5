// Realm's events, by the method of events.cpp: a chain in one process, first built, then triggered
// at its head, its end waited for. Compiled by `sinew bench events` where CMake knows Realm. Its
// rows are those with ranks=1: over several processes Realm needs a network that it was built with.
#include <realm.h>

#include "../common/micro.hpp"

namespace {

struct times {
  double build_ns, trigger_ns;
};

times one_chain(int depth) {
  std::vector<Realm::UserEvent> all(static_cast<std::size_t>(depth) + 1);
  for (auto& e : all) {
    e = Realm::UserEvent::create_user_event();
  }
  times t{};
  double begin = micro::now_ns();
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i].trigger(all[i - 1]);
  }
  t.build_ns = micro::now_ns() - begin;
  begin = micro::now_ns();
  all.front().trigger();
  all.back().external_wait();
  t.trigger_ns = micro::now_ns() - begin;
  return t;
}

// The first chain touches new pages and does not count.
void measure(int depth, double budget_ms) {
  std::vector<double> build, trigger;
  (void)one_chain(depth);
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (build.size() < 3 || micro::now_ns() < end) {
    const times t = one_chain(depth);
    build.push_back(t.build_ns);
    trigger.push_back(t.trigger_ns);
  }
  const std::string params = "depth=" + std::to_string(depth) + ",ranks=1";
  micro::report_row("chain", "latency", "ns", params, micro::median(trigger) / depth);
  micro::report_row("build", "latency", "ns", params, micro::median(build) / depth);
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  const auto depths = micro::numbers(argc, argv, "depth", {1024, 16384});
  Realm::Runtime runtime;
  runtime.init(&argc, &argv);
  for (const int depth : depths) {
    measure(depth, o.budget_ms);
  }
  runtime.shutdown();
  runtime.wait_for_shutdown();
  return 0;
}
