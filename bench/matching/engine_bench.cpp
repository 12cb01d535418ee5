// SPDX-License-Identifier: BSD-3-Clause
// What one engine call costs, without any transport: nanoseconds per insertion of a receive, and
// per post+arrive pair that matches, at growing depth of other entries; and the memory that
// matching takes for each. A plain program; its rows are for people.
// `engine_bench [repetitions [deepest [engine...]]]`; the median of the repetitions is printed.

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sinew/match/engine.hpp"

namespace {

using namespace sinew::match;

double now_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

struct row {
  double insert_ns;      ///< one post() while filling to the depth (0 at depth 0)
  double posted_ns;      ///< post + arrive, `depth` other receives posted before
  double unexpected_ns;  ///< arrive + post, `depth` other messages waiting before
  double any_source_ns;  ///< arrive + post from any source, the same
  double receive_bytes;  ///< an engine takes so much for each of `depth` receives, its links too
  double message_bytes;  ///< the same of messages, once a wildcard has been looked for
};

double allocated_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

double bytes_each(double before, std::size_t depth, std::size_t links) {
  if (depth == 0) {
    return 0;
  }
  return (allocated_bytes() - before) / static_cast<double>(depth) + static_cast<double>(links);
}

/// `pairs` of first(entry) then second(entry), which must leave the engine as it was.
template <class Fn>
double per_pair(int pairs, Fn&& pair) {
  for (int i = 0; i < pairs / 4 + 1; ++i) {
    pair();
  }
  const double start = now_ns();
  for (int i = 0; i < pairs; ++i) {
    pair();
  }
  return (now_ns() - start) / pairs;
}

row measure(std::string_view name, std::size_t depth, int stride, int pairs) {
  row result{};
  std::vector<receive> receives(depth);
  std::vector<message> messages(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    receives[i].wanted = {1, sinew::message_tag{static_cast<std::int32_t>(i + 1) * stride}};
    messages[i].sent = receives[i].wanted;
  }
  receive r{{1, 0}, {}};
  receive any{{any_source, 0}, {}};
  message m{{1, 0}, {}};
  {
    const double before = allocated_bytes();
    const auto e = make_engine(name);
    for (receive& x : receives) {
      (void)e->post(x);  // warm: the table grows here
    }
    result.receive_bytes = bytes_each(before, depth, sizeof(receive) - sizeof(envelope));
    for (receive& x : receives) {
      (void)e->cancel(x);
    }
    const double start = now_ns();
    for (receive& x : receives) {
      (void)e->post(x);
    }
    result.insert_ns = depth == 0 ? 0 : (now_ns() - start) / static_cast<double>(depth);
    result.posted_ns = per_pair(pairs, [&] {
      if (e->post(r) != nullptr || e->arrive(m) != &r) {
        std::abort();
      }
    });
  }
  const double before = allocated_bytes();
  const auto e = make_engine(name);
  for (message& x : messages) {
    (void)e->arrive(x);
  }
  (void)e->peek({any_source, 0});
  result.message_bytes = bytes_each(before, depth, sizeof(message) - sizeof(envelope));
  result.unexpected_ns = per_pair(pairs, [&] {
    if (e->arrive(m) != nullptr || e->post(r) != &m) {
      std::abort();
    }
  });
  result.any_source_ns = per_pair(pairs, [&] {
    if (e->arrive(m) != nullptr || e->post(any) != &m) {
      std::abort();
    }
  });
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  const std::size_t deepest = argc > 2 ? static_cast<std::size_t>(std::atol(argv[2])) : 32768;
  std::vector<std::string_view> names(argv + std::min(argc, 3), argv + argc);
  if (names.empty()) {
    names.assign(engine_names().begin(), engine_names().end());
  }
  std::printf("%-8s %7s %7s %10s %15s %15s %18s %10s %10s\n", "", "depth", "stride", "insert ns",
              "post+arrive ns", "arrive+post ns", "arrive+any-src ns", "B/receive", "B/message");
  for (int stride : {1, 1021}) {
    for (std::size_t depth :
         {0, 1, 2, 4, 6, 8, 9, 10, 12, 16, 24, 32, 64, 256, 1024, 8192, 32768}) {
      if (depth > deepest) {
        continue;
      }
      std::vector<std::vector<row>> rows(names.size());
      for (int i = 0; i < repetitions; ++i) {  // in turn: the machine may change its pace
        for (std::size_t n = 0; n < names.size(); ++n) {
          const bool slow = names[n] != "hash" && depth > 64;
          const int pairs = slow ? static_cast<int>(4'000'000 / depth) + 10 : 200'000;
          rows[n].push_back(measure(names[n], depth, stride, pairs));
        }
      }
      for (std::size_t n = 0; n < names.size(); ++n) {
        const auto typical = [&](double row::* part) {
          std::vector<double> all;
          for (const row& r : rows[n]) {
            all.push_back(r.*part);
          }
          return median(std::move(all));
        };
        std::printf("%-8s %7zu %7d %10.1f %15.1f %15.1f %18.1f %10.0f %10.0f\n", names[n].data(),
                    depth, stride, typical(&row::insert_ns), typical(&row::posted_ns),
                    typical(&row::unexpected_ns), typical(&row::any_source_ns),
                    typical(&row::receive_bytes), typical(&row::message_bytes));
      }
      std::fflush(stdout);
    }
  }
}
