// SPDX-License-Identifier: BSD-3-Clause
// Values that mean the same in the ABI of another library and in the standard's.
#pragma once

#include <cstdint>

namespace sinew::foreign {

struct number_pair {
  int foreign;
  int standard;
};

/// Of predefined handles; the standard's are small integers.
template <class Foreign>
struct pair_of_handles {
  Foreign foreign;
  std::uint16_t standard;
};

}  // namespace sinew::foreign
