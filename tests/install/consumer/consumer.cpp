// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "sinew/base/topology.hpp"

int main() { std::printf("%d processors\n", sinew::topology::usable_cpus()); }
