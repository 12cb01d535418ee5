// SPDX-License-Identifier: BSD-3-Clause
// A ring of events: number i is rank i mod n's and triggers when number i - 1 has. First the whole
// chain is built, then its head is triggered and its end waited for: time / depth. Construction is
// told beside it. (Treichler et al. 2014 (Realm): "event latency".)
//
// Words: depth=N,... ranks=R,... budget_ms=N; over=hosts for the ranks that a launcher has started.
// With "floor": a walk through memory; over hosts the trip of a bare active message.
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/event_rounds.hpp"

namespace {

namespace event = sinew::event;

micro::round_times one_chain(const micro::rank_place& at, int depth) {
  const auto number = [&](int i) { return event::event::from_bits(at.meet[std::size_t(i)]); };
  const int n = at.size;
  micro::round_times t;
  for (int i = at.rank; i <= depth; i += n) {
    at.meet[std::size_t(i)] = at.events.create().bits();
  }
  if (at.rank <= depth) {
    at.meet.share(std::size_t(at.rank), std::size_t((depth - at.rank) / n + 1), std::size_t(n));
  }
  at.meet();
  const double begin = micro::now_ns();
  const int first = at.rank == 0 ? n : at.rank;
  for (int i = first; i <= depth; i += n) {
    at.events.trigger(event::user_event(number(i)), number(i - 1));
  }
  at.meet();
  t.build_ns = micro::now_ns() - begin;
  t.trigger_ns =
      micro::trigger_and_wait(at, [&] { return number(0); }, [&] { return number(depth); });
  return t;
}

std::string params_of(int depth, int ranks, const char* tail) {
  return "depth=" + std::to_string(depth) + ",ranks=" + std::to_string(ranks) + tail;
}

bool measure(micro::rank_source& from, int ranks, int depth, double budget_ms) {
  return micro::event_rounds(
      from, ranks, budget_ms, [&](const micro::rank_place& at) { return one_chain(at, depth); },
      [&](double build_ns, double trigger_ns, double line_ns) {
        const std::string params = params_of(depth, ranks, from.tail());
        micro::report_row("chain", "latency", "ns", params, trigger_ns / depth, line_ns);
        micro::report_row("build", "latency", "ns", params, build_ns / depth, line_ns);
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

/// What bounds a chain over hosts: a short message of the fabric that the handlers of ranks 0 and 1
/// pass to each other while both wait, as often as the chain has links.
class message_trips {
 public:
  explicit message_trips(sinew::core::runtime& runtime) : runtime_(runtime) {
    runtime.endpoint().set_handler(handler, take, this);
    runtime.session().fence();
  }
  /// Nanoseconds of one; on rank 0.
  double measure(int trips, double budget_ms) {
    trips += trips % 2;  // so that the last one comes to rank 0
    std::vector<double> samples;
    const double end = micro::now_ns() + budget_ms * 1e6;
    for (bool warm = false; samples.size() < 3 || micro::now_ns() < end; warm = true) {
      ended_.store(false);
      const double start = micro::now_ns();
      send(static_cast<std::uint64_t>(trips) - 1);
      wait();
      if (warm) {
        samples.push_back((micro::now_ns() - start) / trips);
      }
    }
    return micro::median(samples);
  }
  /// Rank 0 measures no more.
  void end() { send(no_more); }
  void wait() {
    runtime_.wait_until([](void* self) { return static_cast<message_trips*>(self)->ended_.load(); },
                        this);
  }

 private:
  static constexpr sinew::fabric::handler_id handler = sinew::fabric::max_handlers - 1;
  static constexpr std::uint64_t no_more = ~std::uint64_t{0};

  static sinew::status take(void* self, const sinew::fabric::arrival& m) noexcept {
    auto& me = *static_cast<message_trips*>(self);
    const std::uint64_t left = m.head.word[0];
    if (left == 0 || left == no_more) {
      me.ended_.store(true);
      return {};
    }
    return me.runtime_.endpoint().send_short(m.source, handler, {{left - 1, 0}}, nullptr, 0);
  }
  void send(std::uint64_t left) {
    while (!runtime_.endpoint().send_short(1, handler, {{left, 0}}, nullptr, 0).done()) {
      (void)runtime_.poll();
    }
  }

  sinew::core::runtime& runtime_;
  std::atomic<bool> ended_{false};
};

void report_floor(micro::rank_source& from, const std::vector<int>& depths, double budget_ms) {
  const int ranks = from.launched() ? from.numbers({}).front() : 1;
  const auto tell = [&](int depth, double ns) {
    micro::report_row("chain", "latency", "ns", params_of(depth, ranks, from.tail()), ns);
  };
  if (ranks == 1) {
    for (const int depth : depths) {
      tell(depth, walk(depth, budget_ms));
    }
    return;
  }
  message_trips trips(from.runtime());
  if (from.runtime().rank() == 0) {
    for (const int depth : depths) {
      tell(depth, trips.measure(depth, budget_ms));
    }
    trips.end();
  } else if (from.runtime().rank() == 1) {
    trips.wait();  // its handler answers meanwhile
  }
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  micro::rank_source from(argc, argv);
  const auto depths = micro::numbers(argc, argv, "depth", {1024, 16384});
  if (o.floor) {
    report_floor(from, depths, o.budget_ms);
    return 0;
  }
  for (const int depth : depths) {
    for (const int ranks : from.numbers({1, 2})) {
      if (!measure(from, ranks, depth, o.budget_ms)) {
        return 3;
      }
    }
  }
  return 0;
}
