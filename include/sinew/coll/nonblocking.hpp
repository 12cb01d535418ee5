// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking, persistent and neighbour collectives. A plan says what one rank sends, receives,
// copies and combines, in order; it is made from the call's arguments without any communication,
// and it is carried out, once or often, by whoever makes progress on this rank (MPI-5.0 sections
// 6.12, 6.13, 8.6).
//
// Arguments are trusted (bindings check them) and as in collectives.hpp; `in_place` may stand
// where MPI allows it. Plans share in the ownership of datatypes and operators; the user's buffers
// must last while one is carried out. Warm.
#pragma once

#include <exception>
#include <memory>
#include <span>

#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::coll {

class node_map;
class plan;
using plan_ref = std::shared_ptr<const plan>;

/// A plan that is being carried out. The other fields are for reading once `over` is done.
struct ongoing {
  completion over;
  bool looked_for = false;  ///< words in memory say when it is over, not messages
  fault outcome = fault::none;
  std::exception_ptr problem;  ///< there was no memory to go on
};

/// Whose part a plan is: the rank, the number of ranks, and what they have in common.
/// position_of() makes those of communicators.
struct position {
  int rank;
  int size;
  /// The nodes that they are on, by which the plan goes then: inside nodes, and by messages between
  /// leaders. Read while the plan is made. Null: all ranks alike.
  const node_map* nodes = nullptr;
  /// Of a call that waits: over this memory of the ranks of a node, all of them where `nodes` is
  /// null.
  node::team* team = nullptr;
  int fan = 2;  ///< children per level of trees that carry short messages
  position(int r, int n, const node_map* on = nullptr, node::team* over = nullptr,
           int width = 2) noexcept
      : rank(r), size(n), nodes(on), team(over), fan(width) {
    SINEW_EXPECT(rank >= 0 && rank < size && fan >= 2);
  }
  /// Wherever the ranks are, by messages between all of them.
  explicit position(const core::communicator& c) noexcept : position(c.rank().value(), c.size()) {}
};
/// This rank's in `at.comm`, by nodes where its ranks lie on several and some share one. The same
/// answer on all ranks. Throws std::bad_alloc.
[[nodiscard]] position position_of(participant at);

/// The tag of the next nonblocking collective of `comm`, and of the next persistent one: all ranks
/// begin them in one order. Called by one thread per communicator at a time.
[[nodiscard]] message_tag nonblocking_tag(core::communicator& comm) noexcept;
[[nodiscard]] message_tag persistent_tag(core::communicator& comm) noexcept;

/// Begins to carry out a plan made for `over`, and returns at once. A plan may be under way once
/// at a time. Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<ongoing> start(p2p::engine& engine, communicator_ref over,
                                             plan_ref what, message_tag tag);

/// The plan of a call; the operator, if there is one, is shared. Throws std::bad_alloc.
[[nodiscard]] plan_ref plan_of(position at, const call& c);

/// What begin() has done.
struct begun {
  bool done = false;                ///< false: nothing; it goes by a plan, on all ranks
  std::shared_ptr<ongoing> runs{};  ///< null: it is over, without fault
};
/// Begins a short one without a plan where the ranks share memory that their blocking collectives
/// have set up: all ranks get the same answer, since all call their collectives in one order.
/// Throws std::bad_alloc, and has begun nothing then. Hot.
[[nodiscard]] begun begin(p2p::engine& engine, const communicator_ref& over, const call& c);

/// Returns when it is over. Suspends. Hot.
void wait(p2p::engine& engine, ongoing& o);

}  // namespace sinew::coll
