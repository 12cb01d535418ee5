// SPDX-License-Identifier: BSD-3-Clause
#include "duality.hpp"

#include <algorithm>

#include "path_finder.hpp"
#include "sinew/base/check.hpp"

namespace sinew::route {
namespace {

// The dual at averages of prices. Prices swing around the best ones from pass to pass; what they
// have in common is often a better dual solution than any of them.
class average_prices {
 public:
  average_prices(const topology& net, const job_list& jobs, const translates& same)
      : net_(net), jobs_(jobs), same_(same), mean_(net.links(), 0) {}

  double add(std::span<const double> price) {
    double sum = 0;
    for (link_id l = 0; l < net_.links(); ++l) {
      if (net_.capacity(l) > 0) {
        sum += net_.capacity(l) * price[l];
      }
    }
    if (!(sum > 0)) {
      return 0;
    }
    for (link_id l = 0; l < net_.links(); ++l) {
      mean_[l] = net_.capacity(l) > 0 ? old * mean_[l] + (1 - old) * price[l] / sum : price[l];
    }
    return dual_bound(net_, jobs_, mean_, same_);
  }

 private:
  static constexpr double old = 0.7;
  const topology& net_;
  const job_list& jobs_;
  const translates& same_;
  std::vector<double> mean_;
};

}  // namespace

double dual_bound(const topology& net, const job_list& jobs, std::span<const double> price,
                  const translates& same) {
  tree_finder trees(net, jobs, same.orbit);
  double needed = 0;
  double there = 0;
  for (const std::uint32_t j : trees.order()) {
    needed += static_cast<double>(jobs.bytes[j]) * trees.cost(j, price);
  }
  for (link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) <= 0) {
      continue;
    }
    there += net.capacity(l) * price[same.orbit.empty() ? l : same.orbit[l]];
  }
  return there > 0 ? needed * same.jobs_per_orbit / there : 0;
}

meeting meet(balancer& state, const topology& net, const job_list& jobs, const effort& how,
             const translates& same) {
  meeting out;
  out.sharpness = how.sharpness;
  average_prices averages(net, jobs, same);
  double least = state.busiest();
  int stays = 0;
  const int rounds = how.slowly ? 12 : 6;
  const auto sharpen = [&] {
    out.sharpness *= how.slowly ? 1.15 : 1.8;
    stays = 0;
  };
  for (; out.passes < how.passes && out.sharpness < 5000; ++out.passes) {
    state.buy(out.sharpness);
    for (int k = 0; k < rounds; ++k) {
      state.even_out(out.sharpness);
    }
    const double now = state.busiest();
    double dual = dual_bound(net, jobs, state.prices(), same);
    if (how.slowly) {
      dual = std::max(dual, averages.add(state.prices()));
    }
    const bool better = dual > out.bound * 1.002 || now < least * 0.998;
    out.bound = std::max(out.bound, dual);
    least = std::min(least, now);
    if (least <= std::max(out.bound, how.floor) * (1 + how.gap)) {
      break;
    }
    // A dual that falls behind says that flows are not at rest at this sharpness.
    if (how.slowly ? ++stays == 6 : !better && (dual >= out.bound * 0.999 || ++stays > 4)) {
      sharpen();
    }
    state.rescale(now);
  }
  SINEW_ENSURE(out.bound <= least * (1 + 1e-6));  // what cannot be undercut was not undercut
  return out;
}

}  // namespace sinew::route
