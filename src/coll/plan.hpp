// SPDX-License-Identifier: BSD-3-Clause
// A plan: what one rank does in a collective, as a list of steps. Messages are begun as their steps
// are reached, and a `wait` is passed when all of them have ended. Who carries a plan out differs
// (collectives.cpp: in place, while the caller waits; nonblocking.cpp: as a chore of progress), not
// what it says.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coll/scratch.hpp"
#include "sinew/base/check.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll {

struct step {
  enum class kind : std::uint8_t { send, receive, wait, copy, combine, work };
  kind what;
  int peer;     ///< send, receive; work: its number
  buffer from;  ///< send, copy; combine: the operand of the lower ranks
  buffer into;  ///< receive, copy; combine: the other operand, and the result
};

class plan {
 public:
  /// Carried out within the call that it is made for: what the call names outlasts it, it may use
  /// the node's memory, and messages are begun some at a time. A kept one shares in the ownership
  /// of datatypes and of the operator.
  enum class lasts : bool { in_call, kept };

  explicit plan(lasts how = lasts::kept) : lasts_(how) { steps_.reserve(usual_steps); }
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;

  /// That of all combine(): one a plan.
  void use(const op_ref& o) {
    SINEW_EXPECT(o != nullptr && (op_ == nullptr || op_ == o));
    op_ = o;
  }
  void send(const buffer& from, int dest) {
    add({step::kind::send, peer(dest), hold(from), {}});
    ++begun_;
  }
  void receive(const buffer& into, int source) {
    add({step::kind::receive, peer(source), {}, hold(into)});
    ++begun_;
  }
  /// Empty messages are not sent where both sides know their size.
  void send_if_any(const buffer& from, int dest) {
    if (from.bytes() != 0) {
      send(from, dest);
    }
  }
  void receive_if_any(const buffer& into, int source) {
    if (into.bytes() != 0) {
      receive(into, source);
    }
  }
  /// What one rank gives another and gets from it in one step.
  void exchange(const buffer& from, int dest, const buffer& into, int source) {
    receive(into, source);
    send(from, dest);
    wait();
  }
  void wait() {
    add({step::kind::wait, 0, {}, {}});
    begun_ = 0;
  }
  /// Before `n` messages of many that do not depend on each other: in a call no more than a window
  /// of them is under way at a time.
  void room(int n) {
    if (lasts_ == lasts::in_call && begun_ + n > window) {
      wait();
    }
  }
  void copy(const buffer& from, const buffer& into) {
    // Datatypes with absolute addresses have one base.
    if (from.base != into.base || from.type != into.type) {
      add({step::kind::copy, 0, hold(from), hold(into)});
    }
  }
  /// into = from (op) into.
  void combine(const buffer& from, const buffer& into) {
    SINEW_EXPECT(op_ != nullptr && from.count == into.count && from.type == into.type);
    if (into.count != 0) {
      add({step::kind::combine, 0, hold(from), hold(into)});
    }
  }
  /// Anything else, without messages. Only a plan that lasts in_call may wait in it.
  void work(std::function<fault()> f) {
    add({step::kind::work, static_cast<int>(works_.size()), {}, {}});
    works_.push_back(std::move(f));
  }

  /// The call ends with this fault, if it has met no other before.
  void note(fault f) {
    work([f] { return f; });
  }

  /// In its scope steps are added as for a smaller communicator, whose rank r is peers[r] here.
  class among {
   public:
    among(plan& p, std::span<const int> peers) noexcept : plan_(p) {
      SINEW_EXPECT(p.peers_.empty() && !peers.empty());
      p.peers_ = peers;
    }
    ~among() { plan_.peers_ = {}; }
    among(const among&) = delete;
    among& operator=(const among&) = delete;

   private:
    plan& plan_;
  };

  /// Memory of the plan's own for `count` instances.
  [[nodiscard]] buffer space(std::size_t count, const layout::datatype& type) {
    const scratch::range r = scratch::range_of(count, type);
    return {memory(r.bytes) - r.low, count, &type};
  }
  [[nodiscard]] buffer space(std::size_t bytes) { return buffer::of_bytes(memory(bytes), bytes); }

  [[nodiscard]] bool in_call() const noexcept { return lasts_ == lasts::in_call; }
  [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }
  [[nodiscard]] fault do_work(const step& s) const {
    return works_[static_cast<std::size_t>(s.peer)]();
  }
  [[nodiscard]] const op& operation() const noexcept {
    SINEW_EXPECT(op_ != nullptr);
    return *op_;
  }
  /// As it was made, but for the memory that the next plan may use.
  void clear() noexcept {
    op_.reset();
    steps_.clear();
    works_.clear();
    types_.clear();
    more_.clear();
    used_ = 0;
    begun_ = 0;
  }

 private:
  static constexpr std::size_t usual_steps = 12;
  static constexpr int window = 32;
  static constexpr std::size_t alignment = 64;

  void add(const step& s) { steps_.push_back(s); }
  [[nodiscard]] int peer(int r) const noexcept {
    SINEW_EXPECT(r >= 0 && (peers_.empty() || static_cast<std::size_t>(r) < peers_.size()));
    return peers_.empty() ? r : peers_[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] std::byte* memory(std::size_t bytes) {
    if (bytes <= room_.size() - used_) {
      std::byte* const here = room_.data() + used_;
      used_ += (bytes + alignment - 1) & ~(alignment - 1);
      return here;
    }
    return more_.emplace_back(std::make_unique<scratch>(bytes))->base();
  }
  /// The program may free its datatypes before a kept plan has been carried out.
  [[gnu::always_inline]] buffer hold(const buffer& b) {
    if (lasts_ == lasts::kept) {
      keep(b);
    }
    return b;
  }
  [[gnu::noinline]] void keep(const buffer& b) {
    if (b.type != nullptr && (types_.empty() || types_.back().get() != b.type)) {
      types_.push_back(layout::share(*b.type));
    }
  }

  lasts lasts_;
  op_ref op_;
  std::vector<step> steps_;
  std::vector<std::function<fault()>> works_;
  std::vector<layout::datatype_ref> types_;
  std::span<const int> peers_;
  int begun_ = 0;  ///< messages since the last wait
  std::vector<std::unique_ptr<scratch>> more_;
  std::size_t used_ = 0;
  alignas(alignment) std::array<std::byte, 2048> room_;  // not initialised: only touched if used
};

}  // namespace sinew::coll
