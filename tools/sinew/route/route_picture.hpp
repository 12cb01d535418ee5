// Plans as pictures.
#pragma once

#include <string>

#include "sinew/route/plan.hpp"

namespace sinew::tool {

/// An SVG: how many links carry how much, and a map with a cell per node, coloured by the busiest
/// of its links.
std::string load_picture(const route::topology& net, const route::route_plan& plan);

}  // namespace sinew::tool
