// Trying again what cannot be done yet.
#pragma once

#include <cstdint>

#include "sinew/core/runtime.hpp"

namespace sinew::core {

/// For a loop that tries again and again what the fabric does not take yet:
///
///   retry_loop tries(runtime);
///   while (!endpoint.send_short(...).done()) tries.again();
///
/// again() makes progress, and lets others run if there is none. A peer that takes nothing is a
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
  bool reported_ = false;
};

}  // namespace sinew::core
