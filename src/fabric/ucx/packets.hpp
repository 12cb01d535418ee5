// SPDX-License-Identifier: BSD-3-Clause
// Buffers of messages under way, in and out: taken and given back under the endpoint's lock, reused
// last-in-first-out.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/ucx/wire.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric::ucx {

struct peer;
class ucx_endpoint;

/// A message on its way out: UCX reads it until it says that it is done.
struct outgoing {
  ucx_endpoint* home = nullptr;
  peer* to = nullptr;
  callback when_done{nullptr, nullptr};  ///< of a long put
  outgoing* next = nullptr;
  std::size_t filled = 0;  ///< of a batch
  std::byte* data = nullptr;
  std::size_t room = 0;

  /// Right in front of the data.
  [[nodiscard]] wire& head() const noexcept { return *(reinterpret_cast<wire*>(data) - 1); }
};

/// A message that has arrived and waits for its turn.
struct incoming {
  wire head{};
  std::size_t size = 0;
  std::size_t handled = 0;  ///< bytes of a batch
  incoming* next = nullptr;
  std::byte* data = nullptr;
  std::size_t room = 0;
};

/// Objects of one type with `room` bytes each, and room for a header before them. Memory is asked
/// for when first needed, and kept.
template <class T>
class free_list {
 public:
  explicit free_list(std::size_t room) noexcept : room_(room) {}
  /// Null if `most` are in use. Throws std::bad_alloc.
  [[nodiscard]] T* take(std::size_t most) {
    if (free_ == nullptr) {
      if (made_.size() >= most) {
        return nullptr;
      }
      auto fresh = std::make_unique<both>();
      // Not initialised: the pages of what is not used are never touched.
      fresh->bytes = std::make_unique_for_overwrite<std::byte[]>(named_wire_bytes + room_);
      fresh->one.data = fresh->bytes.get() + named_wire_bytes;
      fresh->one.room = room_;
      made_.push_back(std::move(fresh));
      return &made_.back()->one;
    }
    T* const one = free_;
    free_ = one->next;
    one->next = nullptr;
    return one;
  }
  void give_back(T* one) noexcept {
    SINEW_EXPECT(one != nullptr && one != free_ && one->room == room_);
    one->next = free_;
    free_ = one;
  }

 private:
  struct both {
    T one;
    std::unique_ptr<std::byte[]> bytes;
  };
  std::size_t room_;
  T* free_ = nullptr;
  std::vector<std::unique_ptr<both>> made_;
};

/// Most messages are short: long ones have buffers of their own.
template <class T>
class buffers {
 public:
  /// For `bytes` at most; null if `most` of that length are in use. Throws std::bad_alloc.
  [[nodiscard]] T* take(std::size_t bytes, std::size_t most) {
    SINEW_EXPECT(bytes <= max_long_bytes);
    return (bytes <= max_medium_bytes ? short_ : long_).take(most);
  }
  void give_back(T* one) noexcept {
    (one->room == max_medium_bytes ? short_ : long_).give_back(one);
  }

 private:
  free_list<T> short_{max_medium_bytes};
  free_list<T> long_{max_long_bytes};
};

/// A queue through the objects' own links.
template <class T>
struct chain {
  T* first = nullptr;
  T* last = nullptr;

  void append(T* one) noexcept {
    SINEW_EXPECT(one != nullptr && (first == nullptr) == (last == nullptr));
    one->next = nullptr;
    (last == nullptr ? first : last->next) = one;
    last = one;
  }
  [[nodiscard]] T* take_first() noexcept {
    T* const one = first;
    if (one != nullptr) {
      first = one->next;
      last = first == nullptr ? nullptr : last;
    }
    return one;
  }
};

}  // namespace sinew::fabric::ucx
