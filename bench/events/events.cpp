// A ring of events: number i is rank i mod n's and triggers when number i - 1 has. First the whole
// chain is built, then its head is triggered and its end waited for: time / depth. Construction is
// told beside it. (Treichler et al. 2014 (Realm): "event latency".)
//
// Words: depth=N,... ranks=R,... budget_ms=N; over=hosts for the ranks that a launcher has started.
// With "floor": a walk through memory; over hosts the trip of a bare active message.
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

/// What bounds a chain over hosts: ranks 0 and 1 send each other one short message of the fabric in
/// turn, and the handler of it answers. Half of the way there and back.
class message_trips {
 public:
  explicit message_trips(sinew::core::runtime& runtime) : runtime_(runtime) {
    runtime.endpoint().set_handler(handler, take, this);
    runtime.session().fence();
  }
  double measure(double budget_ms) {
    constexpr int batch = 200;
    if (runtime_.rank() != 0) {
      if (runtime_.rank() == 1) {
        wait_for(-1);  // its handler answers
      }
      return 0;
    }
    std::vector<double> samples;
    const double end = micro::now_ns() + budget_ms * 1e6;
    long n = 0;
    for (bool warm = false; samples.size() < 5 || micro::now_ns() < end; warm = true) {
      const double start = micro::now_ns();
      for (int i = 0; i < batch; ++i) {
        send(++n);
        wait_for(n);
      }
      if (warm) {
        samples.push_back((micro::now_ns() - start) / (2 * batch));
      }
    }
    send(-1);
    return micro::median(samples);
  }

 private:
  static constexpr sinew::fabric::handler_id handler = sinew::fabric::max_handlers - 1;

  static sinew::status take(void* self, const sinew::fabric::arrival& m) noexcept {
    auto& me = *static_cast<message_trips*>(self);
    if (me.runtime_.rank() != 0 && m.head.word[0] != ~std::uint64_t{0}) {
      return me.runtime_.endpoint().send_short(m.source, handler, m.head, nullptr, 0);
    }
    me.seen_.store(static_cast<long>(m.head.word[0]), std::memory_order_release);
    return {};
  }
  void send(long n) {
    const sinew::fabric::header head{{static_cast<std::uint64_t>(n), 0}};
    while (!runtime_.endpoint().send_short(1, handler, head, nullptr, 0).done()) {
      (void)runtime_.poll();
    }
  }
  void wait_for(long n) {
    wanted_ = n;
    runtime_.wait_until(
        [](void* self) {
          const auto& me = *static_cast<message_trips*>(self);
          return me.seen_.load(std::memory_order_acquire) == me.wanted_;
        },
        this);
  }

  sinew::core::runtime& runtime_;
  std::atomic<long> seen_{0};
  long wanted_ = 0;
};

void report_floor(micro::rank_source& from, const std::vector<int>& depths, double budget_ms) {
  const int ranks = from.launched() ? from.numbers({}).front() : 1;
  double trip = 0;
  if (ranks > 1) {
    trip = message_trips(from.runtime()).measure(budget_ms);
    if (from.runtime().rank() != 0) {
      return;
    }
  }
  for (const int depth : depths) {
    micro::report_row("chain", "latency", "ns", params_of(depth, ranks, from.tail()),
                      ranks > 1 ? trip : walk(depth, budget_ms));
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
