// SPDX-License-Identifier: BSD-3-Clause
// Handles are addresses of objects that begin with a tag, or the standard's small integers. A
// freed or foreign handle differs from a live one by the tag: memory of freed objects is reused
// for objects of the same kind only and never given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "abi/mpi/generated/predefined.hpp"
#include "c/mpi.h"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

enum class kind : std::uint32_t {
  dead = 0xdead0000,
  comm = 0x51e30001,
  group,
  type,
  op,
  request,
  message,
  info,
  errhandler,
  session,
  window,
  file,
  revoked_comm,     ///< by this rank, or it has learnt of it
  unfinished_comm,  ///< of MPI_Comm_idup, before its request has been completed
};

/// The head of every object behind a handle.
struct object {
  explicit object(kind k) noexcept : what(k) {}
  std::atomic<kind> what;
  std::atomic<int> number{0};      ///< for MPI_*_toint; 0: none yet. See numbers.cpp
  std::atomic<int> references{1};  ///< handles and other objects that need it
};
// retire() overwrites the tag, and resolve() reads it, in memory that may hold no object.
static_assert(std::atomic<kind>::is_always_lock_free && sizeof(std::atomic<kind>) == sizeof(kind));
static_assert(offsetof(object, what) == 0);
static_assert(std::atomic<int>::is_always_lock_free);

/// Values below are predefined handles.
inline constexpr std::uintptr_t first_address = 0x1000;
static_assert(abi::handle_complex32 < first_address);

[[nodiscard]] inline std::uintptr_t value_of(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

/// The live object behind a handle that is not predefined, or null.
template <class T>
[[nodiscard]] T* resolve(const void* handle) noexcept {
  const std::uintptr_t v = value_of(handle);
  if (v < first_address || v % alignof(T) != 0) [[unlikely]] {
    return nullptr;
  }
  auto* found = static_cast<T*>(const_cast<void*>(handle));
  return found->what.load(std::memory_order_relaxed) == T::tag ? found : nullptr;
}

/// Where objects of one kind live. The longest dead is reused first, so that a stale handle stays
/// recognisable for long, and the memory keeps its number (numbers.cpp). Any thread. Cold.
template <class T>
class arena {
  static_assert(std::is_base_of_v<object, T> && !std::is_polymorphic_v<T>);  // the tag comes first
  static_assert(alignof(T) >= alignof(object));

 public:
  template <class... Args>
  [[nodiscard]] static T* make(Args&&... args) {
    slot in;
    {
      const std::lock_guard held(lock());
      if (retired().size() > spare) {
        in = retired().front();
        retired().pop_front();
      }
    }
    if (in.memory == nullptr) {
      in.memory = ::operator new(sizeof(T), std::align_val_t{alignof(T)});
    }
    SINEW_ASSERT(value_of(in.memory) % alignof(T) == 0);
    SINEW_ASSERT(value_of(in.memory) >= first_address);
    T* const made = new (in.memory) T(std::forward<Args>(args)...);
    // Relaxed: passing the handle to another thread needs synchronisation anyway.
    made->number.store(in.number, std::memory_order_relaxed);
    SINEW_ENSURE(made->what.load(std::memory_order_relaxed) == T::tag);
    SINEW_ENSURE(resolve<T>(made) == made);
    return made;
  }

  static void retire(T* object) {
    SINEW_EXPECT(object != nullptr);
    SINEW_EXPECT(object->references.load(std::memory_order_relaxed) == 0);
    const int number = object->number.load(std::memory_order_relaxed);
    object->~T();
    const kind dead = kind::dead;
    std::memcpy(static_cast<void*>(object), &dead, sizeof dead);
    // The compiler may not drop the tag as a store to an object that ends.
    asm volatile("" : : "r"(object) : "memory");
    const std::lock_guard held(lock());
    retired().push_back({object, number});
  }

 private:
  struct slot {
    void* memory = nullptr;
    int number = 0;
  };

  static constexpr std::size_t spare = 64;
  // Never destroyed: MPI may be called while the program exits.
  static std::mutex& lock() {
    static auto& it = *new std::mutex;
    return it;
  }
  static std::deque<slot>& retired() {
    static auto& it = *new std::deque<slot>;
    return it;
  }
};

/// Drops one reference; at zero the object goes.
template <class T>
void drop(T* object) {
  if (object != nullptr && object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    arena<T>::retire(object);
  }
}

template <class T>
T* keep(T* object) noexcept {
  if (object != nullptr) {
    object->references.fetch_add(1, std::memory_order_relaxed);
  }
  return object;
}

/// An address as a handle, and a small integer as one.
template <class Handle>
[[nodiscard]] Handle handle_of(const void* object) noexcept {
  return reinterpret_cast<Handle>(const_cast<void*>(object));
}
template <class Handle>
[[nodiscard]] Handle predefined(std::uintptr_t value) noexcept {
  SINEW_EXPECT(value < first_address);
  return reinterpret_cast<Handle>(value);
}

}  // namespace sinew::mpi
