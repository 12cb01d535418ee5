// SPDX-License-Identifier: BSD-3-Clause
// The event that says that a queue of this rank has something.
#pragma once

#include "sinew/base/lock.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {

/// The event that triggers once something has come, the same for all who ask before that; none if
/// `empty()` is false. `lock` guards the queue and `wanted`, which whoever brings something takes
/// out and triggers; it is not held while the system is called.
template <class Empty>
[[nodiscard]] event when_filled(system& s, base::lock& lock, user_event& wanted, Empty empty) {
  const user_event spare = s.create();
  event answer;
  bool used = false;
  {
    const base::guard held(lock, s.runtime().threaded());
    if (empty()) {
      used = !wanted.exists();
      if (used) {
        wanted = spare;
      }
      answer = wanted;
    }
  }
  if (!used) {
    s.trigger(spare);
  }
  return answer;
}

}  // namespace sinew::event
