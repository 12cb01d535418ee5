// SPDX-License-Identifier: BSD-3-Clause
// Trying again what cannot be done yet.
#pragma once

#include <cstdint>

#include "sinew/core/completion.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::core {

/// For a loop that tries again and again what the fabric does not take yet:
///
///   retry_loop tries(runtime);
///   while (!endpoint.send_short(...).done()) tries.again();
///
/// again() makes progress, and lets others run if there is none. What is tried changes nothing for
/// others while it does not succeed, or it is a message. A peer that takes nothing is a
/// hang like any other: after SINEW_CORE_HANG_TIMEOUT it is reported, once per loop. Warm.
class retry_loop {
 public:
  explicit retry_loop(runtime& rt) noexcept : rt_(rt) {}
  void again();

 private:
  void watch();

  runtime& rt_;
  std::uint32_t idle_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t quiet_since_ns_ = 0;  ///< progress has brought nothing; 0: not known
  bool reported_ = false;
};

/// Calls start(callback), a transfer of the fabric, until it is done or posted, and then waits for
/// the callback. If the peer has died it ends once this rank knows: whoever looks for deaths calls
/// endpoint::give_up(). Not in handlers. Warm.
template <class Start>
void carry_through(runtime& rt, Start start) {
  completion done;
  const fabric::callback when_done{
      [](void* c) noexcept { static_cast<completion*>(c)->complete(); }, &done};
  retry_loop tries(rt);
  for (;;) {
    const status s = start(when_done);
    if (s.done()) {
      return;
    }
    if (s.posted()) {
      rt.wait(done);
      return;
    }
    tries.again();
  }
}

}  // namespace sinew::core
