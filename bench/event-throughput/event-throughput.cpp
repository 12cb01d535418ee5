// Levels of events: each of a level is a merge of all of the level before, `fan` of them, on the
// ranks in turn; 4 such tracks of 8 levels hang on one event. All is built, then that one is
// triggered, and a merge of the last levels waited for. Events (fan * levels * tracks) per second;
// construction beside it. (Treichler et al. 2014 (Realm): "event throughput"; it counts in this
// way, and a fan of 1 is no merge, so it begins with 2.) Sinew knows a set that is merged again,
// and counts it down once. The case "fan-shuffled" keeps it from that: each merge lists its inputs
// in another order.
#include <algorithm>

#include "../common/event_rounds.hpp"

namespace {

namespace event = sinew::event;
constexpr int levels = 8;
constexpr int tracks = 4;

struct shape {
  int fan;
  std::uint64_t* handles;  ///< of tracks * levels * fan events, then the start
  bool shuffled;           ///< no merge lists its inputs in the order of the one before

  [[nodiscard]] std::uint64_t* level(int track, int l) const {
    return handles + (track * levels + l) * fan;
  }
  [[nodiscard]] std::uint64_t& start() const { return handles[tracks * levels * fan]; }
};

void build_level(event::system& events, const shape& s, int track, int l,
                 std::vector<event::event>& before) {
  const int n = events.size();
  if (l > 0) {
    for (int i = 0; i < s.fan; ++i) {
      before[static_cast<std::size_t>(i)] = event::event::from_bits(s.level(track, l - 1)[i]);
    }
  }
  for (int i = events.rank().value(); i < s.fan; i += n) {
    if (l > 0) {
      s.level(track, l)[i] = events.merge(before).bits();
      if (s.shuffled) {
        std::rotate(before.begin(), before.begin() + 1, before.end());
      }
    } else {
      const event::user_event first = events.create();
      events.trigger(first, event::event::from_bits(s.start()));
      s.level(track, l)[i] = first.bits();
    }
  }
}

micro::round_times one_round(event::system& events, micro::meeting& meet, const shape& s) {
  micro::round_times t;
  std::vector<event::event> before(static_cast<std::size_t>(s.fan));
  if (events.rank() == 0) {
    s.start() = events.create().bits();
  }
  meet(events.runtime());
  const double begin = micro::now_ns();
  for (int l = 0; l < levels; ++l) {
    for (int track = 0; track < tracks; ++track) {
      build_level(events, s, track, l, before);
    }
    meet(events.runtime());
  }
  t.build_ns = micro::now_ns() - begin;
  const auto last = [&] {
    std::vector<event::event> ends;
    for (int track = 0; track < tracks; ++track) {
      for (int i = 0; i < s.fan; ++i) {
        ends.push_back(event::event::from_bits(s.level(track, levels - 1)[i]));
      }
    }
    return events.merge(ends);
  };
  t.trigger_ns = micro::trigger_and_wait(
      events, meet, [&] { return event::event::from_bits(s.start()); }, last);
  return t;
}

void measure(int ranks, int fan, bool shuffled, double budget_ms) {
  const int count = fan * levels * tracks;
  const micro::shared_memory handles((static_cast<std::size_t>(count) + 1) * sizeof(std::uint64_t));
  const shape s{fan, handles.as<std::uint64_t>(), shuffled};
  micro::event_rounds(
      ranks, budget_ms,
      [&](event::system& events, micro::meeting& meet) { return one_round(events, meet, s); },
      [&](double build_ns, double trigger_ns) {
        const std::string params = "fan=" + std::to_string(fan) + ",ranks=" + std::to_string(ranks);
        const std::string which = shuffled ? "fan-shuffled" : "fan";
        micro::report_row(which.c_str(), "rate", "Kevents/s", params, count / trigger_ns * 1e6);
        micro::report_row((which + "-build").c_str(), "rate", "Kevents/s", params,
                          count / build_ns * 1e6);
      });
}

/// What bounds it on one rank: as many counters counted down, in the order of the graph.
double count_down(int fan, double budget_ms) {
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(fan) * levels * tracks);
  std::vector<double> samples;
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (samples.size() < 3 || micro::now_ns() < end) {
    const double start = micro::now_ns();
    for (std::size_t l = 0; l < counters.size(); l += static_cast<std::size_t>(fan)) {
      for (int input = 0; input < fan; ++input) {
        for (int i = 0; i < fan; ++i) {
          --counters[l + static_cast<std::size_t>(i)];
        }
        micro::use(counters[l]);
      }
    }
    samples.push_back(static_cast<double>(counters.size()) / (micro::now_ns() - start) * 1e6);
  }
  return micro::median(samples);
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  for (const int fan : micro::numbers(argc, argv, "fan", {2, 16, 64, 256})) {
    if (o.floor) {
      micro::report_row("fan-shuffled", "rate", "Kevents/s",
                        "fan=" + std::to_string(fan) + ",ranks=1", count_down(fan, o.budget_ms));
      continue;
    }
    for (const int ranks : micro::numbers(argc, argv, "ranks", {1, 2})) {
      measure(ranks, fan, false, o.budget_ms);
      measure(ranks, fan, true, o.budget_ms);
    }
  }
  return 0;
}
