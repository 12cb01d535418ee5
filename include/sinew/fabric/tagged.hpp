// SPDX-License-Identifier: BSD-3-Clause
// Messages that the network pairs with receives: an adapter that can, or the network's library.
// Beside active messages, with which they keep no order. A key has 64 bits; a receive takes a
// message whose key has its bits wherever its mask has ones.
//
// Promises
//  order      messages from one rank to another meet receives in the order in which they were sent,
//             and a message meets the first posted receive that takes it.
//  delivery   exactly once, or the job ends.
//  limits     none on what is sent before it is received: the library keeps it at the receiver, or
//             the data at the sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sinew/base/ids.hpp"

namespace sinew::fabric {

/// Any thread, never suspends, if the endpoint was opened for threads; warm.
class tagged {
 public:
  enum class reason : std::uint8_t {
    done,
    truncated,  ///< the message is longer than the receive; of the data nothing is promised
    cancelled,
    failed  ///< the other rank is lost
  };
  struct ending {
    reason why = reason::done;
    std::uint64_t key = 0;  ///< of the message
    std::size_t bytes = 0;  ///< of the message; not known of one that was truncated while it came
  };
  /// One send or receive under way: base of the caller's own, or a part of it. It and the buffer
  /// stay until the call has told the ending, or `ended` has: from progress(), once.
  struct operation {
    void (*ended)(operation& self, const ending& how) noexcept = nullptr;
    tagged* by = nullptr;        ///< of the back-end, as is the next
    void* of_library = nullptr;  ///< its name there; null: it does not know it (any more)
  };
  /// A message that no receive has taken.
  struct waiting {
    std::uint64_t key;
    std::size_t bytes;
    void* message;  ///< to be received by receive(), once
  };

  /// When a send ends: when its buffer is free, or when a receive has taken its message, too.
  enum class until : std::uint8_t { sent, taken };
  /// With a value: it has ended, and `op` is not used.
  virtual std::optional<ending> send(job_rank peer, std::uint64_t key, const void* data,
                                     std::size_t bytes, until when, operation& op) = 0;
  virtual std::optional<ending> receive(std::uint64_t key, std::uint64_t mask, void* into,
                                        std::size_t room, operation& op) = 0;
  virtual std::optional<ending> receive(const waiting& taken, void* into, std::size_t room,
                                        operation& op) = 0;
  /// The earliest that no receive has taken, of those that one with this key and mask would.
  [[nodiscard]] virtual std::optional<waiting> take(std::uint64_t key, std::uint64_t mask) = 0;
  /// One that is not to be received.
  virtual void drop(const waiting& taken) = 0;
  /// Of a receive under way: it ends soon, as cancelled unless a message had met it.
  virtual void cancel(operation& op) = 0;

 protected:
  ~tagged() = default;
};

}  // namespace sinew::fabric
