// SPDX-License-Identifier: BSD-3-Clause
// Levels of events: each of a level is a merge of all of the level before, `fan` of them, on the
// ranks in turn; 4 such tracks of 8 levels hang on one event. All is built, then that one is
// triggered, and a merge of the last levels waited for. Events (fan * levels * tracks) per second;
// construction beside it. (Treichler et al. 2014 (Realm): "event throughput"; it counts in this
// way, and a fan of 1 is no merge, so it begins with 2.) Sinew knows a set that is merged again,
// and counts it down once. The case "fan-shuffled" keeps it from that: each merge lists its inputs
// in another order.
//
// Words: fan=F,... ranks=R,... budget_ms=N; over=hosts for the ranks that a launcher has started.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/event_rounds.hpp"

namespace {

namespace event = sinew::event;
constexpr int levels = 8;
constexpr int tracks = 4;

struct shape {
  int fan;
  bool shuffled;  ///< no merge lists its inputs in the order of the one before

  /// Where the handles of a level stand among the words of the meeting.
  [[nodiscard]] std::size_t level(int track, int l) const {
    return (std::size_t(track) * levels + std::size_t(l)) * std::size_t(fan);
  }
  [[nodiscard]] std::size_t start() const { return level(tracks, 0); }
};

void build_level(const micro::rank_place& at, const shape& s, int track, int l,
                 std::vector<event::event>& before) {
  const auto handle = [&](std::size_t i) { return event::event::from_bits(at.meet[i]); };
  const int n = at.size;
  if (l > 0) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = handle(s.level(track, l - 1) + i);
    }
  }
  const std::size_t level = s.level(track, l);
  for (int i = at.rank; i < s.fan; i += n) {
    if (l > 0) {
      at.meet[level + std::size_t(i)] = at.events.merge(before).bits();
      if (s.shuffled) {
        std::rotate(before.begin(), before.begin() + 1, before.end());
      }
    } else {
      const event::user_event first = at.events.create();
      at.events.trigger(first, handle(s.start()));
      at.meet[level + std::size_t(i)] = first.bits();
    }
  }
  if (at.rank < s.fan) {
    at.meet.share(level + std::size_t(at.rank), std::size_t((s.fan - 1 - at.rank) / n + 1),
                  std::size_t(n));
  }
}

micro::round_times one_round(const micro::rank_place& at, const shape& s) {
  micro::round_times t;
  std::vector<event::event> before(static_cast<std::size_t>(s.fan));
  if (at.rank == 0) {
    at.meet[s.start()] = at.events.create().bits();
    at.meet.share(s.start());
  }
  at.meet();
  const double begin = micro::now_ns();
  for (int l = 0; l < levels; ++l) {
    for (int track = 0; track < tracks; ++track) {
      build_level(at, s, track, l, before);
    }
    at.meet();
  }
  t.build_ns = micro::now_ns() - begin;
  const auto last = [&] {
    std::vector<event::event> ends;
    for (int track = 0; track < tracks; ++track) {
      for (int i = 0; i < s.fan; ++i) {
        ends.push_back(
            event::event::from_bits(at.meet[s.level(track, levels - 1) + std::size_t(i)]));
      }
    }
    return at.events.merge(ends);
  };
  t.trigger_ns = micro::trigger_and_wait(
      at, [&] { return event::event::from_bits(at.meet[s.start()]); }, last);
  return t;
}

std::string params_of(int fan, int ranks, const char* tail) {
  return "fan=" + std::to_string(fan) + ",ranks=" + std::to_string(ranks) + tail;
}

bool measure(micro::rank_source& from, int ranks, int fan, bool shuffled, double budget_ms) {
  const shape s{fan, shuffled};
  return micro::event_rounds(
      from, ranks, budget_ms, [&](const micro::rank_place& at) { return one_round(at, s); },
      [&](double build_ns, double trigger_ns, double line_ns) {
        const double count = double(fan) * levels * tracks;
        const std::string params = params_of(fan, ranks, from.tail());
        const std::string which = shuffled ? "fan-shuffled" : "fan";
        micro::report_row(which.c_str(), "rate", "Kevents/s", params, count / trigger_ns * 1e6,
                          line_ns);
        micro::report_row((which + "-build").c_str(), "rate", "Kevents/s", params,
                          count / build_ns * 1e6, line_ns);
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
  micro::rank_source from(argc, argv);
  const auto fans = micro::numbers(argc, argv, "fan", {2, 16, 64, 256});
  if (o.floor) {
    for (const int fan : from.launched() ? std::vector<int>{} : fans) {
      micro::report_row("fan-shuffled", "rate", "Kevents/s", params_of(fan, 1, ""),
                        count_down(fan, o.budget_ms));
    }
    return 0;
  }
  for (const int fan : fans) {
    for (const int ranks : from.numbers({1, 2})) {
      if (!measure(from, ranks, fan, false, o.budget_ms) ||
          !measure(from, ranks, fan, true, o.budget_ms)) {
        return 3;
      }
    }
  }
  return 0;
}
