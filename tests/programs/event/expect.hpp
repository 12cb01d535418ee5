// SPDX-License-Identifier: BSD-3-Clause
// For programs of sinew::job: expectations that are told and counted.
#pragma once

#include <cstdio>

inline int failures = 0;

inline void expect(bool good, const char* what) {
  if (!good) {
    std::fprintf(stderr, "failed: %s\n", what);
    ++failures;
  }
}
