// Operations of the fabric, carried through.
#pragma once

#include <sched.h>

#include "sinew/rma/engine.hpp"

namespace sinew::rma {

/// Calls start(callback) until it is done or posted, and then waits for the callback.
template <class Start>
void persist(core::runtime& runtime, Start start) {
  completion done;
  const fabric::callback when_done{[](void* c) { static_cast<completion*>(c)->complete(); }, &done};
  for (;;) {
    const status s = start(when_done);
    if (s.done()) {
      return;
    }
    if (s.posted()) {
      runtime.wait(done);
      return;
    }
    if (runtime.poll() == 0) {
      sched_yield();
    }
  }
}

}  // namespace sinew::rma
