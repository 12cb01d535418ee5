// SPDX-License-Identifier: BSD-3-Clause
// Memory of processes that are forked later, or of the ranks of a launched job.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "support/launched.hpp"

namespace sinew::test {

/// Zero-filled memory that forked children share, or launched ranks if all of them make the same;
/// pages exist once touched.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes)
      : base_(launched() ? pages_of_board(bytes)
                         : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        bytes_(bytes) {
    if (base_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
  }
  ~shared_memory() { ::munmap(base_, bytes_); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  [[nodiscard]] std::byte* base() const { return static_cast<std::byte*>(base_); }
  /// A T of zeros.
  template <class T>
  [[nodiscard]] T& as() const {
    return launched() ? *static_cast<T*>(base_) : *new (base_) T{};
  }

 private:
  void* base_;
  std::size_t bytes_;
};

}  // namespace sinew::test
