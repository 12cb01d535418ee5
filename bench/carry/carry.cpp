// The executor on one node beside plain copies: `sinew run -n 8 bench-carry`. Every rank sends
// `bytes` to every other over the planned paths of a torus, store and forward at every rank; a hop
// is a copy from one rank's memory to another's. The plain rate is that of all ranks copying the
// same number of bytes to their neighbours at once, message by message, and doing nothing else.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/multipath/transfer.hpp"

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
  exchange(engine& e, const sinew::multipath::transfer& c) : rma(e) {
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
    send = e.memory().allocate(part::symmetric, std::max(out, in));
    receive = e.memory().allocate(part::symmetric, std::max(out, in));
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
  [[nodiscard]] std::byte* own(std::uint64_t at) const { return rma.at({rma.rank(), at}); }

  engine& rma;
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
  const exchange x(e, c);
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

int run(int argc, char** argv) {
  (void)sinew::settings::load_environment();
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  {
    const auto e = engine::open(*runtime);
    const std::string shape = argc > 1 ? argv[1] : "2x2x2";
    const auto net = sinew::route::parse_topology(shape);
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
