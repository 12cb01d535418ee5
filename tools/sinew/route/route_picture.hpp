// SPDX-License-Identifier: BSD-3-Clause
// Plans as pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sinew/route/plan.hpp"

namespace sinew::tool {

/// Bytes on each link, and what to call them.
struct named_loads {
  std::string name;
  std::vector<double> bytes;
};

/// An SVG: a map for each direction of each dimension of a grid (of other networks: for the links
/// between each two levels), with a cell for each link, coloured by the bytes on each of its
/// cables; the maps of all of `loads`, the last of which is the one that matters, in one scale; and
/// the links from the busiest on as curves, with the bound as a line if it is more than 0. `whose`:
/// behind the network's name in the title.
std::string load_picture(const route::topology& net, const std::vector<named_loads>& loads,
                         double bound, const std::string& whose);
/// The same of a plan, beside others.
std::string load_picture(const route::topology& net, const route::route_plan& plan,
                         const std::vector<named_loads>& beside);

/// Points with ascending x > 0.
struct curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// What a picture of curves says of itself and of its axes.
struct curve_words {
  std::string title;
  std::string x, y;
};

/// An SVG of curves over a logarithmic x axis.
std::string curve_picture(const curve_words& words, const std::vector<curve>& curves);

}  // namespace sinew::tool
