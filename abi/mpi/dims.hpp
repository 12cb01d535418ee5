// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace sinew::mpi {

/// `n` as a product of `count` factors, largest first, whose first and last differ as little as can
/// be; of several such products the one whose largest factor is smallest. n >= 1, count >= 1. Takes
/// O(sqrt n) to find the divisors, of which no int has more than 1536. Cold.
[[nodiscard]] std::vector<int> balanced_factors(int n, int count);

}  // namespace sinew::mpi
