// SPDX-License-Identifier: BSD-3-Clause
// Address space that costs nothing until it is touched, and then reads as zero.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "fiber/annotations.hpp"
#include "sinew/base/error.hpp"

namespace sinew::fiber {

/// So tables can have room for as many entries as can ever exist and never move: no growing, no
/// moving of words that others are writing. Cold to make.
class lazy_memory {
 public:
  explicit lazy_memory(std::size_t bytes)
      : bytes_(bytes),
        at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (at_ == MAP_FAILED) {
      throw error("cannot reserve address space for fibers", "mmap refused",
                  "raise the limit on address space (ulimit -v)");
    }
  }
  ~lazy_memory() {
    annotations::unmapping(at_, bytes_);
    ::munmap(at_, bytes_);
  }
  lazy_memory(const lazy_memory&) = delete;
  lazy_memory& operator=(const lazy_memory&) = delete;

  [[nodiscard]] std::byte* at() const noexcept { return static_cast<std::byte*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

}  // namespace sinew::fiber
