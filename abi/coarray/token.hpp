// SPDX-License-Identifier: BSD-3-Clause
// What the compiler holds for each coarray, and passes back to us with each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::coarray {

struct token {
  std::uint64_t offset = 0;  ///< of this image's memory; 0: none now
  std::size_t bytes = 0;
  /// `bytes` if that memory is there and at the same offset on all images, else 0.
  std::size_t symmetric_bytes = 0;
  /// By rank, for what was allocated in a team of fewer images or stands for other memory; empty:
  /// the offset is the same on all images.
  std::vector<std::uint64_t> table;
  const descriptor* shape = nullptr;  ///< of an allocatable array; its bounds are set later
  bool component = false;             ///< of one image alone
  bool plain = false;                 ///< of a type without components
  bool owner = true;                  ///< releases the memory
  void* local = nullptr;        ///< no coarray at all: what one of the compiler's functions got
  team* home = nullptr;         ///< in which it was allocated; the initial team: null
  void** held_at = nullptr;     ///< where the compiler keeps this
  descriptor* array = nullptr;  ///< and, of what ALLOCATE has made, its array

  [[nodiscard]] rma::place at(job_rank rank) const noexcept {
    SINEW_EXPECT(rank.below(this_job.size));
    SINEW_EXPECT(table.empty() || table.size() == static_cast<std::size_t>(this_job.size));
    return {rank, table.empty() ? offset : table[rank.index()]};
  }
};

[[noreturn, gnu::cold]] void no_token() noexcept;
/// Null where nothing is allocated: before ALLOCATE, after DEALLOCATE, and where gfortran has lost
/// it. Hot.
inline token& token_of(void* t) noexcept {
  if (t == nullptr) [[unlikely]] {
    no_token();
  }
  return *static_cast<token*>(t);
}

}  // namespace sinew::coarray
