// SPDX-License-Identifier: BSD-3-Clause
// Places that core's objects have for what other modules keep with them. core does not know the
// types: a module owns a key with its type, and only through the key is its place reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <source_location>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::core {

class runtime;
class communicator;

/// Which module has which place in which object: the one list, as handlers.hpp is for messages.
/// Constants, since the libraries of a process share its runtime and each has a copy of the
/// modules: their copies have to agree.
namespace slots {
enum in_runtime : std::size_t {
  coll_state,
  node_memory,
  partitioned_late,
  agreements,
  runtime_end
};
enum in_communicator : std::size_t {
  p2p_messages,
  p2p_collectives,
  coll_node,
  partitioned_tags,
  communicator_end
};
}  // namespace slots

/// A module's key to its place in each `Holder`. T may be incomplete.
template <class Holder, class T>
class slot {
 public:
  explicit constexpr slot(std::size_t place) noexcept : place_(place) {}
  [[nodiscard]] constexpr std::size_t place() const noexcept { return place_; }
  /// The same in all libraries of a process; as text, since their addresses differ.
  [[nodiscard]] static const char* type() noexcept {
    return std::source_location::current().function_name();
  }

 private:
  std::size_t place_;
};

template <class T>
using runtime_slot = slot<runtime, T>;
template <class T>
using communicator_slot = slot<communicator, T>;

/// The places of one holder. Reading is hot: one load. Writing is for whoever owns the key, before
/// others read.
template <class Holder, std::size_t Count>
class slot_table {
 public:
  slot_table() noexcept = default;
  ~slot_table() {
    for (std::size_t i = Count; i-- > 0;) {
      destroy(i);
    }
  }
  slot_table(const slot_table&) = delete;
  slot_table& operator=(const slot_table&) = delete;

  /// Null if nothing is there.
  template <class T>
  [[nodiscard]] T* get(slot<Holder, T> key) const noexcept {
    SINEW_EXPECT(fits(key));
    return static_cast<T*>(objects_[key.place()]);
  }
  /// Takes away what is there.
  template <class T>
  void clear(slot<Holder, T> key) noexcept {
    SINEW_EXPECT(fits(key));
    destroy(key.place());
  }
  /// Refers to what somebody else owns.
  template <class T>
  void set(slot<Holder, T> key, T* object) noexcept {
    SINEW_EXPECT(object != nullptr && fits(key));
    destroy(key.place());
    objects_[key.place()] = object;
    kinds_[key.place()] = {key.type(), nullptr};
  }
  /// Makes an object that lives as long as the holder. Throws what its constructor throws.
  template <class T, class... Arguments>
  T& emplace(slot<Holder, T> key, Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& object = *made;
    set(key, made.release());
    kinds_[key.place()].destroy = [](void* gone) noexcept { delete static_cast<T*>(gone); };
    SINEW_ENSURE(get(key) == &object);
    return object;
  }

 private:
  struct kind {
    const char* type = nullptr;
    void (*destroy)(void* object) noexcept = nullptr;  ///< null: it is somebody else's
  };

  /// The place exists, and no other type is there.
  template <class T>
  [[nodiscard]] bool fits(slot<Holder, T> key) const noexcept {
    return key.place() < Count && (kinds_[key.place()].type == nullptr ||
                                   std::strcmp(kinds_[key.place()].type, key.type()) == 0);
  }
  void destroy(std::size_t place) noexcept {
    if (kinds_[place].destroy != nullptr) {
      kinds_[place].destroy(objects_[place]);
    }
    kinds_[place] = {};
    objects_[place] = nullptr;
  }

  std::array<void*, Count> objects_{};
  std::array<kind, Count> kinds_{};
};

}  // namespace sinew::core
