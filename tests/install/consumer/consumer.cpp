#include <cstdio>

#include "sinew/base/topology.hpp"

int main() { std::printf("%d processors\n", sinew::topology::usable_cpus()); }
