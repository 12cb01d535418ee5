// SPDX-License-Identifier: BSD-3-Clause
// Where the balancer's loads and its prices meet: the certificate.
#pragma once

#include <span>
#include <vector>

#include "balancer.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Where one job stands for all its translates: the link that stands for each link, and how many
/// jobs each one stands for.
struct translates {
  std::span<const link_id> orbit;
  double jobs_per_orbit = 1;
};

/// Lower bound of the busiest link by duality: bytes times cheapest cost, summed over jobs, by
/// capacity times price, summed over links. Right for any prices; costs a tree per source or
/// destination.
double dual_bound(const topology& net, const job_list& jobs, std::span<const double> price,
                  const translates& same = {});

struct effort {
  int passes;
  double gap;             ///< primal and dual this near: done
  double floor = 0;       ///< a bound known from elsewhere: a primal this low is good enough
  double sharpness = 10;  ///< to begin with
  /// Sharpen little by little, and also try averages of prices, which costs one more dual a pass.
  bool slowly = false;
};
struct meeting {
  double bound = 0;
  int passes = 0;
  double sharpness = 0;  ///< at which it ended
};

/// Buys along cheapest paths and sharpens, until primal and dual meet or the passes are used up.
meeting meet(balancer& state, const topology& net, const job_list& jobs, const effort& how,
             const translates& same = {});

}  // namespace sinew::route
