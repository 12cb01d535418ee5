// Plans of ranks on several nodes: parts for the ranks of a node and for the nodes' leaders, made
// by the functions of nonblocking.hpp without nodes. Who leads is as in levels.hpp. Arguments are
// those of the functions of their names, `at.nodes` not being null.
#pragma once

#include <span>

#include "coll/levels.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll::by_levels {

/// Whether a reduction can go by levels: one answer on all ranks.
[[nodiscard]] bool reduces(position at, const op& o) noexcept;
/// Whether a scan can.
[[nodiscard]] bool scans(position at) noexcept;

[[nodiscard]] plan_ref barrier(position at);
[[nodiscard]] plan_ref bcast(position at, const buffer& data, int root);
/// Only operators for which reduces() is true.
[[nodiscard]] plan_ref reduce(position at, const void* send, const buffer& recv, op_ref o,
                              int root);
[[nodiscard]] plan_ref allreduce(position at, const void* send, const buffer& recv, op_ref o);
[[nodiscard]] plan_ref reduce_scatter(position at, const void* send, const buffer& mine,
                                      std::span<const std::ptrdiff_t> counts, op_ref o);
/// Scan and exscan, where scans() is true.
[[nodiscard]] plan_ref prefix(position at, const void* send, const buffer& recv, op_ref o,
                              bool inclusive);
/// in(r): where the block of rank r goes; `own`: that of this rank. `whole`, if not null, is the
/// memory in which all blocks lie in the order of ranks.
[[nodiscard]] plan_ref allgather(position at, const buffer& mine, const buffer& own,
                                 const place_of& in, std::byte* whole);
/// Blocks for which levels::collects() is true, as long on all ranks. `mine` may be in_place at the
/// root.
[[nodiscard]] plan_ref gather(position at, const buffer& mine, const place_of& in, int root);
[[nodiscard]] plan_ref scatter(position at, const buffer& mine, const place_of& out, int root);
/// Blocks of `each` bytes, for which levels::forwards() is true.
[[nodiscard]] plan_ref alltoall(position at, const place_of& out, const place_of& in,
                                std::size_t each);

}  // namespace sinew::coll::by_levels
