// One write(2) for a whole text, so that lines of different processes do not tear each other.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace sinew::base {

/// Writes all of `text`; goes on after interruptions and short writes; gives up silently on other
/// errors, because the caller is itself the last resort for reporting. Keeps errno.
inline void raw_write(int descriptor, std::string_view text) noexcept {
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
