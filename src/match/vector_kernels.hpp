// SPDX-License-Identifier: BSD-3-Clause
// Comparing truncated keys, many at once. A back-end is a file; which are compiled depends on the
// architecture, which one runs on the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::match {

inline constexpr std::size_t vector_block = 64;

/// Bit i of the answer: the 16-bit key i differs from `key` in no bit that masks[i] and `mask` both
/// have. Reads vector_block keys and masks, which are aligned to 64 bytes.
using compare_keys = std::uint64_t (*)(const std::uint16_t* keys, const std::uint16_t* masks,
                                       std::uint16_t key, std::uint16_t mask) noexcept;

struct vector_kernel {
  const char* name;
  compare_keys compare;
  bool usable;  ///< on this processor
};

/// Those compiled for this architecture, fastest first; the last, "plain", is always usable.
struct vector_kernel_list {
  const vector_kernel* first;
  std::size_t count;
};
[[nodiscard]] vector_kernel_list vector_kernels() noexcept;

std::uint64_t compare_plain(const std::uint16_t* keys, const std::uint16_t* masks,
                            std::uint16_t key, std::uint16_t mask) noexcept;
std::uint64_t compare_avx2(const std::uint16_t* keys, const std::uint16_t* masks, std::uint16_t key,
                           std::uint16_t mask) noexcept;
std::uint64_t compare_avx512(const std::uint16_t* keys, const std::uint16_t* masks,
                             std::uint16_t key, std::uint16_t mask) noexcept;
std::uint64_t compare_neon(const std::uint16_t* keys, const std::uint16_t* masks, std::uint16_t key,
                           std::uint16_t mask) noexcept;

}  // namespace sinew::match
