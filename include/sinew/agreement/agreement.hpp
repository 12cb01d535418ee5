// SPDX-License-Identifier: BSD-3-Clause
// What the living ranks of a communicator agree on, whoever dies meanwhile: a flag, or a context
// for what is left of it. In a job of `sinew run --survive` the ranks vote in memory that the
// launcher shares (boot/survival.hpp), so agreements end although ranks die; in other jobs a death
// ends the job, and none of this is called. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/boot/survival.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::agreement {

/// Whether ranks go on when others die. The other functions are for such jobs alone.
[[nodiscard]] bool ranks_survive(p2p::engine& engine) noexcept;

/// Communicators with this context or a higher one cannot agree: the memory has no room for them.
inline constexpr std::uint32_t most_contexts = 2 * boot::survival::slots;

/// Collective over the living of `all`, and returns when they have decided. `heard`: those whose
/// flags count. Agreements of a communicator follow each other in the order in which ranks begin
/// them. Suspends. Cold.
[[nodiscard]] boot::decision agree(p2p::engine& engine, const coll::communicator_ref& all,
                                   const core::group& heard, std::uint32_t flag);

/// The same without waiting: `ended` is called by whoever makes progress, once. It must not wait,
/// nor begin or end agreements.
using ended_function = void (*)(void* context, const boot::decision& what) noexcept;
void start(p2p::engine& engine, const coll::communicator_ref& all, const core::group& heard,
           std::uint32_t flag, ended_function ended, void* context);

/// What is left of a communicator, over a context that its living have taken. Collective over them.
[[nodiscard]] coll::communicator_ref shrink(p2p::engine& engine, const coll::communicator_ref& all);
/// Likewise of two groups; null if one of them has died out, as MPI_Comm_split would have it.
[[nodiscard]] coll::intercommunicator_ref shrink(p2p::engine& engine,
                                                 const coll::intercommunicator& sides);

/// How many ranks of the job have died; and which of the first `deaths` are members.
[[nodiscard]] std::uint32_t deaths(p2p::engine& engine) noexcept;
[[nodiscard]] std::vector<job_rank> dead_members(p2p::engine& engine, const core::communicator& all,
                                                 std::uint32_t deaths);
/// Of the first `deaths`, one that is a member and that this rank has not acknowledged; else
/// no_job_rank.
[[nodiscard]] job_rank unacknowledged(p2p::engine& engine, const core::communicator& all,
                                      std::uint32_t deaths);
/// Acknowledges up to `most` dead members; how many that are.
int acknowledge(p2p::engine& engine, const core::communicator& all, int most);

}  // namespace sinew::agreement
