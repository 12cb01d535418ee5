// Plans as pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sinew/route/plan.hpp"

namespace sinew::tool {

/// An SVG: how many links carry how much, and a map with a cell per node, coloured by the busiest
/// of its links.
std::string load_picture(const route::topology& net, const route::route_plan& plan);

/// Points with ascending x > 0.
struct curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// An SVG of curves over a logarithmic axis; y begins at 0. `mark` writes a value of x.
std::string curve_picture(const std::string& title, const std::string& y_label,
                          const std::vector<curve>& curves, std::string (*mark)(double x));

}  // namespace sinew::tool
