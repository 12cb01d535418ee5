// SPDX-License-Identifier: BSD-3-Clause
// Realm's events, by the method of events.cpp: a chain in one process, first built, then triggered
// at its head, its end waited for. Its rows are those with ranks=1.
#include "../common/realm.hpp"

#include <string>
#include <vector>

namespace {

micro::realm_times one_chain(int depth) {
  std::vector<Realm::UserEvent> all(static_cast<std::size_t>(depth) + 1);
  for (auto& e : all) {
    e = Realm::UserEvent::create_user_event();
  }
  micro::realm_times t;
  const double begin = micro::now_ns();
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i].trigger(all[i - 1]);
  }
  t.build_ns = micro::now_ns() - begin;
  t.run_ns = micro::realm_run(all.front(), all.back());
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  const auto depths = micro::numbers(argc, argv, "depth", {1024, 16384});
  return micro::over_realm(argc, argv, [&](Realm::Runtime&) {
    for (const int depth : depths) {
      const auto t = micro::realm_rounds(o.budget_ms, [depth] { return one_chain(depth); });
      const std::string params = "depth=" + std::to_string(depth) + ",ranks=1";
      micro::report_row("chain", "latency", "ns", params, t.run_ns / depth);
      micro::report_row("build", "latency", "ns", params, t.build_ns / depth);
    }
  });
}
