// SPDX-License-Identifier: BSD-3-Clause
// Channels: values handed from fiber to fiber (or thread), in order, with a bound or without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "sinew/fiber/sleeper.hpp"
#include "sinew/fiber/waited.hpp"
#include "sinew/fiber/waits.hpp"

namespace sinew::fiber {

/// A channel of elements of one size, which are copied byte by byte (under a lock that spins: send
/// pointers to what is large). Any number of senders and receivers; each side is served in the
/// order of arrival. Destroyed when nobody uses it any more. `Waits`: see waits.hpp.
template <class Waits>
class basic_channel {
 public:
  static constexpr std::size_t unbounded = SIZE_MAX;

  /// `capacity` elements are kept that nobody has received yet; 0: a sender waits for its receiver.
  /// Throws std::bad_alloc.
  basic_channel(std::size_t element_bytes, std::size_t capacity);
  ~basic_channel();
  basic_channel(const basic_channel&) = delete;
  basic_channel& operator=(const basic_channel&) = delete;

  /// Suspends while there is no room. `closed` after close(). A channel without bound never waits
  /// and may throw std::bad_alloc. A deadline of 0 does not wait. Hot with room.
  [[nodiscard]] waited send(const void* element, std::uint64_t deadline_ns = no_deadline);
  /// Suspends while there is nothing. `closed` when it has been closed and all has been received.
  [[nodiscard]] waited receive(void* element, std::uint64_t deadline_ns = no_deadline);
  /// No more sends; whoever waits to send gets `closed`, whoever waits to receive too. False if it
  /// was closed before. Any context.
  bool close() noexcept;
  /// Elements that nobody has received yet. A hint.
  [[nodiscard]] std::size_t size() noexcept;
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }

  /// One of several things to do; see select(). `element` is read by a send, else written.
  struct choice {
    basic_channel* on;
    bool sends;
    void* element;
  };
  struct selected {
    std::size_t which;  ///< which choice it was; their count if it was none
    waited how;
  };
  static constexpr std::size_t most_choices = 64;
  /// Does exactly one of the choices, as soon as one is possible; a turn decides between several.
  /// A closed channel is possible, too. At most `most_choices`.
  [[nodiscard]] static selected select(const choice* choices, std::size_t count,
                                       std::uint64_t deadline_ns = no_deadline);

 private:
  struct waiting_call;
  struct waiting_place;
  struct held_locks;

  enum class attempt : std::uint8_t { done, closed, impossible };
  [[nodiscard]] attempt try_send(const void* element, waiting_call*& to_wake);
  [[nodiscard]] attempt try_receive(void* element, waiting_call*& to_wake) noexcept;
  [[nodiscard]] static selected select_in(const choice* choices, std::size_t count,
                                          std::uint64_t deadline_ns, waiting_place* places,
                                          basic_channel** locks);
  void put(const void* element);
  void take(void* element) noexcept;
  void grow();
  [[nodiscard]] static waiting_place* pop(waiting_place*& first, waiting_place*& last) noexcept;
  void push(waiting_place& p) noexcept;
  void remove(waiting_place& p) noexcept;

  const std::size_t element_bytes_;
  const std::size_t capacity_;
  typename Waits::lock lock_;
  // The rest under the lock. A ring of `room_` elements, `count_` of them from `begin_` on.
  std::unique_ptr<std::byte[]> ring_;
  std::size_t room_ = 0;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  bool closed_ = false;
  waiting_place* first_sender_ = nullptr;
  waiting_place* last_sender_ = nullptr;
  waiting_place* first_receiver_ = nullptr;
  waiting_place* last_receiver_ = nullptr;
};

using channel = basic_channel<real_waits>;

/// The same for values of one type.
template <class Value>
class channel_of {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  explicit channel_of(std::size_t capacity) : bytes_(sizeof(Value), capacity) {}
  [[nodiscard]] waited send(const Value& value, std::uint64_t deadline_ns = no_deadline) {
    return bytes_.send(&value, deadline_ns);
  }
  [[nodiscard]] waited receive(Value& value, std::uint64_t deadline_ns = no_deadline) {
    return bytes_.receive(&value, deadline_ns);
  }
  bool close() noexcept { return bytes_.close(); }
  [[nodiscard]] channel& bytes() noexcept { return bytes_; }

 private:
  channel bytes_;
};

}  // namespace sinew::fiber
