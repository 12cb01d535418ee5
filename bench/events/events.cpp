// A ring of events: number i is rank i mod n's and triggers when number i - 1 has. First the whole
// chain is built, then its head is triggered and its end waited for: time / depth. Construction is
// told beside it. (Treichler et al. 2014 (Realm): "event latency".)
#include "../common/event_rounds.hpp"

namespace {

namespace event = sinew::event;

micro::round_times one_chain(event::system& events, micro::meeting& meet, std::uint64_t* handles,
                             int depth) {
  const auto number = [&](int i) { return event::event::from_bits(handles[i]); };
  const int n = events.size();
  micro::round_times t;
  for (int i = events.rank().value(); i <= depth; i += n) {
    handles[i] = events.create().bits();
  }
  meet(events.runtime());
  const double begin = micro::now_ns();
  const int first = events.rank() == 0 ? n : events.rank().value();
  for (int i = first; i <= depth; i += n) {
    events.trigger(event::user_event(number(i)), number(i - 1));
  }
  meet(events.runtime());
  t.build_ns = micro::now_ns() - begin;
  t.trigger_ns = micro::trigger_and_wait(
      events, meet, [&] { return number(0); }, [&] { return number(depth); });
  return t;
}

void measure(int ranks, int depth, double budget_ms) {
  const micro::shared_memory handles((static_cast<std::size_t>(depth) + 2) * sizeof(std::uint64_t));
  micro::event_rounds(
      ranks, budget_ms,
      [&](event::system& events, micro::meeting& meet) {
        return one_chain(events, meet, handles.as<std::uint64_t>(), depth);
      },
      [&](double build_ns, double trigger_ns) {
        const std::string params =
            "depth=" + std::to_string(depth) + ",ranks=" + std::to_string(ranks);
        micro::report_row("chain", "latency", "ns", params, trigger_ns / depth);
        micro::report_row("build", "latency", "ns", params, build_ns / depth);
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
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i].next = i + 1;
  }
  std::vector<double> samples;
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (samples.size() < 5 || micro::now_ns() < end) {
    const double start = micro::now_ns();
    std::uint32_t at = 0;
    for (int i = 0; i < depth; ++i) {
      at = all[at].next;
    }
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
