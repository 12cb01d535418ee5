// SPDX-License-Identifier: BSD-3-Clause
// The messages of one collective call: a tag of its own, ranks of the communicator or of a part of
// it, and the first fault. A fault does not stop the call: the other ranks wait for its messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::coll {

using p2p::request;

/// Tags [0, call_tags) number the blocking collective calls, as many above them the nonblocking
/// ones, and as many again the persistent ones; the rest belongs to create_group.
inline constexpr std::uint32_t call_tags = core::collective_tags;
static_assert(3 * call_tags < static_cast<std::uint32_t>(p2p::max_tag.value()));

/// For what the user gives a tag to, among a part of the ranks: above those of the collectives. Two
/// tags of the user fall together only if they differ by max_tag + 1 - 3 * call_tags, and even that
/// harms only if their groups are at it at the same time.
[[nodiscard]] inline message_tag group_tag(message_tag tag) noexcept {
  SINEW_EXPECT(tag >= 0);
  constexpr std::uint32_t others = 3 * call_tags;
  constexpr auto range = static_cast<std::uint32_t>(p2p::max_tag.value()) - others + 1;
  return message_tag{
      static_cast<std::int32_t>(others + static_cast<std::uint32_t>(tag.value()) % range)};
}

class collective_messages {
 public:
  /// `name` and `root` (-1: without) are for who asks what this rank waits for.
  explicit collective_messages(participant at, const char* name, comm_rank root = -1)
      : engine_(at.engine),
        comm_(at.comm),
        around_(at.comm.collective.exchange({name, root})),
        tag_(static_cast<std::int32_t>(at.comm.collective_count++ % call_tags)),
        rank_(at.comm.rank().value()),
        size_(at.comm.size()) {
    SINEW_EXPECT(name != nullptr && root >= -1 && root.value() < size_);
  }

  /// Among `ranks` (of the communicator) only; this rank is number `rank` of them.
  collective_messages(participant at, std::span<const int> ranks, int rank, message_tag tag)
      : engine_(at.engine),
        comm_(at.comm),
        ranks_(ranks.data()),
        tag_(tag),
        rank_(rank),
        size_(static_cast<int>(ranks.size())) {
    SINEW_EXPECT(rank >= 0 && rank < size_);
    SINEW_EXPECT(ranks[static_cast<std::size_t>(rank)] == at.comm.rank().value());
  }

  collective_messages(const collective_messages&) = delete;
  collective_messages& operator=(const collective_messages&) = delete;
  ~collective_messages() {
    if (ranks_ == nullptr) {  // several groups may agree at once; they leave no record
      (void)comm_.collective.exchange(around_);
    }
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] message_tag tag() const noexcept { return tag_; }
  [[nodiscard]] core::runtime& runtime() const noexcept { return engine_.runtime(); }
  [[nodiscard]] bool spans_jobs() const noexcept { return comm_.spans_jobs; }
  /// Children per level of a tree for short messages.
  [[nodiscard]] int fan() const noexcept;
  /// A rank whose own messages all came may have got them from one that has had none of a dead
  /// rank's: where a rank of the communicator has died nobody takes the result for good.
  [[nodiscard]] fault outcome() const noexcept {
    return fault_ == fault::none && ranks_ == nullptr && engine_.has_dead(comm_)
               ? fault::peer_failed
               : fault_;
  }

  /// What depends on a fault is none either, on any rank: after one, others get it instead of data.
  void send(const buffer& from, int dest) {
    SINEW_EXPECT(dest != rank_);  // it would wait for itself
    if (fault_ != fault::none) [[unlikely]] {
      send_fault(dest);
      return;
    }
    note(engine_.send(comm_, p2p::collectives_of(comm_), from, real(dest), tag_).error);
  }
  void recv(const buffer& into, int source) {
    SINEW_EXPECT(source != rank_);
    note(engine_.recv(comm_, p2p::collectives_of(comm_), into, real(source), tag_).error);
  }
  void exchange(const buffer& from, int dest, const buffer& into, int source) {
    if (fault_ != fault::none) [[unlikely]] {
      send_fault(dest);
      recv(into, source);
      return;
    }
    note(engine_
             .exchange(comm_, p2p::collectives_of(comm_), from, real(dest), tag_, into,
                       real(source), tag_)
             .error);
  }
  void note(fault f) noexcept {
    if (fault_ == fault::none) {
      fault_ = f;
    }
  }

 private:
  friend class batch;
  void send_fault(int dest) noexcept {
    engine_.send_fault(comm_, p2p::collectives_of(comm_), fault_, real(dest), tag_);
  }
  [[nodiscard]] comm_rank real(int r) const noexcept {
    SINEW_EXPECT(r >= 0 && r < size_);
    return comm_rank{ranks_ == nullptr ? r : ranks_[r]};
  }

  p2p::engine& engine_;
  core::communicator& comm_;
  core::collective_call around_{};  ///< the call that this one is a part of
  const int* ranks_ = nullptr;
  message_tag tag_;
  int rank_;
  int size_;
  fault fault_ = fault::none;
};

/// Messages of a call that are under way at once.
class batch {
 public:
  static constexpr int window = 32;

  explicit batch(collective_messages& t) noexcept : call_(t) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch() { wait(); }

  [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
  /// Waits, if `n` more of many that do not depend on each other would be more than a window.
  void room(int n) {
    SINEW_EXPECT(n > 0 && n <= window);
    if (used_ + n > window) {
      wait();
    }
  }
  void send(const buffer& from, int dest) {
    collective_messages& t = call_;
    if (t.fault_ != fault::none) [[unlikely]] {
      t.send_fault(dest);
      return;
    }
    make_room();  // before there is something to be lost
    auto* r = t.engine_.isend(t.comm_, p2p::collectives_of(t.comm_), from, t.real(dest), t.tag_);
    if (r != nullptr) {
      add(r);
    }
  }
  void recv(const buffer& into, int source) {
    make_room();
    collective_messages& t = call_;
    add(t.engine_.irecv(t.comm_, p2p::collectives_of(t.comm_), into, t.real(source), t.tag_));
  }
  void wait() {
    for (int i = 0; i < used_; ++i) {
      request* const r = i < window ? few_[i] : many_[static_cast<std::size_t>(i - window)];
      call_.engine_.wait(*r);
      call_.note(r->outcome.error);
      call_.engine_.release(r);
    }
    used_ = 0;
    many_.clear();
  }

 private:
  void make_room() {
    if (used_ >= window && many_.size() == many_.capacity()) {
      many_.reserve(2 * many_.size() + window);
    }
  }
  void add(request* r) {
    if (used_ < window) {
      few_[used_] = r;
    } else {
      many_.push_back(r);
    }
    ++used_;
  }

  collective_messages& call_;
  request* few_[window];  // not initialised: written before it is read
  std::vector<request*> many_;
  int used_ = 0;
};

/// Copies between buffers of one process as a message would; a short receiver is a fault.
inline fault copy(const buffer& from, const buffer& into) {
  if (from.bytes() > into.bytes()) {
    return fault::truncated;
  }
  if (from.bytes() != 0) {
    layout::copy(*from.type, from.count, from.base, *into.type, into.count, into.base);
  }
  return fault::none;
}

/// Carries out a call of these ranks by messages, as a part of another one.
void run_among(collective_messages& t, const call& c);

}  // namespace sinew::coll
