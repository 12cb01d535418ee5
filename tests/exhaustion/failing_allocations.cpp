// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a rank, makes its allocations fail on demand: malloc and its like (operator new
// ends there) and mmap. Counts, and fails, only what our own code asks for: the innermost caller
// that is neither this library nor the C and C++ ones decides. From the environment:
//   EXHAUST_RANK     the rank that it concerns (PMI_RANK); all others run as ever
//   EXHAUST_AT       the allocation that fails, counted from 1; 0: none
//   EXHAUST_ON       set: all later ones fail, too
//   EXHAUST_PROGRAM  set: the program's own code counts as ours (it has the library inside)
//   EXHAUST_REPORT   a file to which the number of allocations is written at the end
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

constexpr int most_frames = 16;

std::atomic<long> seen{0};
std::atomic<int> state{0};  // 0: not ready yet, 1: counting, 2: not this rank
long fails_at = 0;
bool and_on = false;
bool program_too = false;
thread_local bool inside [[gnu::tls_model("initial-exec")]] = false;

/// Whether code of this object is ours (1), is what lies between (0), or somebody else's (-1).
int kind_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* between :
       {"libstdc++", "libc.so", "libgcc", "ld-linux", "libfailing", "libpthread"}) {
    if (std::strncmp(name, between, std::strlen(between)) == 0) {
      return 0;
    }
  }
  for (const char* ours : {"libsinew", "libmpi", "libcaf"}) {
    if (std::strncmp(name, ours, std::strlen(ours)) == 0) {
      return 1;
    }
  }
  return program_too && std::strstr(name, ".so") == nullptr ? 1 : -1;
}

bool asked_by_us() {
  void* frames[most_frames];
  const int count = backtrace(frames, most_frames);
  for (int i = 0; i < count; ++i) {
    Dl_info where{};
    if (dladdr(frames[i], &where) == 0 || where.dli_fname == nullptr) {
      continue;
    }
    if (const int kind = kind_of(where.dli_fname); kind != 0) {
      return kind > 0;
    }
  }
  return false;
}

bool fails_now() {
  if (state.load(std::memory_order_relaxed) != 1 || inside) {
    return false;
  }
  inside = true;
  const int saved = errno;
  bool fails = false;
  if (asked_by_us()) {
    const long number = seen.fetch_add(1) + 1;
    fails = fails_at != 0 && (number == fails_at || (and_on && number > fails_at));
  }
  errno = saved;
  inside = false;
  return fails;
}

[[gnu::constructor(101)]] void begin() {
  inside = true;
  void* frame = nullptr;
  (void)backtrace(&frame, 1);  // allocates the first time
  const char* const rank = std::getenv("PMI_RANK");
  const char* const wanted = std::getenv("EXHAUST_RANK");
  const char* const at = std::getenv("EXHAUST_AT");
  fails_at = at != nullptr ? std::atol(at) : 0;
  and_on = std::getenv("EXHAUST_ON") != nullptr;
  program_too = std::getenv("EXHAUST_PROGRAM") != nullptr;
  const bool concerned = rank != nullptr && wanted != nullptr && std::strcmp(rank, wanted) == 0;
  state.store(concerned ? 1 : 2);
  inside = false;
}

[[gnu::destructor]] void end() {
  const char* const report = std::getenv("EXHAUST_REPORT");
  if (state.exchange(2) != 1 || report == nullptr) {
    return;
  }
  const int file = ::open(report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%ld\n", seen.load());
  (void)!::write(file, text, static_cast<std::size_t>(length));
  ::close(file);
}

template <class Allocate>
void* attempt(Allocate allocate) {
  if (fails_now()) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocate();
}

}  // namespace

#define SHOWN extern "C" [[gnu::visibility("default")]]

SHOWN void* malloc(std::size_t bytes) {
  return attempt([=] { return __libc_malloc(bytes); });
}
SHOWN void* calloc(std::size_t count, std::size_t bytes) {
  return attempt([=] { return __libc_calloc(count, bytes); });
}
SHOWN void* realloc(void* at, std::size_t bytes) {
  return attempt([=] { return __libc_realloc(at, bytes); });
}
SHOWN void* memalign(std::size_t alignment, std::size_t bytes) {
  return attempt([=] { return __libc_memalign(alignment, bytes); });
}
SHOWN void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return attempt([=] { return __libc_memalign(alignment, bytes); });
}
SHOWN int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  *to = attempt([=] { return __libc_memalign(alignment, bytes); });
  return *to == nullptr ? ENOMEM : 0;
}
SHOWN void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  return fails_now() ? (errno = ENOMEM, reinterpret_cast<void*>(-1))
                     : reinterpret_cast<void*>(
                           ::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
