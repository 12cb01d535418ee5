// SPDX-License-Identifier: BSD-3-Clause
// The agreement on a context as a schedule: what MPI_Comm_idup does. The rounds are those of
// contexts.hpp. Here a round is log2(n) exchanges at doubling distances, after which each member
// has heard of all others; that gives the extremes of what all have said, since it does no harm to
// hear a word twice. The first such round is the barrier.
//
// Agreements of one communicator follow each other: all members begin them in one order, so that
// none ever waits for a later one, and the ledger sees one of them at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "coll/background.hpp"
#include "coll/contexts.hpp"
#include "coll/schedule.hpp"

namespace sinew::coll {

class agreement;

/// What the communicators of a rank have in common.
struct shared_state {
  explicit shared_state(core::runtime& runtime) : running(runtime), in_background(runtime) {}
  context_ledger ledger;
  schedules running;
  background in_background;
  /// The last agreement of each parent's context that is not over. Guarded by running.lock.
  std::map<std::uint32_t, std::shared_ptr<agreement>> latest;
  /// Communicators with ranks that were not started with this one, and whether they are being left.
  /// Guarded by lock_of_strangers.
  std::map<const core::communicator*, bool> with_strangers;
  std::mutex lock_of_strangers;
};
[[nodiscard]] shared_state& state_of(core::runtime& runtime);

/// The communicator goes with its last reference, and its channels with it.
[[nodiscard]] communicator_ref make_communicator(p2p::engine& engine, context_id context,
                                                 core::group members);

/// Tags of agreements that have none of their user's: no two such agreements of one communicator
/// take part at the same time.
inline constexpr message_tag blocking_agreement = -1, nonblocking_agreement = -2;

class agreement final : public schedule {
 public:
  agreement(p2p::engine& engine, communicator_ref over, message_tag tag,
            std::shared_ptr<new_communicator> result);
  ~agreement() override;

  /// Begins it, now or after the communicator's earlier ones.
  static void start(const std::shared_ptr<agreement>& a);

 private:
  struct words {
    std::uint64_t largest, largest_complement;  ///< the latter is the smallest's
    /// What is said where a rank has died: as if somebody had said 0, which nobody does.
    static constexpr words failure() { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }
    [[nodiscard]] bool is_failure() const { return largest_complement == ~std::uint64_t{0}; }
  };

  next go_on() override;
  void failed() noexcept override;
  std::shared_ptr<schedule> successor() noexcept override;
  void begin_round(std::uint64_t said) noexcept;
  bool exchange_more();
  void leave() noexcept;

  shared_state& state_;
  context_ledger::key key_;
  std::shared_ptr<new_communicator> result_;
  std::shared_ptr<agreement> after_;
  bool entered_ = false;
  bool proposed_ = false;
  bool exchanging_ = false;
  int distance_ = 1;
  int rounds_ = 0;
  std::uint32_t from_ = context_ledger::first_free;
  std::uint64_t said_ = 0;
  words known_{}, sent_{}, heard_{};
};

}  // namespace sinew::coll
