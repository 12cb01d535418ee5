// SPDX-License-Identifier: BSD-3-Clause
// The handler of SIGQUIT (sinew/fiber/view.hpp) for as long as there is a scheduler.
#pragma once

namespace sinew::fiber {

/// Unless the program handles or ignores it. Cold.
void handle_quit() noexcept;
/// And takes it away again, if it is still in place.
void handle_quit_no_more() noexcept;

}  // namespace sinew::fiber
