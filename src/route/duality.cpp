#include "duality.hpp"

#include <algorithm>

#include "path_finder.hpp"

namespace sinew::route {

double dual_bound(const topology& net, const job_list& jobs, std::span<const double> price) {
  tree_finder trees(net, jobs);
  double needed = 0;
  double there = 0;
  for (const std::uint32_t j : trees.order()) {
    needed += static_cast<double>(jobs.bytes[j]) * trees.cost(j, price);
  }
  for (link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) > 0) there += net.capacity(l) * price[l];
  }
  return there > 0 ? needed / there : 0;
}

meeting meet(balancer& state, const topology& net, const job_list& jobs, const effort& how) {
  meeting out;
  double sharpness = how.sharpness;
  double least = state.busiest();
  int stays = 0;
  for (; out.passes < how.passes && sharpness < 5000; ++out.passes) {
    state.buy(sharpness);
    for (int k = 0; k < 6; ++k) state.even_out(sharpness);
    const double now = state.busiest();
    const double dual = dual_bound(net, jobs, state.prices());
    const bool better = dual > out.bound * 1.002 || now < least * 0.998;
    out.bound = std::max(out.bound, dual);
    least = std::min(least, now);
    if (least <= std::max(out.bound, how.floor) * (1 + how.gap)) break;
    // A dual that falls behind says that flows are not at rest at this sharpness.
    if (!better && (dual >= out.bound * 0.999 || ++stays > 4)) {
      sharpness *= 1.8;
      stays = 0;
    }
    state.rescale(now);
  }
  return out;
}

}  // namespace sinew::route
