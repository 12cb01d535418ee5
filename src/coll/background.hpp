// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives of ranks that share a node, over module node. Each is posted when it
// begins, if its slot is free, and ends when what it reads has been posted. Long data are read
// where they lie: in the node's memory, or in the program's own; in that case it ends when others
// have read this rank's, too. What is under way is a chore of the runtime, which also sees to it
// that this rank is woken for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coll/scratch.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/coll/communicators.hpp"
#include "sinew/coll/nonblocking.hpp"
#include "sinew/node/operations.hpp"

namespace sinew::coll {

/// A call of one group whose blocks are alike on all ranks.
struct even_call {
  collective what = collective::barrier;
  buffer send{};
  buffer recv{};
  comm_rank root = -1;
  op_ref o{};

  even_call() = default;
  explicit even_call(const call& c)
      : what(c.what), send(c.send.each()), recv(c.recv.each()), root(c.root), o(c.o) {}
};

/// One of them, as one rank goes through it.
class node_operation {
 public:
  /// The data that a rank posts for it. `members`: of its communicator. As many on all ranks.
  [[nodiscard]] static std::size_t posted_bytes(const even_call& c, int me, int members) noexcept;
  /// Whether so many, more than a slot has room for, are read where they lie: messages would take
  /// longer. The same answer on all ranks.
  [[nodiscard]] static bool is_read_in_place(const even_call& c, std::size_t bytes,
                                             const node::team& among) noexcept;

  /// `slots` takes its next number for it; `bytes`: posted_bytes(). Throws std::bad_alloc, if they
  /// are more than a slot has room for, and has taken no number then.
  void begin(const even_call& c, std::size_t bytes, node::operations& slots);
  /// Whether it is over; must not be asked again then. Ranks it could not wake: as operations.hpp.
  bool go_on(std::vector<job_rank>& asleep);
  /// Its data are read where they lie.
  [[nodiscard]] bool is_long() const noexcept { return bytes_ > node::operations::room; }
  /// It was over at once: the program may free its operator.
  void drop_operator() noexcept { call_.o = nullptr; }
  /// For what outlives the call that has begun it: the program may free its datatypes, and the
  /// communicator.
  void keep(communicator_ref over);

  /// The member that it waits for; -1: none, or its slot.
  [[nodiscard]] int waits_for() const noexcept { return waits_for_; }
  [[nodiscard]] const communicator_ref& comm() const noexcept { return comm_; }
  ongoing result;

 private:
  using kind = collective;
  [[nodiscard]] bool posts() const noexcept;
  /// Whether it reads what `m`, another member, has posted.
  [[nodiscard]] bool reads(int m) const noexcept;
  /// The member that reads what this one posts; -1: all.
  [[nodiscard]] int reader() const noexcept;
  [[nodiscard]] bool combines() const noexcept {
    return call_.what == kind::allreduce || call_.what == kind::reduce;
  }
  /// What this rank gives.
  [[nodiscard]] buffer given() const noexcept;
  /// Elements before the part of a member.
  [[nodiscard]] std::size_t part_at(int m) const noexcept;

  void prepare();
  [[nodiscard]] bool may_post();
  /// Whether so many bytes are better copied to the node's memory, from which others take them
  /// without a call of the system, and their rank need not wait for them. Not where two who both
  /// run give each other something: each would copy twice.
  [[nodiscard]] static bool lie_in_place(kind what, std::size_t bytes,
                                         const node::team& among) noexcept;
  [[nodiscard]] bool wants_place() const noexcept {
    return is_long() && posts() && lie_in_place(call_.what, bytes_, slots_->of());
  }
  void post(std::vector<job_rank>& asleep);
  void show(std::vector<job_rank>& asleep);
  void keep_own();
  [[nodiscard]] int other(int i) const noexcept;
  [[nodiscard]] bool take_all();
  [[nodiscard]] bool all_have_read();
  void combine_part();
  void show_part(std::vector<job_rank>& asleep);
  [[nodiscard]] bool take_parts();
  void read_all();
  void take(int m, const node::line& l);
  void combine();
  void combine_with(int m, const node::line& l);
  void note(fault f) noexcept {
    result.outcome = result.outcome == fault::none ? f : result.outcome;
  }

  even_call call_;
  node::operations* slots_ = nullptr;
  communicator_ref comm_;
  layout::datatype_ref send_type_, recv_type_;
  std::uint64_t number_ = 0;
  std::size_t bytes_ = 0;  ///< that it posts
  bool posted_ = false;
  bool taken_ = false;  ///< it has read all; what it shows, others may not have
  int next_ = 0;        ///< how many of the others have posted; then, how many have read
  int waits_for_ = -1;

  // Of a long one.
  /// A reduction for all of more than two ranks: each combines one part, and shows that to the
  /// others.
  bool in_parts_ = false;
  std::uint64_t turn_ = 0;            ///< for a place in the node's memory
  std::byte* place_ = nullptr;        ///< it, for what this rank gives
  const std::byte* shown_ = nullptr;  ///< what this rank gives, without gaps
  std::unique_ptr<scratch> aside_;    ///< has that, if its own place will be overwritten
  std::unique_ptr<scratch>
      incoming_;  ///< where others' data go first that cannot go to their place
};

/// Those of a rank that are under way.
class background {
 public:
  explicit background(core::runtime& runtime);
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// Throws std::bad_alloc, and has begun nothing then. Any thread.
  begun begin(const communicator_ref& over, const even_call& call, std::size_t bytes,
              node::operations& slots);
  /// Looks for what `o` misses, for a moment, without any other progress: most answers come within
  /// a microsecond, and a round takes a good part of that. Any thread. Hot.
  void look_for(const ongoing& o);

 private:
  /// In the call that begins an operation, some nanoseconds each: about as many as a line's way
  /// from processor to processor takes.
  static constexpr int most_looks_in_call = 100;
  static constexpr int least_looks_in_call = 2;

  bool ends_at_once(node_operation& o);
  int advance();
  bool advance(std::size_t i);
  bool wake_those_asleep();
  bool sleep(bool begins);

  core::runtime& runtime_;
  int chore_;
  /// Guards all below and the operations. Whoever holds it never waits for progress.
  base::lock lock_;
  std::vector<std::shared_ptr<node_operation>> running_;
  std::shared_ptr<node_operation> spare_;
  std::vector<job_rank> asleep_;   ///< could not be woken yet
  rma::engine* memory_ = nullptr;  ///< of all teams of this rank
  int looks_in_call_ = most_looks_in_call;
  bool listens_ = false;  ///< of whoever leads
};

}  // namespace sinew::coll
