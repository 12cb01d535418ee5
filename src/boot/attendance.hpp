// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a node have come and which have gone, behind the node's shared memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "sinew/base/ids.hpp"

namespace sinew::boot {

/// One byte for each local rank; zero bytes are the initial state. Grade: cold.
class attendance {
 public:
  attendance() = default;
  /// All of a node that has so many.
  [[nodiscard]] static std::vector<local_rank> all(int ranks);
  /// What it needs behind `bytes` of other use, and where it then begins.
  [[nodiscard]] static std::size_t begin_behind(std::size_t bytes) noexcept;
  [[nodiscard]] static std::size_t bytes_for(int ranks) noexcept {
    return static_cast<std::size_t>(ranks);
  }

  /// This rank has come. `members`: those asked after, this one among them.
  attendance(std::byte* base, local_rank mine, std::vector<local_rank> members) noexcept;
  /// This rank will take part in nothing any more. Harmless without memory.
  void leave() noexcept;
  /// It will, after all.
  void come_back() noexcept;
  /// Ranks that have not come yet; none without memory.
  [[nodiscard]] std::vector<local_rank> absent() const;
  /// All others have left; false without memory, when that cannot be known.
  [[nodiscard]] bool others_have_left() const noexcept;

 private:
  enum state : unsigned char { absent_yet, present, gone };
  std::atomic<unsigned char>* states_ = nullptr;
  local_rank mine_ = 0;
  std::vector<local_rank> members_;
};

}  // namespace sinew::boot
