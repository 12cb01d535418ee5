// SPDX-License-Identifier: BSD-3-Clause
// Partitioned messages (MPI-5.0 chapter 4, without its handles): the parts of one long message are
// sent as each of them gets ready, and the receiver learns which of its parts have come.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "sinew/core/communicator.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::partitioned {

struct arguments {
  p2p::engine& engine;       ///< these two outlive the operation
  core::communicator& comm;  ///< attached
  p2p::buffer each;          ///< the first partition; the others follow it
  int partitions;
  comm_rank peer;  ///< or p2p::no_rank
  message_tag tag;
};

/// One side: what persists from start to start. The other one is found by a message of its own, the
/// terms, that each sender sends and each receiver receives when it is introduced: matched by
/// source and tag in the order of those calls, as the standard has it. It says how many partitions
/// there are, how long, and by which tags they come: each of the sender's is one message, sent when
/// it is marked ready, whatever the receiver's partitions are.
class operation {
 public:
  operation(const arguments& with, bool sends)
      : with_(with), sends_(sends), keeps_(layout::share(*with.each.type)) {}
  virtual ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// Tells the other side of the call, or listens to what it tells. Once, before anything else.
  /// Throws std::bad_alloc, with nothing done.
  virtual void introduce() = 0;
  /// False if an earlier start has found no memory: then no start is possible any more. Throws
  /// std::bad_alloc, with nothing started.
  [[nodiscard]] virtual bool start() = 0;
  /// Sends a partition, which exists. False if that has been done since the last start. Throws
  /// std::bad_alloc, with nothing sent. Any thread. Hot.
  [[nodiscard]] virtual bool ready(std::size_t /*partition*/) { return false; }
  /// Of a receive that is active. Any thread. Hot.
  [[nodiscard]] virtual bool arrived(std::size_t /*partition*/) const noexcept { return false; }
  [[nodiscard]] bool sends() const noexcept { return sends_; }
  [[nodiscard]] int partitions() const noexcept { return with_.partitions; }
  /// Done when all partitions of the present start have been sent, or have arrived.
  [[nodiscard]] core::completion& over() noexcept { return over_; }
  /// What it has come to. Only when it is over; of a send the fault alone says something.
  [[nodiscard]] p2p::result outcome() const noexcept;
  /// What a fault means. Cold.
  [[nodiscard]] virtual std::string about(p2p::fault f) const = 0;

 protected:
  /// outcome() without the fault.
  [[nodiscard]] virtual p2p::result received() const noexcept { return {}; }
  [[nodiscard]] p2p::channel& channel(p2p::engine::partitioned what) const {
    return with_.engine.channel_for(with_.comm, what);
  }
  [[nodiscard]] bool threaded() const noexcept { return with_.engine.runtime().threaded(); }
  [[nodiscard]] void* place_of(std::size_t instance) const noexcept;
  /// A start. Whoever starts its messages says how many by expect(), and has ended by end_one(), as
  /// each of them.
  void begin() noexcept;
  void expect(std::size_t messages) noexcept {
    left_.fetch_add(messages, std::memory_order_relaxed);
  }
  /// Whoever ends the last one must not use the object afterwards.
  void end_one() noexcept { end_some(1); }
  void end_some(std::size_t messages) noexcept;
  void note(p2p::fault f) noexcept;

  const arguments with_;

 private:
  const bool sends_;
  layout::datatype_ref keeps_;  ///< the user may free the type
  core::completion over_;
  /// Each end is a release, and the last one an acquire: it completes the operation on behalf of
  /// all.
  std::atomic<std::size_t> left_{0};
  /// The first one of a start. Relaxed: `left_` publishes it.
  std::atomic<p2p::fault> fault_{p2p::fault::none};
};

/// Throw std::bad_alloc. Any thread. Cold.
[[nodiscard]] std::shared_ptr<operation> new_send(const arguments& with);
[[nodiscard]] std::shared_ptr<operation> new_receive(const arguments& with);

}  // namespace sinew::partitioned
