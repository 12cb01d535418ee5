// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/host_wire_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!sinew::fuzz::host_wire_input({reinterpret_cast<const char*>(data), size})) {
    std::abort();
  }
  return 0;
}
