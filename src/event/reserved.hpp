// SPDX-License-Identifier: BSD-3-Clause
// Memory whose addresses are reserved whole and whose pages exist once they are touched, so that an
// index becomes an address by one addition, and nothing moves as it grows.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "sinew/base/check.hpp"

namespace sinew::event {

/// Zero-filled objects by index.
template <class T>
class reserved {
 public:
  explicit reserved(std::uint32_t count) : bytes_(std::size_t{count} * sizeof(T)) {
    static_assert(std::is_trivially_destructible_v<T>);
    SINEW_EXPECT(count != 0);
    void* got = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SINEW_CHECK(got != MAP_FAILED, "cannot reserve addresses for events",
                "the system refuses " + std::to_string(bytes_ >> 20) + " MiB (no page is used yet)",
                "lower SINEW_EVENT_MOST_PENDING, or raise the limit (ulimit -v)");
    first_ = static_cast<T*>(got);
    SINEW_ENSURE(reinterpret_cast<std::uintptr_t>(first_) % alignof(T) == 0);
  }
  ~reserved() { ::munmap(first_, bytes_); }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;

  [[nodiscard]] T& operator[](std::uint32_t i) const noexcept {
    SINEW_EXPECT(i < bytes_ / sizeof(T));
    return first_[i];
  }
  [[nodiscard]] T* data() const noexcept { return first_; }

 private:
  std::size_t bytes_;
  T* first_;
};

}  // namespace sinew::event
