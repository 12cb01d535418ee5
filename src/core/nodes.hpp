// SPDX-License-Identifier: BSD-3-Clause
// How a rank's endpoint is opened: alone, on one node, or on several.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sinew/boot/session.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/back_ends.hpp"

namespace sinew::core {

/// By what is the same for all ranks of a node: a rank's own affinity may be a single core.
[[nodiscard]] bool is_crowded(const boot::place& at);
/// The same when the job began, if this rank was spawned later.
[[nodiscard]] bool was_crowded(const boot::place& at);

/// The session itself, or with SINEW_FABRIC_NODES one that says that the ranks are on several
/// nodes. Throws. Cold.
[[nodiscard]] std::unique_ptr<boot::session> pretend_nodes(std::unique_ptr<boot::session> real);

struct opened {
  std::unique_ptr<fabric::endpoint> endpoint;
  bool crowded;                   ///< some node of the job is: the same answer on all ranks
  std::string network = {};       ///< what brings messages to other nodes, and its version
  bool by_network_alone = false;  ///< that also brings those of this node
};
/// Collective. Throws. Cold.
[[nodiscard]] opened open_endpoint(boot::session& session, threading threads,
                                   std::span<const fabric::back_end> from);

/// The network of those that reach other nodes. Throws. Cold.
[[nodiscard]] std::shared_ptr<fabric::network> open_network(std::span<const fabric::back_end> from,
                                                            const fabric::network_options& options);

/// For people: which build runs from which file, on which nodes, over which transports, and where
/// this rank is bound. Cold.
[[nodiscard]] std::string describe(const boot::place& at, const opened& by);

}  // namespace sinew::core
