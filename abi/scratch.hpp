// SPDX-License-Identifier: BSD-3-Clause
// Values for the length of a call, for bindings that translate arrays of arguments.
#pragma once

#include <cstddef>
#include <memory>

namespace sinew {

/// `count` values; a few lie in the object. Without memory the program ends by std::bad_alloc.
template <class T>
class scratch {
 public:
  explicit scratch(long count) : count_(count > 0 ? static_cast<std::size_t>(count) : 0) {
    if (count_ > few) {
      many_.reset(new T[count_]);
    }
  }
  [[nodiscard]] T* data() noexcept { return many_ ? many_.get() : here_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }

 private:
  static constexpr std::size_t few = 16;
  std::size_t count_;
  T here_[few];
  std::unique_ptr<T[]> many_;
};

}  // namespace sinew
