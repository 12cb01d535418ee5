// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/service.hpp"

#include <cstdlib>

#include "sinew/base/last_words.hpp"

namespace sinew::fabric {

status nobody_takes(void* /*context*/, const arrival& message) noexcept {
  base::last_words()
      .add("sinew: rank ")
      .add_number(message.source.index())
      .add(
          " has sent a message before this rank has made what takes it (an event::system, say): "
          "make it on every rank before one of them sends.\n")
      .write();
  std::abort();
}

}  // namespace sinew::fabric
