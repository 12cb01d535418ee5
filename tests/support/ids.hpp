// SPDX-License-Identifier: BSD-3-Clause
// Ranks and tags compared with plain numbers, for tests alone: EXPECT_EQ(status.source, 3).
#pragma once

#include "sinew/base/ids.hpp"

namespace sinew {

template <class Kind, class Value>
[[nodiscard]] constexpr bool operator==(id<Kind, Value> one, Value other) noexcept {
  return one.value() == other;
}

}  // namespace sinew
