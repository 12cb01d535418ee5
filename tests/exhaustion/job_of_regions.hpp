// SPDX-License-Identifier: BSD-3-Clause
// One process of a job with events and regions, as the programs of this folder use it.
#pragma once

#include <cstdio>
#include <exception>

#include "sinew/core/job.hpp"
#include "sinew/event/system.hpp"
#include "sinew/rma/engine.hpp"

namespace exhaustion {

/// As a program should: what is thrown is said, and the process ends with a code.
template <class Body>
int run(Body body) {
  try {
    const bool good = body();
    if (!good) {
      std::fprintf(stderr, "a result is wrong\n");
    }
    return good ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "the program was told: %s\n", e.what());
    return 1;
  }
}

}  // namespace exhaustion
