// Objects of one type, reused last-in-first-out, so that hot paths never allocate once warm.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sinew/core/lock.hpp"

namespace sinew::core {

/// T needs a member `T* pool_link`. Objects are constructed once, by the first get() that needs
/// them, and keep their state between uses. All are destroyed with the pool.
/// get() returns null only if memory is exhausted. Any thread if `threaded`. Grade: hot.
template <class T>
class pool {
 public:
  explicit pool(bool threaded) noexcept : threaded_(threaded) {}

  [[nodiscard]] T* get() noexcept {
    guard held(lock_, threaded_);
    if (free_ == nullptr && !grow()) [[unlikely]] {
      return nullptr;
    }
    T* object = free_;
    free_ = object->pool_link;
    return object;
  }

  void put(T* object) noexcept {
    guard held(lock_, threaded_);
    object->pool_link = free_;
    free_ = object;
  }

  /// Visits every object there is, in use or not, with gets and puts kept out. Cold.
  template <class Visit>
  void each(Visit visit) {
    guard held(lock_, threaded_);
    for (auto& slab : slabs_) {
      for (std::size_t i = 0; i < slab_objects; ++i) {
        visit(slab[i]);
      }
    }
  }

 private:
  static constexpr std::size_t slab_objects = 64;

  [[gnu::noinline]] bool grow() noexcept try {
    slabs_.push_back(std::make_unique<T[]>(slab_objects));
    for (std::size_t i = slab_objects; i-- > 0;) {
      T& object = slabs_.back()[i];
      object.pool_link = free_;
      free_ = &object;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  lock lock_;
  T* free_ = nullptr;
  std::vector<std::unique_ptr<T[]>> slabs_;
  bool threaded_;
};

}  // namespace sinew::core
