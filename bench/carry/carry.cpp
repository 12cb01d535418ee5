// The executor on one node beside plain copies: `sinew run -n 8 bench-carry`. Every rank sends
// `bytes` to every other over the planned paths of a torus, store and forward at every rank; a hop
// is a copy from one rank's memory to another's. The plain rate is that of all ranks copying the
// same number of bytes to their neighbours at once, message by message, and doing nothing else.
//
// `bench-carry links SHAPE [bytes]` on hosts that the cables of a torus join (`tools/hosts up
// --links`): patterns carried out over default routes and over plans, beside what was predicted.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/multipath/transfer.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/simulate.hpp"

namespace {

using sinew::now_ns;
using sinew::rma::engine;
using sinew::rma::part;

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// Seconds that all ranks need for `body`, as each of them sees it.
template <class Body>
double timed(engine& e, Body body) {
  e.sync_all();
  const auto from = now_ns();
  body();
  e.sync_all();
  return static_cast<double>(now_ns() - from) * 1e-9;
}

struct exchange {
  /// `where`: symmetric if all ranks send and receive as much.
  exchange(engine& e, const sinew::multipath::transfer& c, part where) : rma(e), of(&c) {
    const auto place = [&](auto bytes_of, std::vector<std::size_t>& at) {
      std::size_t end = 0;
      for (int r = 0; r < e.size(); ++r) {
        at.push_back(end);
        end += (bytes_of(r) + 63) / 64 * 64;
      }
      return end;
    };
    const std::size_t out = place([&](int r) { return c.bytes_to(sinew::job_rank{r}); }, send_at);
    const std::size_t in =
        place([&](int r) { return c.bytes_from(sinew::job_rank{r}); }, receive_at);
    const std::size_t most = std::max({out, in, std::size_t{64}});
    send = e.memory().allocate(where, most);
    receive = e.memory().allocate(where, most);
    std::memset(own(send), 1, out);
    std::memset(own(receive), 1, in);
  }
  ~exchange() {
    rma.sync_all();
    rma.memory().release(receive);
    rma.memory().release(send);
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  /// Each message is of its sender's and its receiver's numbers, so that a stray one is noticed.
  static int mark_of(int from, int to) { return 1 + (from * 31 + to * 7) % 255; }
  void fill() const {
    for (int r = 0; r < rma.size(); ++r) {
      std::memset(own(send) + send_at[static_cast<std::size_t>(r)], mark_of(rma.rank().value(), r),
                  of->bytes_to(sinew::job_rank{r}));
      std::memset(own(receive) + receive_at[static_cast<std::size_t>(r)], 0,
                  of->bytes_from(sinew::job_rank{r}));
    }
    rma.sync_all();
  }
  void check() const {
    for (int r = 0; r < rma.size(); ++r) {
      const std::byte* const at = own(receive) + receive_at[static_cast<std::size_t>(r)];
      const auto wanted = static_cast<std::byte>(mark_of(r, rma.rank().value()));
      const std::size_t bytes = of->bytes_from(sinew::job_rank{r});
      SINEW_CHECK(std::all_of(at, at + bytes, [&](std::byte b) { return b == wanted; }),
                  "a message did not arrive as it was sent",
                  "from rank " + std::to_string(r) + " to rank " + to_string(rma.rank()), "");
    }
  }
  [[nodiscard]] std::byte* own(std::uint64_t at) const { return rma.at({rma.rank(), at}); }

  engine& rma;
  const sinew::multipath::transfer* of;
  std::vector<std::size_t> send_at;
  std::vector<std::size_t> receive_at;
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

void measure(engine& e, const sinew::route::topology& net, std::uint64_t bytes,
             std::uint64_t chunk) {
  sinew::multipath::transfer_options o;
  o.every_hop = true;
  o.plan.costs.chunk = chunk;
  o.plan.fall_back = false;
  std::vector<std::uint64_t> row(static_cast<std::size_t>(e.size()), bytes);
  row[e.rank().index()] = 0;
  sinew::multipath::transfer c(e, net, row, o);
  const exchange x(e, c, part::symmetric);
  const sinew::job_rank next{(e.rank().value() + 1) % e.size()};
  std::vector<double> plain;
  std::vector<double> carried;
  std::vector<double> parts;  // of one repeat: the host's speed changes less within it
  for (int repeat = 0; repeat < 11; ++repeat) {
    plain.push_back(timed(e, [&] {
      std::uint64_t left = c.bytes_moved();
      for (std::uint64_t at = 0; left > 0; at = (at + bytes) % x.send_at.back()) {
        const std::uint64_t piece = std::min(left, bytes);
        std::memcpy(e.at({next, x.receive + at}), x.own(x.send) + at, piece);
        left -= piece;
      }
    }));
    carried.push_back(timed(e, [&] {
      if (!c.alltoallv(x.own(x.send), x.send_at, x.own(x.receive), x.receive_at).ok()) {
        std::abort();
      }
    }));
    parts.push_back(plain.back() / carried.back());
  }
  // All ranks move the same number of bytes: the pattern and the torus look alike from each.
  const double moved = static_cast<double>(c.bytes_moved()) * e.size() * 1e-9;
  if (e.rank() != 0) {
    return;
  }
  const std::string params = "ranks=" + std::to_string(e.size()) +
                             ",bytes=" + std::to_string(bytes) + ",chunk=" + std::to_string(chunk);
  std::printf("@ copy rate GB/s %s %.6g\n", params.c_str(), moved / median(plain));
  std::printf("@ carry rate GB/s %s %.6g\n", params.c_str(), moved / median(carried));
  std::printf("@ carry part-of-copy 1 %s %.6g\n", params.c_str(), median(parts));
}

/// Bytes per second of the cable between the first two nodes: the best of three long puts.
double cable_rate(engine& e) {
  constexpr std::size_t bytes = 1u << 20;
  const std::uint64_t box = e.memory().allocate(part::symmetric, bytes);
  const std::vector<std::byte> source(bytes);
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    e.sync_all();
    const auto from = now_ns();
    if (e.rank() == 0) {
      e.put({1, box}, source.data(), bytes);
      e.flush_all();
    }
    best = std::max(best, static_cast<double>(bytes) * 1e9 / static_cast<double>(now_ns() - from));
    e.sync_all();
  }
  // All ranks plan for themselves, so all must plan for the same cable: rank 0's.
  e.put({e.rank(), box}, &best, sizeof best);
  e.sync_all();
  e.get(&best, {0, box}, sizeof best);
  e.sync_all();
  e.memory().release(box);
  return best;
}

struct carried_out {
  double seconds;    ///< from a barrier to the next; the median of three
  double predicted;  ///< by the planner
  double flows;      ///< by the simulators
  double chunks;
};

carried_out carry_out(engine& e, const sinew::route::topology& net,
                      const sinew::route::job_list& jobs,
                      const sinew::multipath::transfer_options& o) {
  const auto plan = sinew::route::make_plan(net, jobs, o.plan);
  sinew::multipath::transfer c(e, net, plan, o);
  const exchange x(e, c, part::local);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    x.fill();
    const double took = timed(e, [&] {
      if (!c.alltoallv(x.own(x.send), x.send_at, x.own(x.receive), x.receive_at).ok()) {
        std::abort();
      }
    });
    if (repeat > 0) {  // the first makes the connections
      seconds.push_back(took);
    }
    x.check();
  }
  sinew::route::simulation_options how;
  how.costs = o.plan.costs;
  return {median(seconds), sinew::route::predict(net, plan, o.plan.costs),
          sinew::route::simulate_flows(net, plan, how).seconds,
          sinew::route::simulate_chunks(net, plan, how).seconds};
}

/// Every rank has a node of the torus to itself. Told by rank 0.
void measure_links(engine& e, const sinew::route::topology& net, std::uint64_t bytes) {
  const auto p = static_cast<std::uint32_t>(e.size());
  SINEW_CHECK(p >= 4 && p % 4 == 0, "patterns cannot be carried out over the cables",
              "their parts are quarters of the ranks, and there are " + std::to_string(p), "");
  sinew::multipath::transfer_options o;
  o.plan.fall_back = false;
  o.plan.costs = {.link_bandwidth = cable_rate(e),
                  .start_up = 50e-6,
                  .hop_latency = 10e-6,
                  .forward_latency = 50e-6,
                  .chunk = 32u << 10};
  if (e.rank() == 0) {
    std::printf("@ cable rate MB/s ranks=2 %.6g\n", o.plan.costs.link_bandwidth * 1e-6);
  }
  // The paper's kinds, in parts that 16 nodes have too.
  const std::pair<const char*, sinew::route::many_to_many> patterns[] = {
      {"disjoint", {p / 4, 0, p / 2, p / 2}},
      {"overlap", {p / 4, 0, p / 2, p / 8}},
      {"subset", {p / 4, 0, p / 2, 0}},
      {"incast", {p / 2, 0, p / 4, p / 4}},
  };
  sinew::route::pattern_options each;
  each.bytes = bytes;
  for (const auto& [name, shape] : patterns) {
    const auto jobs = sinew::route::make_many_to_many(net, shape, each);
    o.plan.how = sinew::route::method::default_route;
    const carried_out usual = carry_out(e, net, jobs, o);
    o.plan.how = sinew::route::method::balanced;
    const carried_out planned = carry_out(e, net, jobs, o);
    if (e.rank() != 0) {
      continue;
    }
    double moved = 0;  // MB
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      moved += jobs.source[j] == jobs.destination[j] ? 0 : static_cast<double>(bytes) * 1e-6;
    }
    const std::string params =
        "ranks=" + std::to_string(p) + ",bytes=" + std::to_string(bytes) + ",net=" + net.name();
    const auto row = [&](const char* metric, const char* unit, double value) {
      std::printf("@ %s %s %s %s %.6g\n", name, metric, unit, params.c_str(), value);
    };
    row("default", "MB/s", moved / usual.seconds);
    row("plan", "MB/s", moved / planned.seconds);
    row("gain", "1", usual.seconds / planned.seconds);
    row("predicted-gain", "1", usual.predicted / planned.predicted);
    row("simulated-flows", "MB/s", moved / planned.flows);
    row("simulated-chunks", "MB/s", moved / planned.chunks);
  }
}

int run(int argc, char** argv) {
  (void)sinew::settings::load_environment();
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  {
    const auto e = engine::open(*runtime);
    const bool links = argc > 2 && std::string(argv[1]) == "links";
    const std::string shape = links ? argv[2] : argc > 1 ? argv[1] : "2x2x2";
    const auto net = sinew::route::parse_topology(shape);
    if (links) {
      measure_links(*e, net, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1u << 20);
      runtime->session().finalize();
      return 0;
    }
    for (const std::uint64_t bytes : {256u << 10, 1u << 20, 4u << 20}) {
      for (const std::uint64_t chunk : {16u << 10, 64u << 10, 256u << 10}) {
        measure(*e, net, bytes, chunk);
      }
    }
  }
  runtime->session().finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench-carry: %s\n", failure.what());
    return 1;
  }
}
