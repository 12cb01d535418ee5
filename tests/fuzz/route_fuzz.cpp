// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/route_input.hpp"

// The first byte chooses the reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!sinew::fuzz::route_input(data[0] % sinew::fuzz::route_readers, text)) {
    std::abort();
  }
  return 0;
}
