// SPDX-License-Identifier: BSD-3-Clause
// What a rank has of a file that it has opened.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "io/posix_file.hpp"
#include "io/shared_position.hpp"
#include "sinew/io/file.hpp"

namespace sinew::io {

struct file::state {
  explicit state(coll::participant over) : at(over) {}

  coll::participant at;
  posix_file system;
  std::string path;
  open_mode mode;
  io::hints hints;

  std::optional<file_view> view;  ///< there from open() on
  /// The individual pointer, in etypes of the view. Relaxed: threads that use it at a time take
  /// turns, and hand over nothing else.
  std::atomic<std::int64_t> position{0};
  std::unique_ptr<io::shared_position> shared;

  bool atomic_mode = false;
  std::mutex one_thread;  ///< atomic mode: threads share the system's locks

  /// Between the two calls of a split access, which is over when the first returns.
  struct split_access {
    const char* end = nullptr;  ///< name of the call that is missing; null: none
    const void* buffer = nullptr;
    std::int64_t bytes = 0;
  } split;
};

}  // namespace sinew::io
