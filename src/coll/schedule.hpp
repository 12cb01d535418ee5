// SPDX-License-Identifier: BSD-3-Clause
// Collective operations that go on while their callers do other things. A schedule is one of them:
// it starts some messages, and when all of those have ended it is asked to go on. The list of the
// schedules of a rank is a chore of the runtime: whoever makes progress, for whatever reason, also
// looks whether one of them can go on.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sinew/base/lock.hpp"
#include "sinew/coll/communicators.hpp"

namespace sinew::coll {

class schedule {
 public:
  virtual ~schedule() = default;
  schedule(const schedule&) = delete;
  schedule& operator=(const schedule&) = delete;

 protected:
  /// The tag must be its own among the collectives under way in `over`.
  schedule(p2p::engine& engine, communicator_ref over, message_tag tag)
      : engine_(engine), comm_(std::move(over)), tag_(tag) {}

  enum class next {
    wait,   ///< for the messages that it has started
    later,  ///< it has started none: ask again when something has happened
    over
  };
  /// Called at first, and when all messages that it has started have ended. Must not wait. Anything
  /// that it throws ends it: failed() is called, and it stays in memory until its messages end.
  virtual next go_on() = 0;
  /// From within the handler of what go_on() has thrown.
  virtual void failed() noexcept = 0;
  /// What may begin only now that this one is over; null if there is nothing.
  virtual std::shared_ptr<schedule> successor() noexcept { return nullptr; }

  [[nodiscard]] const core::communicator& comm() const noexcept { return *comm_; }
  [[nodiscard]] p2p::engine& engine() const noexcept { return engine_; }
  /// The memory must last until the message has ended, at least as long as this object. After a
  /// fault it goes instead of the data: what depends on it is none either.
  void send(const p2p::buffer& from, int dest);
  void receive(const p2p::buffer& into, int source);
  void send(const void* from, std::size_t bytes, int dest) {
    send(p2p::buffer::of_bytes(from, bytes), dest);
  }
  void receive(void* into, std::size_t bytes, int source) {
    receive(p2p::buffer::of_bytes(into, bytes), source);
  }
  /// Whether messages that it has started have not been looked at by advance() yet.
  [[nodiscard]] bool pending() const noexcept { return !pending_.empty(); }
  /// The first fault of its messages, and what it has noted itself.
  [[nodiscard]] p2p::fault outcome() const noexcept { return fault_; }
  void note(p2p::fault f) noexcept {
    if (fault_ == p2p::fault::none) {
      fault_ = f;
    }
  }

 private:
  friend class schedules;
  void make_room();
  /// How many times it has gone on; `over` tells whether that was all.
  int advance(bool& over) noexcept;

  p2p::engine& engine_;
  communicator_ref comm_;
  message_tag tag_;
  bool broken_ = false;
  p2p::fault fault_ = p2p::fault::none;
  std::vector<p2p::request*> pending_;
  std::size_t ended_ = 0;  ///< of `pending_`, the first ones
};

/// One per rank.
class schedules {
 public:
  explicit schedules(core::runtime& runtime);
  schedules(const schedules&) = delete;
  schedules& operator=(const schedules&) = delete;

  /// Takes `s` on and lets it go as far as it can at once. Any thread.
  void start(std::shared_ptr<schedule> s);
  /// Lets all go as far as they can; returns how often one has gone on. Any thread, and the chore.
  int advance() noexcept;

  /// Guards the list and all that the schedules in it do. Taken before any lock of p2p.
  base::lock lock;

 private:
  bool advance(std::size_t i) noexcept;
  void rest_if_empty() noexcept;

  core::runtime& runtime_;
  int chore_;
  int steps_ = 0;                                   ///< of the present advance()
  std::vector<std::shared_ptr<schedule>> running_;  ///< in no order
};

}  // namespace sinew::coll
