// SPDX-License-Identifier: BSD-3-Clause
// The executor on one node beside plain copies: `sinew run -n 8 bench-carry`. Every rank sends
// `bytes` to every other over the planned paths of a torus, store and forward at every rank; a hop
// is a copy from one rank's memory to another's. The plain rate is that of all ranks copying the
// same number of bytes to their neighbours at once, message by message, and doing nothing else.
//
// `bench-carry links SHAPE [bytes]` on hosts that the cables of a torus join (`tools/hosts up
// --links`): links.hpp.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "links.hpp"
#include "sinew/base/settings.hpp"

namespace {

using carry::engine;
using carry::exchange;
using carry::median;
using carry::part;
using carry::timed;

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

int run(int argc, char** argv) {
  (void)sinew::settings::load_environment();
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  {
    const auto e = engine::open(*runtime);
    const bool links = argc > 2 && std::string(argv[1]) == "links";
    const std::string shape = links ? argv[2] : argc > 1 ? argv[1] : "2x2x2";
    const auto net = sinew::route::parse_topology(shape);
    if (links) {
      carry::measure_links(*e, net, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1u << 20);
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
