// SPDX-License-Identifier: BSD-3-Clause
#include "io/posix_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/io/failure.hpp"

namespace sinew::io {
namespace {

constexpr std::int64_t most_at_once = 0x7ffff000;  ///< what read(2) and write(2) move in one call

template <class Call>
moved repeat(std::int64_t bytes, Call call) noexcept {
  SINEW_EXPECT(bytes >= 0);
  moved so_far;
  while (so_far.bytes < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes - so_far.bytes, most_at_once));
    const ssize_t n = call(so_far.bytes, wanted);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      so_far.error = errno;
    }
    if (n <= 0) {
      break;
    }
    so_far.bytes += n;
  }
  SINEW_ENSURE(so_far.bytes <= bytes);
  return so_far;
}

template <class Call>
int uninterrupted(Call call) noexcept {
  int result = 0;
  do {
    result = call();
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

bool is_remote(int descriptor) noexcept {
  struct statfs about{};
  if (::fstatfs(descriptor, &about) != 0) {
    return false;
  }
  switch (static_cast<unsigned long>(about.f_type) & 0xffffffff) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case V9FS_MAGIC:
    case FUSE_SUPER_MAGIC:
    // Of these the kernel's headers know nothing: Lustre, GPFS, BeeGFS.
    case 0x0bd00bd0:
    case 0x47504653:
    case 0x19830326:
      return true;
    default:
      return false;
  }
}

}  // namespace

int posix_file::open(const std::string& path, int flags, mode_t mode) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  if (number < 0) {
    return errno;
  }
  boot::descriptor opened(number);
  struct stat about{};
  if (::fstat(number, &about) != 0) {
    return errno;
  }
  if (S_ISDIR(about.st_mode)) {  // open(2) allows that for reading
    return EISDIR;
  }
  SINEW_ASSERT(descriptor_.get() < 0);
  descriptor_ = std::move(opened);
  remote_ = is_remote(number);
  return 0;
}

int posix_file::close() noexcept {
  // close(2) frees the descriptor even if it fails; on NFS it reports writes that failed late.
  const int number = descriptor_.release();
  return number < 0 || ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

moved posix_file::read(std::int64_t offset, std::byte* to, std::int64_t bytes) const noexcept {
  return repeat(bytes, [&](std::int64_t done, std::size_t n) {
    return ::pread(descriptor_.get(), to + done, n, offset + done);
  });
}

moved posix_file::write(std::int64_t offset, const std::byte* from,
                        std::int64_t bytes) const noexcept {
  moved done = repeat(bytes, [&](std::int64_t so_far, std::size_t n) {
    return ::pwrite(descriptor_.get(), from + so_far, n, offset + so_far);
  });
  if (done.error == 0 && done.bytes < bytes) {
    done.error = ENOSPC;  // a write of nothing
  }
  return done;
}

std::int64_t posix_file::size() const noexcept {
  struct stat about{};
  return ::fstat(descriptor_.get(), &about) == 0 ? about.st_size : -1;
}

int posix_file::resize(std::int64_t bytes) const noexcept {
  return uninterrupted([&] { return ::ftruncate(descriptor_.get(), bytes); });
}

int posix_file::reserve(std::int64_t bytes) const noexcept {
  int error = 0;
  do {
    error = ::posix_fallocate(descriptor_.get(), 0, bytes);
  } while (error == EINTR);
  return error;
}

int posix_file::flush() const noexcept {
  const int error = uninterrupted([&] { return ::fsync(descriptor_.get()); });
  return error == EINVAL || error == EROFS ? 0 : error;  // nothing to flush: a pipe, a device
}

int posix_file::lock(std::int64_t offset, std::int64_t bytes, lock_kind kind) const noexcept {
  struct flock range{};
  range.l_type = static_cast<short>(kind == lock_kind::none     ? F_UNLCK
                                    : kind == lock_kind::shared ? F_RDLCK
                                                                : F_WRLCK);
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = bytes;
  return uninterrupted([&] { return ::fcntl(descriptor_.get(), F_OFD_SETLKW, &range); });
}

range_lock::range_lock(const posix_file& file, const std::string& path, std::int64_t offset,
                       std::int64_t bytes, posix_file::lock_kind kind)
    : file_(file), offset_(offset), bytes_(bytes) {
  SINEW_EXPECT(kind != posix_file::lock_kind::none);
  // A length of 0 would lock all that follows.
  const int error = bytes_ == 0 ? 0 : file_.lock(offset_, bytes_, kind);
  if (error != 0) {
    fail_by_system(error, "lock a part of", path);
  }
}

range_lock::~range_lock() {
  if (bytes_ != 0) {
    (void)file_.lock(offset_, bytes_, posix_file::lock_kind::none);
  }
}

}  // namespace sinew::io
