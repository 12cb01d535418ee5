// SPDX-License-Identifier: BSD-3-Clause
// Collectives of ranks that share a node: over module node, where there is memory for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/scratch.hpp"
#include "sinew/node/moving.hpp"
#include "sinew/node/operations.hpp"
#include "sinew/node/reducing.hpp"

namespace sinew::coll {

/// The team of `at.comm`; null where its collectives go by messages. All ranks get the same answer
/// in the same call. Every blocking collective asks once, before anything else; the first ones of
/// a communicator get none, so that one which is used but once or twice costs no memory. Then all
/// ranks tell each other, by messages, where their blocks lie. Hot, but for that.
[[nodiscard]] node::team* team_of(participant at);
/// Of its operations in the background; null where there is no team yet. Does not count as a call.
/// Hot.
[[nodiscard]] node::operations* operations_of(participant at) noexcept;
/// What moves, where that decides which way is best.
enum class movement : std::uint8_t { any, gather, scatter };
/// Whether blocks of so many bytes go over the memory of `t`: not where they are so long that
/// messages carry them sooner. Hot.
[[nodiscard]] bool suits_block(core::runtime& runtime, const node::team& t, std::size_t block,
                               movement what);
/// Whether a call of the ranks of `t` goes over its memory: such blocks, and reductions of types
/// without gaps. One answer on all ranks. Hot.
[[nodiscard]] bool suits_memory(core::runtime& runtime, const node::team& t, const call& c);
/// After team_of() has returned null, whose part a blocking call of `at.comm` is: by levels, with
/// the memory of this node, where all nodes have theirs. Hot.
[[nodiscard]] position position_in_call(participant at) noexcept;
/// Of such a rank's engine; for tests whose ranks share a process. Else it is the process's own.
void use_node_memory(core::runtime& runtime, rma::engine& memory);

[[nodiscard]] node::lengths node_lengths(const node::team& t,
                                         movement what = movement::any) noexcept;
[[nodiscard]] inline node::data as_data(const buffer& b) noexcept {
  return {b.base, b.count, b.type};
}
/// What a rank shows that has nothing to move.
[[nodiscard]] inline node::data no_data() noexcept {
  return {nullptr, 0, &layout::of(layout::element::byte)};
}
[[nodiscard]] inline fault fault_unless(bool fits) noexcept {
  return fits ? fault::none : fault::truncated;
}

/// Whether a reduction of such elements can go over a team of so many ranks. The ranks give
/// elements of one type, so they get one answer.
[[nodiscard]] bool reduces(int members, const layout::datatype& type) noexcept;

// What collectives.hpp says, over `t`.

fault node_reduce(node::team& t, const void* input, const buffer& recv, const op& o, int root);
fault node_allreduce(node::team& t, const void* input, const buffer& recv, const op& o);
/// Rank r gets counts(r) elements. `input` may be `mine.base`.
fault node_reduce_scatter(node::team& t, const void* input, const buffer& mine,
                          std::span<const std::size_t> starts, const op& o);

}  // namespace sinew::coll
