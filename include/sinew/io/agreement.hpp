// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a file agree on before they go on. All are collective, and throw io::failure if
// a rank has died.
#pragma once

#include <cstdint>

#include "sinew/coll/collectives.hpp"
#include "sinew/io/failure.hpp"

namespace sinew::io {

/// Throws if a collective operation has failed.
void check_collective(coll::fault f);
/// Whether all ranks bring the same number.
[[nodiscard]] bool all_same(coll::participant at, std::int64_t own);
/// The largest of all ranks' numbers.
[[nodiscard]] std::int64_t largest_of(coll::participant at, std::int64_t own);

/// Of the ranks that have failed the lowest, and its code; code 0 if none has.
struct failed_rank {
  comm_rank rank = 0;
  std::int32_t code = 0;
};
/// `own`: this rank's code, 0 if it has not failed, else positive.
[[nodiscard]] failed_rank lowest_failure(coll::participant at, std::int32_t own);

/// The part of together() that is not a template.
void throw_together(coll::participant at, const failure* own);
/// If the step throws io::failure on some ranks, all ranks throw it with the kind of the lowest of
/// them; the sentence is given on that rank.
template <class Step>
void together(coll::participant at, Step step) {
  try {
    step();
  } catch (const failure& f) {
    throw_together(at, &f);
  }
  throw_together(at, nullptr);
}

}  // namespace sinew::io
