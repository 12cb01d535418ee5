// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds of the busiest link that cost little.
#pragma once

#include <string>

#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Bytes per cable that no plan can avoid on its busiest link, and what proves it.
struct proof {
  double bytes = 0;
  std::string by;
  void raise(double other, const std::string& reason) {
    if (other > bytes) {
      bytes = other;
      by = reason;
    }
  }
};

/// What leaves and enters each node; what grids must carry in each dimension.
proof simple_bounds(const topology& net, const job_list& jobs);

/// Whether one tree per source (or destination) is affordable on this network.
bool trees_are_cheap(const topology& net, const job_list& jobs, double passes);

/// How many times all those trees can be grown within `links` visits of links, up to `most`.
int affordable_trees(const topology& net, const job_list& jobs, double links, int most);

}  // namespace sinew::route
