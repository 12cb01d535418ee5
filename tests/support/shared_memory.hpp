// Memory of processes that are forked later.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace sinew::test {

/// Zero-filled memory that forked children share; pages exist once touched.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes)
      : base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
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

 private:
  void* base_;
  std::size_t bytes_;
};

}  // namespace sinew::test
