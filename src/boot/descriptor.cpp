// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/descriptor.hpp"

#include <unistd.h>

namespace sinew::boot {

void descriptor::reset() noexcept {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

}  // namespace sinew::boot
