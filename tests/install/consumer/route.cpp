// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "sinew/route/topology.hpp"

int main() { std::printf("%u nodes\n", sinew::route::parse_topology("4x4x4").nodes()); }
