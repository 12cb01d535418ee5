// A range of offsets cut into blocks. The bookkeeping lies apart from the memory, so that nobody's
// stray store can break it and untouched pages stay untouched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace sinew::rma {

/// Best fit, the lowest of equals: what it answers depends on the calls made and on nothing else.
class arena {
 public:
  static constexpr std::size_t grain = 64;

  arena(std::uint64_t begin, std::uint64_t bytes);

  /// Offset, or 0 if nothing fits. `alignment` is a power of two.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// The block's size, or 0 if no block begins there.
  std::uint64_t release(std::uint64_t offset);
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t largest_free() const;
  [[nodiscard]] bool covers(std::uint64_t offset) const noexcept {
    return offset - begin_ < bytes_;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void add_free(std::uint64_t begin, std::uint64_t bytes);

  const std::uint64_t begin_;
  const std::uint64_t bytes_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;                ///< size by beginning
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  ///< size, beginning
  std::unordered_map<std::uint64_t, std::uint64_t> taken_;     ///< size by beginning
};

}  // namespace sinew::rma
