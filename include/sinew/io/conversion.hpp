// SPDX-License-Identifier: BSD-3-Clause
// How data are converted between memory and a file that represents them otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sinew/p2p/engine.hpp"

namespace sinew::io {

/// Throw io::failure if they cannot. What does not convert needs none.
class conversion {
 public:
  conversion() = default;
  conversion(const conversion&) = delete;
  conversion& operator=(const conversion&) = delete;
  virtual ~conversion() = default;
  /// Fills `file` with all of the data, one instance behind the other.
  virtual void to_file(const p2p::buffer& from, std::span<std::byte> file) const = 0;
  /// The inverse, of as many bytes as the file had: some of the data may be missing at the end.
  /// Returns how many bytes of data they are in memory.
  [[nodiscard]] virtual std::int64_t from_file(std::span<std::byte> file,
                                               const p2p::buffer& to) const = 0;
};

/// The standard's own representation (MPI-5.0 section 14.5.2), and that of memory, which is only
/// packed. For ever.
[[nodiscard]] const conversion& external32();
[[nodiscard]] const conversion& packed();

}  // namespace sinew::io
