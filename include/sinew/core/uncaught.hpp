// SPDX-License-Identifier: BSD-3-Clause
// The end of a rank whose program leaves an exception uncaught.
#pragma once

#include "sinew/boot/session.hpp"

namespace sinew::core {

/// From now on an exception that nobody catches (or that leaves a function which must not throw)
/// ends the job through `session`, with a sentence that says what it was, a backtrace of where it
/// was thrown on stderr, and the exit code that abort() would give. A program that has set a
/// handler of its own (std::set_terminate) keeps it. The last session that was given counts. Cold.
void report_uncaught(boot::session& session) noexcept;
/// `session` ends: if it is the one that counts there is none any more. Cold.
void forget_uncaught(const boot::session* session) noexcept;

}  // namespace sinew::core
