// SPDX-License-Identifier: BSD-3-Clause
// Sends that end at once, whatever the receiver does (MPI-5.0 section 3.6): the message is copied
// and the copy sent. What is attached bounds how much may be under way; the copies themselves live
// on the heap, so attached memory need not be carved up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Any thread. The engine outlives it; it goes when all it has sent has left.
class buffered_sends {
 public:
  explicit buffered_sends(engine& by) noexcept : engine_(by) {}
  buffered_sends(const buffered_sends&) = delete;
  buffered_sends& operator=(const buffered_sends&) = delete;
  ~buffered_sends();

  /// `bytes`: so many may be under way; nothing: as many as there is memory for. False if that has
  /// been said already.
  [[nodiscard]] bool attach(std::optional<std::size_t> bytes);
  /// Waits until all has left. Suspends.
  void detach();
  [[nodiscard]] bool attached() const noexcept { return attached_; }

  enum class outcome { sent, not_attached, no_room };
  /// Copies the message and sends the copy, which counts as so many bytes more. Throws
  /// std::bad_alloc.
  [[nodiscard]] outcome send(const core::communicator& comm, const buffer& from, comm_rank dest,
                             message_tag tag, std::size_t overhead);
  /// Bytes under way.
  [[nodiscard]] std::size_t used();

  /// How many messages there have been that did not leave at once.
  [[nodiscard]] std::uint64_t sent();
  /// Whether the first `up_to` of them have left. Hot enough to be polled.
  [[nodiscard]] bool have_left(std::uint64_t up_to);
  /// Waits for what was there when it was called, not for what other threads add: a receiver may
  /// want that first. Suspends.
  void flush();

 private:
  struct copy {
    std::uint64_t number;
    request* sending;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t charge;
  };
  void sweep();
  [[nodiscard]] bool room_for(std::size_t charge) const noexcept {
    return !bound_ || used_ + charge <= *bound_;
  }

  engine& engine_;
  std::mutex lock_;  ///< guards what follows
  bool attached_ = false;
  std::optional<std::size_t> bound_ = 0;
  std::size_t used_ = 0;
  std::uint64_t sent_ = 0;
  std::list<copy> copies_;
};

}  // namespace sinew::p2p
