// A ring of events: number i is rank i mod n's and triggers when number i - 1 has. First the whole
// chain is built, then its head is triggered and its end waited for: time / depth. Construction is
// told beside it. (Seed 001's "event latency".)
#include "../common/ranks.hpp"
#include "sinew/event/system.hpp"

namespace {

namespace event = sinew::event;

struct sample {
  double build_ns = 0;
  double trigger_ns = 0;
};

sample one_chain(event::system& events, micro::meeting& meet, std::uint64_t* handles, int depth) {
  const int n = events.size();
  sample s;
  for (int i = events.rank(); i <= depth; i += n) {
    handles[i] = events.create().bits();
  }
  meet(events.runtime());
  const double begin = micro::now_ns();
  const int first = events.rank() == 0 ? n : events.rank();
  for (int i = first; i <= depth; i += n) {
    events.trigger(event::user_event(event::event::from_bits(handles[i])),
                   event::event::from_bits(handles[i - 1]));
  }
  meet(events.runtime());
  s.build_ns = (micro::now_ns() - begin) / depth;
  const event::event last = event::event::from_bits(handles[depth]);
  if (events.rank() == 0) {
    (void)events.look(last);  // asks for it
  }
  for (int i = 0; i < 4; ++i) {
    meet(events.runtime());
    while (events.runtime().poll() != 0) {
    }
  }
  if (events.rank() == 0) {
    const double start = micro::now_ns();
    events.trigger(event::user_event(event::event::from_bits(handles[0])));
    (void)events.wait(last);
    s.trigger_ns = (micro::now_ns() - start) / depth;
  }
  meet(events.runtime());
  return s;
}

void measure(int ranks, int depth, double budget_ms) {
  micro::shared_memory handles((static_cast<std::size_t>(depth) + 2) * sizeof(std::uint64_t));
  micro::shared_memory stop(4096);
  auto* const go_on = new (stop.as<void>()) std::atomic<int>(1);
  micro::run_ranks(ranks, [&](sinew::core::runtime& runtime, micro::meeting& meet) {
    event::system events(runtime);
    std::vector<double> build;
    std::vector<double> trigger;
    const double end = micro::now_ns() + budget_ms * 1e6;
    meet(runtime);
    for (int round = 0; go_on->load() != 0; ++round) {
      const sample s = one_chain(events, meet, handles.as<std::uint64_t>(), depth);
      if (round > 0) {  // the first one touches new pages
        build.push_back(s.build_ns);
        trigger.push_back(s.trigger_ns);
      }
      if (events.rank() == 0 && build.size() >= 3 && micro::now_ns() > end) go_on->store(0);
      meet(runtime);
    }
    if (events.rank() == 0) {
      const std::string params =
          "depth=" + std::to_string(depth) + ",ranks=" + std::to_string(ranks);
      micro::report_row("chain", "latency", "ns", params, micro::median(trigger));
      micro::report_row("build", "latency", "ns", params, micro::median(build));
    }
  });
}

/// What bounds a chain on one rank: a walk through as many records of 32 bytes, each named by the
/// one before it.
double walk(int depth, double budget_ms) {
  struct record {
    std::uint32_t next;
    std::uint32_t rest[7];
  };
  std::vector<record> all(static_cast<std::size_t>(depth) + 1);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].next = i + 1;
  std::vector<double> samples;
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (samples.size() < 5 || micro::now_ns() < end) {
    const double start = micro::now_ns();
    std::uint32_t at = 0;
    for (int i = 0; i < depth; ++i) at = all[at].next;
    micro::use(at);
    samples.push_back((micro::now_ns() - start) / depth);
  }
  return micro::median(samples);
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  for (const int depth : micro::numbers(argc, argv, "depth", {1024, 16384})) {
    if (o.floor) {
      micro::report_row("chain", "latency", "ns", "depth=" + std::to_string(depth) + ",ranks=1",
                        walk(depth, o.budget_ms));
      continue;
    }
    for (const int ranks : micro::numbers(argc, argv, "ranks", {1, 2})) {
      measure(ranks, depth, o.budget_ms);
    }
  }
  return 0;
}
