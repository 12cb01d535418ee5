// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sinew::base {
namespace {

long call(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool join_membarrier(within who) noexcept {
  const bool process = who == within::process;
  const int join = process ? MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
                           : MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  const int fence = process ? MEMBARRIER_CMD_PRIVATE_EXPEDITED : MEMBARRIER_CMD_GLOBAL_EXPEDITED;
  const long known = call(MEMBARRIER_CMD_QUERY);
  return known >= 0 && (known & join) != 0 && (known & fence) != 0 && call(join) == 0;
}

void membarrier(within who) noexcept {
  (void)call(who == within::process ? MEMBARRIER_CMD_PRIVATE_EXPEDITED
                                    : MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace sinew::base
