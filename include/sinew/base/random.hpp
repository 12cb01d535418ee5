// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that a seed repeats exactly, on every machine and with every standard library.
#pragma once

#include <array>
#include <cstdint>

namespace sinew {

/// SplitMix64 (Steele, Lea, Flood 2014): one step from `state`; good enough to spread seeds and
/// to hash a 64-bit key. Any context. Hot.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// xoshiro256** (Blackman, Vigna 2018). Fits std::uniform_random_bit_generator. Not shared between
/// threads. Not for secrets. Hot.
class random_generator {
 public:
  using result_type = std::uint64_t;

  explicit constexpr random_generator(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      word = split_mix(seed);
    }
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return UINT64_MAX; }

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// Evenly in [0, bound); 0 if bound is 0. Rejects the few draws that would favour small values.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    if (bound == 0) {
      return 0;
    }
    const std::uint64_t unfair = (UINT64_MAX - bound + 1) % bound;  // 2^64 mod bound
    std::uint64_t draw = (*this)();
    while (draw < unfair) {
      draw = (*this)();
    }
    return draw % bound;
  }

  /// Evenly in [low, high], both included; low <= high.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t offset = span == UINT64_MAX ? (*this)() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  /// Evenly in [0, 1), 53 bits.
  constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  /// True with this probability.
  constexpr bool with_probability(double probability) noexcept { return unit() < probability; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int by) noexcept {
    return (x << by) | (x >> (64 - by));
  }

  std::array<std::uint64_t, 4> state_{};
};

/// A word that nobody can guess, from the system: for names that no other process may have, and for
/// the keys of hashes. What a test or a plan draws comes from a random_generator and its seed
/// instead. Any thread. Cold.
[[nodiscard]] std::uint64_t unpredictable_word();

/// For randomised tests: SINEW_TEST_SEED if it is set, else a fresh seed; prints to stderr the line
/// that repeats the run. A malformed value throws sinew::error. Cold.
[[nodiscard]] std::uint64_t seed_from_environment();

}  // namespace sinew
