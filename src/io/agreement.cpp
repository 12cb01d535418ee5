// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/io/agreement.hpp"

#include "sinew/base/check.hpp"

namespace sinew::io {

void check_collective(coll::fault f) {
  if (f == coll::fault::peer_failed) {
    throw failure(error_kind::rank_died, "a rank that has opened the file has died");
  }
  if (f != coll::fault::none) {
    throw failure(error_kind::no_memory,
                  "there is no memory left for a collective operation on a file");
  }
}

std::int64_t largest_of(coll::participant at, std::int64_t own) {
  const coll::op most{.kind = coll::op_kind::max};
  std::int64_t largest = own;
  const p2p::buffer word{&largest, 1, &layout::of(layout::element::i64)};
  check_collective(coll::allreduce(at, coll::in_place, word, most));
  SINEW_ENSURE(largest >= own);
  return largest;
}

bool all_same(coll::participant at, std::int64_t own) {
  std::int64_t both[2] = {own, -own};
  const coll::op most{.kind = coll::op_kind::max};
  const p2p::buffer words{both, 2, &layout::of(layout::element::i64)};
  check_collective(coll::allreduce(at, coll::in_place, words, most));
  SINEW_ASSERT(both[0] >= own && both[1] >= -own);
  return both[0] == -both[1];
}

failed_rank lowest_failure(coll::participant at, std::int32_t own) {
  SINEW_EXPECT(own >= 0);
  const std::int64_t none = INT64_MIN;
  const std::int64_t worst =
      largest_of(at, own != 0 ? -(std::int64_t{at.comm.rank().value()} << 32 | own) : none);
  if (worst == none) {
    return {};
  }
  return {comm_rank{static_cast<int>(-worst >> 32)},
          static_cast<std::int32_t>(-worst & 0xffffffff)};
}

void throw_together(coll::participant at, const failure* own) {
  const failed_rank lowest =
      lowest_failure(at, own != nullptr ? static_cast<std::int32_t>(own->kind) : 0);
  if (lowest.code == 0) {
    return;
  }
  if (own != nullptr) {
    throw failure{*own};
  }
  throw failure(static_cast<error_kind>(lowest.code),
                "rank " + to_string(lowest.rank) + " could not do it");
}

}  // namespace sinew::io
