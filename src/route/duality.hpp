// Where the balancer's loads and its prices meet: the certificate.
#pragma once

#include <span>

#include "balancer.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Lower bound of the busiest link by duality: bytes times cheapest cost, summed over jobs, by
/// capacity times price, summed over links. Right for any prices; costs a tree per source or
/// destination.
double dual_bound(const topology& net, const job_list& jobs, std::span<const double> price);

struct effort {
  int passes;
  double gap;             ///< primal and dual this near: done
  double floor = 0;       ///< a bound known from elsewhere: a primal this low is good enough
  double sharpness = 10;  ///< to begin with
};
struct meeting {
  double bound = 0;
  int passes = 0;
};

/// Buys along cheapest paths and sharpens, until primal and dual meet or the passes are used up.
meeting meet(balancer& state, const topology& net, const job_list& jobs, const effort& how);

}  // namespace sinew::route
