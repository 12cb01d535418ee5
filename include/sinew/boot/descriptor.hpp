// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor with an owner.
#pragma once

#include <utility>

namespace sinew::boot {

/// Owns at most one descriptor and closes it. Grade: cold.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept;

 private:
  int number_ = -1;
};

}  // namespace sinew::boot
