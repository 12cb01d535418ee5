#include "sinew/base/signals_blocked.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace sinew::base {

signals_blocked::signals_blocked() noexcept {
  const std::uint64_t all = ~std::uint64_t{0};
  (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
}

signals_blocked::~signals_blocked() {
  (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
}

}  // namespace sinew::base
