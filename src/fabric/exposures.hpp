// SPDX-License-Identifier: BSD-3-Clause
// Memory that other ranks may reach, by number: what a request names is checked against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric {

/// Under the endpoint's lock. A number is used again with another generation, so that a key that
/// was withdrawn is known.
class exposures {
 public:
  /// Throws std::bad_alloc.
  [[nodiscard]] std::uint64_t add(std::uint64_t address, std::size_t bytes) {
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // remove() cannot fail
      all_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
    }
    const std::uint32_t index = free_.back();
    SINEW_ASSERT(index < index_mask && !all_[index].used);
    free_.pop_back();
    part& p = all_[index];
    p.used = true;
    p.address = address;
    p.bytes = bytes;
    return key_of(index);
  }
  void remove(std::uint64_t key) noexcept {
    SINEW_EXPECT(find(key) != nullptr);
    part* const p = find(key);
    if (p != nullptr) {
      p->used = false;
      ++p->generation;
      free_.push_back(static_cast<std::uint32_t>(p - all_.data()));
    }
  }
  /// What `asker`, another rank, wants to reach by a message. Memory that is not exposed under that
  /// key ends the process.
  [[nodiscard]] std::byte* at(job_rank asker, std::uint64_t key, std::uint64_t address,
                              std::uint64_t bytes) noexcept {
    const part* const p = find(key);
    if (p == nullptr || address < p->address || address - p->address > p->bytes ||
        bytes > p->bytes - (address - p->address)) [[unlikely]] {
      corrupt_peer(asker, "a request is for memory that is not exposed", address);
    }
    return reinterpret_cast<std::byte*>(address);
  }

 private:
  struct part {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t generation = 0;
    bool used = false;
  };
  static constexpr std::uint64_t index_bits = 24;
  static constexpr std::uint64_t index_mask = (1u << index_bits) - 1;

  /// At most 56 bits, never 0: the joint endpoint keeps the other eight for its near side.
  [[nodiscard]] std::uint64_t key_of(std::uint32_t index) const noexcept {
    return (std::uint64_t{all_[index].generation} << index_bits) | (index + 1);
  }
  [[nodiscard]] part* find(std::uint64_t key) noexcept {
    const std::uint64_t index = (key & index_mask) - 1;
    if (index >= all_.size() || !all_[index].used ||
        key_of(static_cast<std::uint32_t>(index)) != key) {
      return nullptr;
    }
    return &all_[index];
  }

  std::vector<part> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace sinew::fabric
