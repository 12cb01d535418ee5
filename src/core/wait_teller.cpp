// SPDX-License-Identifier: BSD-3-Clause
#include "core/wait_teller.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "sinew/base/clock.hpp"
#include "sinew/base/kernel_thread.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/boot/pulse.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::core {
namespace {

/// So long must nothing have happened: long waits are rare, and then a few microseconds are little.
constexpr std::uint64_t patience_ns = 250'000'000;

}  // namespace

runtime::impl::wait_teller::wait_teller(impl& rt) noexcept
    : rt_(rt),
      asked_for_(rt.session_ != nullptr && rt.session_->asks_for_waits() &&
                 !rt.endpoint_->bounds().sleeps_at_once) {}

void runtime::impl::wait_teller::look_at_question(const void* waited, std::uint64_t began,
                                                  std::uint64_t quiet_since) noexcept {
  const auto now = static_cast<std::uint64_t>(now_ns());
  if (now - quiet_since < patience_ns) {
    return;
  }
  boot::own_pulse.waits_since.store(static_cast<std::int64_t>(began), std::memory_order_relaxed);
  boot::own_pulse.waiting_at.store(static_cast<std::int64_t>(now), std::memory_order_relaxed);
  try {
    if (!told_ || question_ != 0) {
      tell(question_, waited, now - began, quiet_since);
    }
    told_ = true;
    question_ = rt_.session_->take_question();  // answered after the next look
  } catch (const std::exception&) {             // NOLINT(bugprone-empty-catch)
    // No memory for a report: nobody hears of this wait.
  }
}

void runtime::impl::look_for_question(const void* waited, std::uint64_t began,
                                      std::uint64_t quiet_since) noexcept {
  teller_->look(waited, began, quiet_since);
}

void runtime::impl::wait_teller::tell(int question, const void* waited, std::uint64_t waited_ns,
                                      std::uint64_t quiet_since) {
  boot::wait_report report;
  report.turn = question;
  report.waited_ms = static_cast<std::int64_t>(waited_ns / 1'000'000);
  if (const auto traffic = rt_.endpoint_->far_traffic(); traffic && nothing_else_is_done()) {
    report.sent = traffic->sent;
    report.received = traffic->received;
    for (const std::uint64_t part :
         {quiet_since, std::uint64_t{rt_.waiting_.waits_begun()}, report.sent, report.received}) {
      report.state += std::to_string(part) + ".";
    }
  }
  const void* const known = rt_.condition_of(waited);
  const auto explains = [&](const diagnosis& d) {
    return d.explain != nullptr && d.explain(d.context, known, report.what);
  };
  (void)std::any_of(std::begin(rt_.diagnoses_), std::end(rt_.diagnoses_), explains);
  rt_.session_->tell_wait(report);
}

bool runtime::impl::wait_teller::nothing_else_is_done() {
  if (outside_.load(std::memory_order_relaxed) != 0 || rt_.others() != nullptr ||
      fiber::scheduler::of_process() != nullptr || base::shortage::any_is_recent()) {
    return false;
  }
  const int on_watch = rt_.threaded() ? rt_.waiting_.others_on_watch() : 0;
  return on_watch >= 0 && base::threads_that_may_act() == 1 + on_watch;
}

}  // namespace sinew::core
