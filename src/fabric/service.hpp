// SPDX-License-Identifier: BSD-3-Clause
// What a back-end holds for each handler id.
#pragma once

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

/// Stands where no handler has been set: says so and ends the process. Such a message cannot be
/// kept, and an exception would leave through whoever happens to make progress.
[[noreturn]] status nobody_takes(void* context, const arrival& message) noexcept;

struct service {
  handler function = nobody_takes;
  void* context = nullptr;
};

}  // namespace sinew::fabric
