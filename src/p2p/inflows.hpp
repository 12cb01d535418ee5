// SPDX-License-Identifier: BSD-3-Clause
// Messages that come in pieces (push.cpp): each into its receive, or into what is stored of it
// until that is posted.
//
// The pieces of one message come in order, since they take one ring. Those of two threads' messages
// may alternate, so each piece names its message, by the address of the sender's operation; that
// address is used again only after the last piece has gone into the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "p2p/message.hpp"
#include "p2p/operation.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::p2p {

class receiver;

/// Its lock comes before those of matching: a message is listed here before it can be found there.
/// Invariant: each listed one has either a receive or a stored message, and misses a piece.
class inflows {
 public:
  inflows(operation_pool& operations, receiver& receives, bool threaded) noexcept
      : operations_(operations), receives_(receives), threaded_(threaded) {}

  /// One begins: it meets its receive, or is stored. False if there is no memory, and nothing has
  /// happened. Throws std::bad_alloc, too. In the poller.
  [[nodiscard]] bool arrived_push(const fabric::arrival& a);
  /// In the poller.
  void arrived_piece(const fabric::arrival& a) noexcept;
  /// A receive has met a message that was announced before it: true if pieces of it are still to
  /// come, and `op` will end with the last of them. Any thread.
  [[nodiscard]] bool take_over(operation& op, matched& m) noexcept;
  /// Nothing comes from that rank any more: removes the receives that wait for it, and appends
  /// them.
  void take(job_rank source, std::vector<operation*>& to);

 private:
  struct inflow {
    job_rank source;  ///< of the data
    std::uint64_t name;
    std::size_t bytes;
    std::size_t arrived = 0;
    std::byte* to = nullptr;
    std::size_t room = 0;  ///< bytes to be kept
    operation* op = nullptr;
    matched* stored = nullptr;
  };

  static void put(const inflow& into, std::size_t at, const std::byte* data,
                  std::size_t n) noexcept;
  static void lead(inflow& coming, operation& op) noexcept;

  operation_pool& operations_;
  receiver& receives_;
  const bool threaded_;
  base::lock lock_;             ///< guards what follows
  std::vector<inflow> coming_;  ///< a few, seldom more than one for each sender
};

}  // namespace sinew::p2p
