// SPDX-License-Identifier: BSD-3-Clause
// Objects of one type, reused last-in-first-out, so that hot paths never allocate once warm.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::core {

/// Of the calling thread, in turn as threads come, from 1; 0: it has none yet.
extern thread_local constinit unsigned own_thread_number [[gnu::tls_model("initial-exec")]];
[[nodiscard]] unsigned draw_thread_number() noexcept;
[[nodiscard]] inline unsigned thread_number() noexcept {
  const unsigned mine = own_thread_number;
  return mine != 0 ? mine : draw_thread_number();
}

/// T needs a member `T* pool_link`. Objects are constructed once, by the first get() that needs
/// them, and keep their state between uses. All are destroyed with the pool.
/// get() returns null only if memory is exhausted. Any thread if `threaded`: then each takes from a
/// shelf of its own (or of a few), so that threads seldom meet, and from the others' before new
/// objects are made. Grade: hot.
template <class T>
class pool {
 public:
  explicit pool(bool threaded) noexcept : threaded_(threaded) {}

  [[nodiscard]] T* get() noexcept {
    if (threaded_) {
      return get_from(shelves_[thread_number() % shelves]);
    }
    T*& free = shelves_[0].free;
    return free != nullptr ? pop(free) : fetch(shelves_[0]);
  }

  void put(T* object) noexcept {
    SINEW_EXPECT(object != nullptr);
    if (threaded_) {
      return put_on(shelves_[thread_number() % shelves], object);
    }
    push(shelves_[0].free, object);
  }

  /// Visits every object there is, in use or not, with gets and puts kept out. Cold.
  template <class Visit>
  void each(Visit visit) {
    for (shelf& one : shelves_) {
      one.lock.acquire();
    }
    slabs_lock_.acquire();
    for (auto& slab : slabs_) {
      for (std::size_t i = 0; i < slab_objects; ++i) {
        visit(slab[i]);
      }
    }
    slabs_lock_.release();
    for (shelf& one : shelves_) {
      one.lock.release();
    }
  }

 private:
  static constexpr std::size_t slab_objects = 64;
  static constexpr std::size_t shelves = 16;
  static constexpr std::size_t taken_at_once = 32;
  struct alignas(64) shelf {
    base::lock lock;
    T* free = nullptr;
  };

  [[nodiscard]] T* get_from(shelf& mine) noexcept {
    {
      base::guard held(mine.lock, true);
      if (mine.free != nullptr) [[likely]] {
        return pop(mine.free);
      }
    }
    return fetch(mine);
  }
  void put_on(shelf& mine, T* object) noexcept {
    base::guard held(mine.lock, true);
    push(mine.free, object);
  }

  /// The shelf is empty. One lock at a time: what others put on it meanwhile stays there.
  [[nodiscard, gnu::noinline]] T* fetch(shelf& mine) noexcept {
    T* found = threaded_ ? take_of_others(mine) : nullptr;
    if (found == nullptr && !grow(found)) {
      return nullptr;
    }
    T* const object = pop(found);
    if (found != nullptr) {
      T* last = found;
      while (last->pool_link != nullptr) {
        last = last->pool_link;
      }
      base::guard held(mine.lock, threaded_);
      last->pool_link = mine.free;
      mine.free = found;
    }
    SINEW_ENSURE(object != nullptr);
    return object;
  }

  [[nodiscard]] static T* pop(T*& list) noexcept {
    T* object = list;
    list = object->pool_link;
    return object;
  }

  static void push(T*& list, T* object) noexcept {
    object->pool_link = list;
    list = object;
  }

  /// A few from another shelf; or null.
  [[nodiscard]] T* take_of_others(const shelf& mine) noexcept {
    for (std::size_t i = 0; i < shelves; ++i) {
      shelf& other = shelves_[i];
      if (&other == &mine) {
        continue;
      }
      base::guard held(other.lock, true);
      if (other.free == nullptr) {
        continue;
      }
      T* last = other.free;
      for (std::size_t n = 1; n < taken_at_once && last->pool_link != nullptr; ++n) {
        last = last->pool_link;
      }
      return std::exchange(other.free, std::exchange(last->pool_link, nullptr));
    }
    return nullptr;
  }

  /// Makes a list of new objects, in front of what is in `list`.
  [[gnu::noinline]] bool grow(T*& list) noexcept try {
    base::guard held(slabs_lock_, threaded_);
    slabs_.push_back(std::make_unique<T[]>(slab_objects));
    for (std::size_t i = slab_objects; i-- > 0;) {
      T& object = slabs_.back()[i];
      object.pool_link = list;
      list = &object;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::array<shelf, shelves> shelves_;  ///< the first only, without threads
  base::lock slabs_lock_;
  std::vector<std::unique_ptr<T[]>> slabs_;
  const bool threaded_;
};

}  // namespace sinew::core
