// SPDX-License-Identifier: BSD-3-Clause
// A table with an entry for each of very many, of which most are never asked for.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>

#include "sinew/base/check.hpp"

namespace sinew::p2p {

/// Entries exist by pages, each made when the first entry of it is asked for: until then it costs a
/// null pointer. An entry begins as T{}, never moves, and lives as long as the table. Any thread.
template <class T, std::size_t PerPage = 64>
class lazy_pages {
 public:
  /// Throws std::bad_alloc. Cold.
  explicit lazy_pages(std::size_t size)
      : size_(size), pages_(std::make_unique<slot[]>((size + PerPage - 1) / PerPage)) {}
  ~lazy_pages() {
    for (std::size_t first = 0; first < size_; first += PerPage) {
      delete pages_[first / PerPage].load(std::memory_order_relaxed);
    }
  }
  lazy_pages(const lazy_pages&) = delete;
  lazy_pages& operator=(const lazy_pages&) = delete;

  /// Makes its page, if need be; null if there is no memory for it. Warm.
  [[nodiscard]] T* make(std::size_t index) noexcept {
    T* const there = find(index);
    return there != nullptr ? there : make_page(index);
  }
  /// Null if make() has been called for no entry of its page. Warm.
  [[nodiscard]] T* find(std::size_t index) noexcept {
    SINEW_EXPECT(index < size_);
    // Acquire: with the release in make_page(), a page is complete before it is seen.
    page* const p = pages_[index / PerPage].load(std::memory_order_acquire);
    return p != nullptr ? &(*p)[index % PerPage] : nullptr;
  }
  /// Calls f(index, entry) for each entry that exists, in their order. Cold.
  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < size_;) {
      T* const entry = find(i);
      if (entry != nullptr) {
        f(i, *entry);
      }
      i += entry != nullptr ? 1 : PerPage - i % PerPage;
    }
  }

 private:
  static_assert(std::has_single_bit(PerPage), "a shift finds the page");
  using page = std::array<T, PerPage>;
  using slot = std::atomic<page*>;

  [[gnu::noinline]] T* make_page(std::size_t index) noexcept {
    std::unique_ptr<page> made(new (std::nothrow) page{});
    if (made == nullptr) {
      return nullptr;
    }
    page* there = nullptr;
    // Release: see find(). Acquire: another thread may have made it.
    if (pages_[index / PerPage].compare_exchange_strong(
            there, made.get(), std::memory_order_release, std::memory_order_acquire)) {
      there = made.release();
    }
    SINEW_ENSURE(there != nullptr);
    return &(*there)[index % PerPage];
  }

  std::size_t size_;
  std::unique_ptr<slot[]> pages_;
};

}  // namespace sinew::p2p
