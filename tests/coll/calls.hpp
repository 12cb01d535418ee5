// SPDX-License-Identifier: BSD-3-Clause
// Calls of collectives by their usual arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "sinew/coll/collectives.hpp"

namespace sinew::test {

using coll::collective;
[[nodiscard]] inline coll::op_ref kept(const coll::op& o) {
  return std::make_shared<const coll::op>(o);
}
[[nodiscard]] inline coll::call reduction(collective what, const void* send,
                                          const coll::blocks& recv, coll::op_ref o,
                                          comm_rank root = -1) {
  return {what, coll::operand(send), recv, root, std::move(o)};
}
[[nodiscard]] inline coll::call bcast_of(const coll::buffer& data, comm_rank root) {
  return {collective::bcast, {}, data, root};
}
[[nodiscard]] inline coll::parts counted(const void* base, std::span<const std::ptrdiff_t> counts,
                                         const layout::datatype& type) {
  return {base, counts.data(), nullptr, &type};
}

}  // namespace sinew::test
