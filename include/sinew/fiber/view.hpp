// SPDX-License-Identifier: BSD-3-Clause
// A live view: which fibers there are, and what each waits for.
#pragma once

#include <csignal>

namespace sinew::fiber {

/// Writes them to stderr: how many wait for what, then each, up to 1,000. Fibers go on meanwhile.
/// Any context, also a handler of a signal; nothing without a scheduler.
void show_fibers() noexcept;

/// The handler of SIGQUIT, which every scheduler installs if the signal is at its default action:
/// show_fibers(). The default action follows where that is what the sender must have meant: without
/// a scheduler, when the process sends it to itself, and if it comes again within two seconds.
void on_quit(int number, siginfo_t* info, void* context);

}  // namespace sinew::fiber
