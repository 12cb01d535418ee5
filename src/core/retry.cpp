// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/retry.hpp"

#include <sched.h>

#include <string>

#include "core/idler.hpp"
#include "core/runtime_impl.hpp"
#include "sinew/base/log.hpp"

namespace sinew::core {
namespace {

/// Idle tries between looks at the clock.
constexpr std::uint32_t tries_per_look = 64;

}  // namespace

void retry_loop::again() {
  if (rt_.poll_before_wait() != 0) {
    quiet_since_ns_ = 0;
    return;
  }
  sched_yield();  // Wait: watch() reports it.
  if (++idle_ % tries_per_look == 0) {
    watch();
  }
}

void retry_loop::watch() {
  const auto now = static_cast<std::uint64_t>(now_ns());
  since_ns_ = since_ns_ == 0 ? now : since_ns_;
  quiet_since_ns_ = quiet_since_ns_ == 0 ? now : quiet_since_ns_;
  runtime::impl::of(rt_).look_for_question(this, since_ns_, quiet_since_ns_);
  if (!reported_ && is_hang(static_cast<std::int64_t>(now - since_ns_))) {
    reported_ = true;
    log_line(log_level::error, "rank " + to_string(rt_.rank()) +
                                   " has tried for SINEW_CORE_HANG_TIMEOUT to send something that "
                                   "another rank does not take: that rank makes no progress");
    runtime::impl::of(rt_).diagnose();
  }
}

}  // namespace sinew::core
