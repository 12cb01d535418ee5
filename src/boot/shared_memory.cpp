// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"

namespace sinew::boot {
namespace {

std::string amount(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 20)) {
    return std::to_string(bytes >> 20) + " MiB";
  }
  return std::to_string(bytes) + " bytes";
}

descriptor make_named_object(std::string_view label) {
  const std::string name = "/sinew-" + std::to_string(::getpid()) + "-" + std::to_string(now_ns()) +
                           "-" + std::string(label);
  const int number = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  SINEW_CHECK(
      number >= 0, "shared memory cannot be created",
      "memfd_create is refused here and shm_open says: " + std::string(std::strerror(errno)),
      "mount a tmpfs on /dev/shm that this user may write to");
  ::shm_unlink(name.c_str());
  return descriptor(number);
}

// Past this limit the kernel would send SIGXFSZ instead of an error.
void check_file_limit(std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    SINEW_CHECK(bytes <= limit.rlim_cur, "shared memory of " + amount(bytes) + " is not allowed",
                "the limit on file size (ulimit -f) is " + amount(limit.rlim_cur),
                "raise it: ulimit -f unlimited");
  }
}

/// The first part begins at 0, the heap here. Where the file ends tells which of them exist.
constexpr std::size_t heap_begin = std::size_t{1} << 40;

/// Keeps the other processes out while this one looks at the file's size and changes it: a slow
/// rank must not cut off what a fast one has added. (A POSIX lock, because descriptors that were
/// inherited share the other kinds.)
class size_lock {
 public:
  explicit size_lock(int number) : number_(number) { set(F_WRLCK); }
  ~size_lock() { set(F_UNLCK); }
  size_lock(const size_lock&) = delete;
  size_lock& operator=(const size_lock&) = delete;

 private:
  void set(short kind) noexcept {
    struct flock whole{};
    whole.l_type = kind;
    whole.l_whence = SEEK_SET;
    while (::fcntl(number_, F_SETLKW, &whole) != 0 && errno == EINTR) {
    }
  }
  int number_;
};

std::size_t size_of(int number) {
  struct stat now{};
  SINEW_CHECK(::fstat(number, &now) == 0, "shared memory is not there",
              "descriptor " + std::to_string(number) + ": " + std::strerror(errno),
              "a program between the launcher and this one has closed it; start without it");
  return static_cast<std::size_t>(now.st_size);
}

/// Makes the file end there, or finds that another rank has.
void agree_on_end(int number, std::size_t begin, std::size_t bytes, const char* hint) {
  const size_lock held(number);
  const std::size_t size = size_of(number);
  const bool first = begin == 0;
  const bool untouched = first ? size == 0 : size <= heap_begin;
  if (untouched) {
    SINEW_CHECK(::ftruncate(number, static_cast<off_t>(begin + bytes)) == 0,
                "shared memory of " + amount(bytes) + " cannot be had", std::strerror(errno), hint);
  } else {
    SINEW_CHECK(size == begin + bytes || (first && size > heap_begin),
                "the ranks disagree on the size of their shared memory",
                "this one wants " + std::to_string(bytes) + " bytes, another " +
                    std::to_string(size - begin),
                "give all ranks the same SINEW_* settings and the same library");
  }
}

// An unlimited tmpfs, as that behind a memfd, reports no blocks at all.
bool is_limited(int number, struct statfs& system) {
  return ::fstatfs(number, &system) == 0 && system.f_blocks != 0;
}

/// `hint`: how the ranks need less.
void reserve_if_limited(int number, std::size_t begin, std::size_t bytes, const std::string& hint) {
  struct statfs system{};
  if (!is_limited(number, system)) {
    return;
  }
  const int failure =
      ::posix_fallocate(number, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  const auto free_bytes =
      static_cast<std::size_t>(system.f_bavail) * static_cast<std::size_t>(system.f_bsize);
  SINEW_CHECK(
      failure == 0,
      "shared memory of " + amount(bytes) + " cannot be had (" + std::strerror(failure) + ")",
      "memory without a file system (memfd_create) is refused here, and /dev/shm has " +
          amount(free_bytes) + " free",
      hint + ", or enlarge /dev/shm (mount -o remount,size=..., docker --shm-size)");
}

}  // namespace

bool is_free_until_touched(int number) {
  struct statfs system{};
  return !is_limited(number, system);
}

descriptor make_shared_memory(std::string_view label, memory_kind kind) {
  if (kind == memory_kind::best) {
    const int number =
        ::memfd_create(("sinew-" + std::string(label)).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (number >= 0) {
      // Whoever cuts it off would end every rank by SIGBUS. It still grows. A kernel that has no
      // seals does without.
      (void)::fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK);
      return descriptor(number);
    }
  }
  return make_named_object(label);
}

memory_mapping::memory_mapping(memory_mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

memory_mapping& memory_mapping::operator=(memory_mapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

memory_mapping::~memory_mapping() {
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
}

memory_mapping memory_mapping::of(int number, std::size_t bytes) {
  return part(number, 0, bytes, "start fewer ranks, or lower the size of their rings");
}

memory_mapping memory_mapping::heap_of(int number, std::size_t bytes) {
  return part(number, heap_begin, bytes,
              "set SINEW_RMA_HEAP and SINEW_RMA_LOCAL_HEAP, which each rank has of it, to less");
}

memory_mapping memory_mapping::part(int number, std::size_t begin, std::size_t bytes,
                                    const char* hint) {
  SINEW_CHECK(bytes > 0, "shared memory of no bytes makes no sense", "a rank asked for it", "");
  check_file_limit(begin + bytes);
  agree_on_end(number, begin, bytes, hint);
  reserve_if_limited(number, begin, bytes, hint);
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, number,
                      static_cast<off_t>(begin));
  SINEW_CHECK(base != MAP_FAILED, "shared memory of " + amount(bytes) + " cannot be mapped",
              std::strerror(errno), "raise the limit on address space (ulimit -v unlimited)");
  return {static_cast<std::byte*>(base), bytes};
}

memory_mapping memory_mapping::anonymous(std::size_t bytes) {
  SINEW_CHECK(bytes > 0, "shared memory of no bytes makes no sense", "a rank asked for it", "");
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SINEW_CHECK(base != MAP_FAILED, "memory of " + amount(bytes) + " cannot be mapped",
              std::strerror(errno), "raise the limit on address space (ulimit -v unlimited)");
  return {static_cast<std::byte*>(base), bytes};
}

}  // namespace sinew::boot
