// Buffers of messages under way, in and out: taken and given back under the endpoint's lock, reused
// last-in-first-out.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "fabric/ucx/wire.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric::ucx {

struct peer;
class ucx_endpoint;

/// A message on its way out: UCX reads header and data until it says that it is done.
struct outgoing {
  wire head{};
  std::uint64_t name = 0;  ///< the sender's; it travels behind the head where ranks have names
  ucx_endpoint* home = nullptr;
  peer* to = nullptr;
  callback when_done{nullptr, nullptr};  ///< of a long put
  outgoing* next = nullptr;
  std::array<std::byte, max_medium_bytes> data;
};

static_assert(offsetof(outgoing, name) == sizeof(wire) && offsetof(outgoing, head) == 0);

/// A message that has arrived and waits for its turn.
struct incoming {
  wire head{};
  std::size_t size = 0;
  incoming* next = nullptr;
  std::array<std::byte, max_medium_bytes> data;
};

/// Objects of one type. Memory is asked for when first needed, and kept.
template <class T>
class free_list {
 public:
  /// Null if `most` are in use. Throws std::bad_alloc.
  [[nodiscard]] T* take(std::size_t most) {
    if (free_ == nullptr) {
      if (made_.size() >= most) {
        return nullptr;
      }
      // Not initialised: the pages of what is not used are never touched.
      made_.push_back(std::make_unique_for_overwrite<T>());
      return made_.back().get();
    }
    T* const one = free_;
    free_ = one->next;
    one->next = nullptr;
    return one;
  }
  void give_back(T* one) noexcept {
    SINEW_EXPECT(one != nullptr && one != free_);
    one->next = free_;
    free_ = one;
  }

 private:
  T* free_ = nullptr;
  std::vector<std::unique_ptr<T>> made_;
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
