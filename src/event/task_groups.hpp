// SPDX-License-Identifier: BSD-3-Clause
// Groups of processors. A task given to a group is kept by the rank that made it until it can start
// and a member is free, whichever rank's that is; so work goes where nothing else is to be done.
//
// A member is free when no task of the group is under way at it. If there is none, a task that is
// more urgent than one that was handed out takes that one's place: the member gives it back, unless
// it has started. So at each processor the greatest priority goes first, among tasks of groups and
// those that were given to it alone. Tasks may wait for others of the
// same group, which must not be held back for ever: while tasks wait for a member, none ends and
// none is being given back, one more is handed out after `first_patience_ns`, and then after twice
// as long each time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sinew/base/lock.hpp"
#include "sinew/event/processor.hpp"
#include "sinew/event/profile.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {

/// In front of a task's values in a message.
struct task_order {
  std::uint64_t where;
  std::uint64_t done;
  std::uint64_t after;
  std::uint64_t stack_bytes;
  std::uint32_t task;
  std::int32_t priority;
  profile_request profile;
};

/// A task that was handed out is to be given back: what its member finds it by, and then its group.
struct task_recall {
  std::uint64_t where;  ///< the member
  std::uint64_t done;   ///< an event of the group's rank, with which it was handed out
  std::uint64_t stack_bytes;
  std::uint32_t number;  ///< the group's rank knows the task by it
  std::int32_t priority;
};

/// What groups need of the tasks that they are part of. Any thread.
class group_host {
 public:
  /// Runs it at `o.where`, no group; `o.done` is an event of this rank. May throw sinew::error.
  virtual void run_member(const task_order& o, std::span<const std::byte> values) = 0;
  /// Asks its member to give it back; task_groups::answered() of the group's rank follows.
  virtual void recall(const task_recall& r) = 0;
  /// A task of a group of this rank is there; the last that is done about it.
  virtual void begin_shared() noexcept = 0;
  virtual void end_shared() noexcept = 0;

 protected:
  ~group_host() = default;
};

/// The groups that this rank has made. Any thread if the runtime is threaded.
class task_groups {
 public:
  static constexpr std::int64_t first_patience_ns = 10'000'000;

  task_groups(system& s, group_host& host);
  ~task_groups();
  task_groups(const task_groups&) = delete;
  task_groups& operator=(const task_groups&) = delete;

  /// Cold.
  [[nodiscard]] std::uint32_t make(std::span<const processor> of);
  /// Throws sinew::error where there is no such group. Warm.
  void add(std::uint32_t number, const task_order& o, std::span<const std::byte> values);
  /// Of a recall: the member has given the task back and it waits again, or it has started. Warm.
  void answered(const task_recall& r, bool is_back);
  /// No task is given to that rank any more. Cold.
  void lose(job_rank rank);
  /// Tasks that have not been handed out fail now. Cold.
  void give_up();

 private:
  struct shared;
  struct member {
    processor where;
    std::vector<shared*> under_way = {};
    std::uint64_t given = 0;
    bool lost = false;
  };
  struct group;
  enum class stage : std::uint8_t { unused, deferred, queued, handed_out };
  enum class recall : std::uint8_t { not_yet, possible, asked, refused };
  struct group {
    std::uint32_t number = 0;
    std::deque<member> members;  ///< they stay where they are
    bool all_lost = false;
    std::map<int, std::deque<shared*>, std::greater<>> ready;  ///< by priority, greatest first
    std::size_t waiting = 0;                                   ///< in `ready`
    std::int64_t moved_ns = 0;                                 ///< when one was handed out or ended
    std::int64_t patience_ns = first_patience_ns;
  };

  void fired(shared& t) noexcept;
  void queue(shared& t);
  void work(group& g);
  [[nodiscard]] shared* next(group& g);
  [[nodiscard]] static shared* pop(group& g);
  static void assign(shared& t, member& to);
  static void leave(shared& t);
  [[nodiscard]] static std::optional<task_recall> next_recall(group& g);
  [[nodiscard]] static bool is_recalling(const group& g);
  void hand_out(shared& t);
  void came_back(shared& t, bool well);
  void settle(shared& t, bool well);
  void fail(shared& t);
  void recycle(shared& t);
  void tell(std::uint64_t done, bool well);
  [[nodiscard]] int look_for_delay();

  system& events_;
  group_host& host_;
  const bool threaded_;
  int chore_ = 0;
  base::lock lock_;  ///< guards what follows; never held while events or the host are called
  std::deque<group> groups_;
  std::deque<shared> all_;
  shared* free_ = nullptr;
  std::size_t waiting_ = 0;  ///< of all groups
};

}  // namespace sinew::event
