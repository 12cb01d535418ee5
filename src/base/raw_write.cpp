// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/raw_write.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace sinew::base {

void raw_write(int descriptor, std::string_view text) noexcept {
  const int saved = errno;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      break;
    }
  }
  errno = saved;
}

}  // namespace sinew::base
