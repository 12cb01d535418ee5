// SPDX-License-Identifier: BSD-3-Clause
// A file of the operating system: reads and writes that go on until all is done, locks of byte
// ranges.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "sinew/boot/descriptor.hpp"

namespace sinew::io {

/// What a read or a write has done. `error` is the system's number, 0 if none.
struct moved {
  std::int64_t bytes = 0;
  int error = 0;
};

/// Does not suspend fibers: a call blocks its thread until the system call returns.
class posix_file {
 public:
  posix_file() = default;
  /// Returns the system's error number, 0 if the file is open. `flags` and `mode` as open(2).
  [[nodiscard]] int open(const std::string& path, int flags, mode_t mode);
  [[nodiscard]] int close() noexcept;

  /// Fewer bytes than wanted without an error: the file ends there. Hot.
  [[nodiscard]] moved read(std::int64_t offset, std::byte* to, std::int64_t bytes) const noexcept;
  [[nodiscard]] moved write(std::int64_t offset, const std::byte* from,
                            std::int64_t bytes) const noexcept;

  /// The file's length, or -1 and errno.
  [[nodiscard]] std::int64_t size() const noexcept;
  /// Whether each call costs a message to another machine.
  [[nodiscard]] bool remote() const noexcept { return remote_; }
  // These return the system's error number.
  [[nodiscard]] int resize(std::int64_t bytes) const noexcept;
  [[nodiscard]] int reserve(std::int64_t bytes) const noexcept;
  [[nodiscard]] int flush() const noexcept;

  enum class lock_kind { shared, exclusive, none };
  /// Waits for it. Locks belong to this opening of the file, so that two openings in one process
  /// exclude each other too, but not the threads that share one.
  [[nodiscard]] int lock(std::int64_t offset, std::int64_t bytes, lock_kind kind) const noexcept;

 private:
  boot::descriptor descriptor_;
  bool remote_ = false;
};

/// A locked range of bytes. Throws failure if it cannot be had.
class range_lock {
 public:
  range_lock(const posix_file& file, const std::string& path, std::int64_t offset,
             std::int64_t bytes, posix_file::lock_kind kind);
  range_lock(const range_lock&) = delete;
  range_lock& operator=(const range_lock&) = delete;
  ~range_lock();

 private:
  const posix_file& file_;
  std::int64_t offset_;
  std::int64_t bytes_;
};

}  // namespace sinew::io
