// SPDX-License-Identifier: BSD-3-Clause
// A group with a context of its own: messages sent in one communicator are never matched in
// another.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sinew/base/ids.hpp"
#include "sinew/core/group.hpp"
#include "sinew/core/slot.hpp"

namespace sinew::core {

/// Tags 0 to this number the collective calls, in turn; those above are coll's for other uses.
inline constexpr std::uint32_t collective_tags = 1U << 16;

/// The largest tags of the collectives' context belong to none of them, but to bindings.
inline constexpr std::uint32_t kept_tags = 4;

/// A collective that this rank is in, for reports.
struct collective_call {
  const char* name = nullptr;  ///< as MPI names it; null: none
  comm_rank root = -1;         ///< -1: it has none
  comm_rank awaited = -1;      ///< the rank it waits for over shared memory; -1: none
};

/// Written by the one thread that is in a collective of the communicator, read by a report of any
/// thread; nothing else depends on it, so relaxed. Hot.
class collective_record {
 public:
  collective_call exchange(collective_call now) noexcept {
    const collective_call before = load();
    name_.store(now.name, std::memory_order_relaxed);
    root_.store(now.root, std::memory_order_relaxed);
    return before;
  }
  [[nodiscard]] collective_call load() const noexcept {
    return {name_.load(std::memory_order_relaxed), root_.load(std::memory_order_relaxed),
            awaited.load(std::memory_order_relaxed)};
  }

  /// Of the communicator. Set while the wait lasts.
  std::atomic<comm_rank> awaited{-1};

 private:
  std::atomic<const char*> name_{nullptr};
  std::atomic<comm_rank> root_{-1};
};

/// Created collectively (see coll/communicators.hpp), by the same numbers on every member.
/// The object lives until the last reference is dropped. Reading it is free in any context.
class communicator {
 public:
  communicator(context_id context, group members, comm_rank rank)
      : context_(context), rank_(rank), members_(std::move(members)) {
    SINEW_EXPECT(context.value() % 2 == 0);
    SINEW_EXPECT(rank >= 0);
    // Not `rank < size()`: between two groups, members() are the remote one's and rank() is in the
    // local one (coll/intercommunicators.hpp).
    SINEW_EXPECT(size() > 0);
  }

  /// Even number; `context() + 1` carries the collectives.
  [[nodiscard]] context_id context() const noexcept { return context_; }
  [[nodiscard]] comm_rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return members_.size(); }
  [[nodiscard]] const group& members() const noexcept { return members_; }
  /// Rank in the job of rank `r` of this communicator. Hot.
  [[nodiscard]] sinew::job_rank job_rank(comm_rank r) const noexcept { return members_[r]; }

  /// What other modules keep for this communicator, such as p2p's matching spaces.
  slot_table<communicator, slots::communicator_end> attached;
  /// Numbers the collectives of this communicator, so that each can have tags of its own.
  std::uint32_t collective_count = 0;
  /// The same for nonblocking ones: their tags must last while any number of others come and go.
  std::uint32_t nonblocking_count = 0;
  /// And for persistent ones, which keep theirs from start to start.
  std::uint32_t persistent_count = 0;
  collective_record collective;
  std::string name;
  /// Some members are of another job, which may differ in what it runs on. Set by who makes it.
  bool spans_jobs = false;

 private:
  context_id context_;
  comm_rank rank_;
  group members_;
};

}  // namespace sinew::core
