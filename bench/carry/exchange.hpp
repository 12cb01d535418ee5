// SPDX-License-Identifier: BSD-3-Clause
// What both ways to measure share: messages of all ranks, timed between barriers.
#ifndef SINEW_BENCH_CARRY_EXCHANGE_HPP
#define SINEW_BENCH_CARRY_EXCHANGE_HPP

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/multipath/transfer.hpp"

namespace carry {

using sinew::now_ns;
using sinew::rma::engine;
using sinew::rma::part;

inline double median(std::vector<double> v) {
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

}  // namespace carry

#endif
