// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/random.hpp"

#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>

#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew {

std::uint64_t unpredictable_word() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::uint64_t seed_from_environment() {
  std::uint64_t seed = 0;
  if (const char* text = std::getenv("SINEW_TEST_SEED"); text != nullptr) {
    const auto parsed = base::parse_integer(text);
    if (!parsed || *parsed < 0) {
      throw error(std::string("SINEW_TEST_SEED cannot be \"") + text + "\"",
                  "it takes a whole number that is not negative");
    }
    seed = static_cast<std::uint64_t>(*parsed);
  } else {
    std::uint64_t mixed =
        static_cast<std::uint64_t>(now_ns()) ^ (static_cast<std::uint64_t>(::getpid()) << 40);
    seed = split_mix(mixed) >> 33;  // short enough to be typed
  }
  base::raw_write(STDERR_FILENO,
                  "repeat this run with SINEW_TEST_SEED=" + std::to_string(seed) + "\n");
  return seed;
}

}  // namespace sinew
