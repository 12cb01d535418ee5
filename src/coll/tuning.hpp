// SPDX-License-Identifier: BSD-3-Clause
// Settings of the module: where the algorithms switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sinew/base/settings.hpp"
#include "sinew/coll/call.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::coll::tuning {

/// SINEW_COLL_<COLLECTIVE>: the algorithms that are tried first; null where there is but one. In
/// algorithms.cpp, with the table of their names.
extern setting<std::string>* const algorithms[collectives];
[[nodiscard]] inline setting<std::string>* algorithm_of(collective what) noexcept {
  return algorithms[static_cast<std::size_t>(what)];
}

/// Hot.
[[nodiscard]] inline bool names_no_algorithm(collective what) noexcept {
  const setting<std::string>* const s = algorithm_of(what);
  return s == nullptr || (*s)().empty();
}

extern setting<std::int64_t> fan;             ///< children per level of short trees; 0: chosen
extern setting<std::int64_t> tree_bytes;      ///< crowded: up to here by trees, not by doubling
extern setting<std::int64_t> long_bcast;      ///< from here scatter + allgather
extern setting<std::int64_t> long_reduce;     ///< from here reduce-scatter + (all)gather
extern setting<std::int64_t> long_allgather;  ///< from here (sum of all blocks) direct exchange
extern setting<std::int64_t> short_alltoall;  ///< up to here (one block) store and forward
extern setting<std::int64_t> many_ranks;      ///< store and forward from this many ranks

extern setting<bool> levels;                  ///< between nodes by leaders
extern setting<std::int64_t> level_block;     ///< gather, scatter: up to here through the leaders
extern setting<std::int64_t> level_alltoall;  ///< the same of alltoall

extern setting<bool> node;                         ///< inside a node by shared memory, not messages
extern setting<std::int64_t> node_direct;          ///< from here data are read where they are
extern setting<std::int64_t> node_direct_one_way;  ///< the same of bcast, gather, scatter
extern setting<std::int64_t> node_direct_reduce;   ///< the same of a reduction
extern setting<std::int64_t> node_block;           ///< from here blocks go by messages; 0: chosen
extern setting<std::int64_t> node_read;    ///< nonblocking: longer ones are read where they are
extern setting<std::int64_t> node_shared;  ///< from here reductions are divided (sum of all)

/// Whether ranks wait for each other's cores: then few waits matter more than few messages, and
/// a flat tree (everybody waits once) beats log2(n) rounds. The answer is the same on all ranks of
/// the job: it is computed from facts of the one node, and is "no" if there are several.
[[nodiscard]] bool crowded(core::runtime& rt);

/// From this length on blocks go by messages inside a node, too; 0: as is chosen. The same on all
/// ranks.
[[nodiscard]] std::size_t block_on_node();
/// That of ranks that do not read each other's memory.
[[nodiscard]] std::size_t usual_block_on_node(core::runtime& rt);

/// Children per level of a tree for short messages, of ranks that are crowded or not.
[[nodiscard]] int fan_of(bool are_crowded);
/// That of a communicator's ranks.
/// `spans_jobs`: the ranks are not all of one job.
[[nodiscard]] int short_fan(core::runtime& rt, bool spans_jobs);

}  // namespace sinew::coll::tuning
