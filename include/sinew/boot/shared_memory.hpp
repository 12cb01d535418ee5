// SPDX-License-Identifier: BSD-3-Clause
// Memory that several processes of one node map, which no file name ever outlives: a memfd, or
// where the system has none an object in /dev/shm that is unlinked before anybody else sees it.
// The descriptor itself is passed on: inherited from our launcher, or through an abstract socket.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sinew/base/ids.hpp"
#include "sinew/boot/descriptor.hpp"

namespace sinew::boot {

enum class memory_kind { best, named_object };

/// A new empty descriptor, close-on-exec. `named_object` forces the fallback (for tests). Throws.
[[nodiscard]] descriptor make_shared_memory(std::string_view label,
                                            memory_kind kind = memory_kind::best);

/// Whether memory of it costs nothing until it is touched, however much of it is mapped.
[[nodiscard]] bool is_free_until_touched(int descriptor);

/// Owns one mapping. Grade: cold.
class memory_mapping {
 public:
  memory_mapping() = default;
  memory_mapping(memory_mapping&& other) noexcept;
  memory_mapping& operator=(memory_mapping&& other) noexcept;
  ~memory_mapping();

  /// Sizes the descriptor to `bytes` (idempotent: any number of ranks may do it at once, with the
  /// same size) and maps it. Pages are touched by their first user, except where the file system
  /// is limited: there they are reserved now, so that a small /dev/shm is an error here and not a
  /// SIGBUS later. Throws sinew::error with the bytes wanted and those to be had.
  [[nodiscard]] static memory_mapping of(int descriptor, std::size_t bytes);
  /// The same for a second, sparse part of the descriptor, far behind the first.
  [[nodiscard]] static memory_mapping heap_of(int descriptor, std::size_t bytes);
  /// Private to this process and its forks. Throws.
  [[nodiscard]] static memory_mapping anonymous(std::size_t bytes);

  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  static memory_mapping part(int descriptor, std::size_t begin, std::size_t bytes,
                             const char* hint);
  memory_mapping(std::byte* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Gives the descriptor of local rank 0 to the other local ranks, which must belong to the same
/// user. Collective over the node; waits for the others without a limit (the launcher ends the
/// job if one dies). `name` must be the same on these ranks and unique on the node. Rank 0 passes
/// its descriptor and gets it back; the others pass an empty one. Throws.
[[nodiscard]] descriptor share_descriptor(const std::string& name, local_rank here, int local_size,
                                          descriptor mine);

}  // namespace sinew::boot
