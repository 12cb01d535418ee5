// SPDX-License-Identifier: BSD-3-Clause
// The inside of a rank's event system: three parts and what couples them. Each part has one header
// to read: graph.hpp (pure), peer_table.hpp (pure), courier.hpp (messages).
//
// A trigger walks down: system::trigger() -> graph::pass() -> peer_table::notify() ->
// courier::settled(). At the receiver the same trigger walks up: courier -> body::on_message() ->
// peer_table::learn() -> graph::trigger() of the alias -> waiters. No part calls one above it: what
// it has to say upwards it returns, or hands to a function that it was given.
//
// One lock guards graph, peer table and what follows it here; in a job without threads it is
// nothing. It is not held while waiters are fired.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/continuations.hpp"
#include "event/courier.hpp"
#include "event/graph.hpp"
#include "event/number_lists.hpp"
#include "event/outbox.hpp"
#include "event/peer_table.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {

struct system::body final : graph::resolver {
  body(system& s, const options& how);
  ~body();
  body(const body&) = delete;
  body& operator=(const body&) = delete;

  void acquire() noexcept {
    if (threaded) {
      lock.acquire();
    }
  }
  void release() noexcept {
    if (threaded) {
      lock.release();
    }
  }

  // --- under the lock ---

  /// Of an event of any rank that is not the one that stands for nothing. May subscribe.
  [[nodiscard]] graph::place find(event e) {
    return e.owner() == self.rank_ ? events.find(e) : find_remote(e);
  }
  [[nodiscard]] graph::place resolve(event e) override { return find_remote(e); }
  [[nodiscard]] bool cancel_here(event e);

  // remote.cpp
  [[nodiscard]] graph::place find_remote(event e);
  void trigger_remote(user_event e, bool poisoned);
  static void on_message(void* context, const event_message& m);
  void handle(const event_message& m);
  void refuse(const event_message& m, const error& why);
  void triggered_from(job_rank rank, event e, bool poisoned);
  void learn(event newest, const run& how);
  [[nodiscard]] bool lose(job_rank rank);

  // drain.cpp
  [[nodiscard]] bool has_work() const noexcept {
    return events.has_queue() || events.has_ready() || peers.has_gathered();
  }
  /// Works off the queue, sends, and fires (without the lock), unless a call further up this
  /// thread's stack is about to.
  void drain();
  void fire(waiter* last) noexcept;
  /// This thread is firing waiters of this system.
  [[nodiscard]] bool firing_here() const noexcept;
  static void run_continuation(waiter& w) noexcept;

  // report.cpp
  [[nodiscard]] std::string describe(event e) const;
  void explain(std::uint32_t i, int depth, std::string& text) const;
  [[nodiscard]] std::string report(bool ask_others);
  static void print_report(void* context);
  static void on_hang_message(void* context, const message& m);

  system& self;
  const bool threaded;
  base::lock lock;
  number_lists lists;
  graph events;
  peer_table peers;
  outbox messages;
  courier remote;
  continuations callbacks;

  std::unordered_map<event, std::string> names;  ///< for reports
  std::vector<std::pair<std::string (*)(void*, bool), void*>> reporters;
  std::vector<std::pair<void (*)(void*, job_rank), void*>> on_loss;  ///< without the lock
};

/// The lock, for a scope. What a call has triggered is worked off by work().
class section {
 public:
  explicit section(system::body& b) noexcept : body_(b) { b.acquire(); }
  ~section() { body_.release(); }
  section(const section&) = delete;
  section& operator=(const section&) = delete;
  void work() {
    if (body_.has_work()) {
      body_.drain();
    }
  }

 private:
  system::body& body_;
};

}  // namespace sinew::event
