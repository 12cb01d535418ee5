// Long copies from this process's memory to a heap, and the fences.
#include "rma/copy.hpp"

#include <cstring>

#include "sinew/base/settings.hpp"
#include "sinew/rma/engine.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sinew::rma {
namespace {

// What another core has written and holds in its own cache costs the reader 5 to 40 ns a line, from
// memory 2: from 16 KiB on a put that goes around the caches is read sooner, by 1.5 to 7 times, as
// a virtual machine's processors are near each other or far. (Where they are near, a put of 512 KiB
// to 4 MiB would be up to twice as fast through the caches.)
setting<std::int64_t> stream_from("rma", "stream_from", std::int64_t{16} << 10, "bytes",
                                  "from this size on puts go around the caches");

#if defined(__x86_64__)
/// Stores that go around the caches: they spare the reading of lines that are overwritten whole.
void copy_around_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const std::size_t head = (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64;
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // such stores are ordered by nothing else
  std::memcpy(to, from, bytes);
}
#else
void copy_around_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace

void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes < static_cast<std::size_t>(stream_from())) [[likely]] {
    std::memcpy(to, from, bytes);
  } else {
    copy_around_caches(to, from, bytes);
  }
}

void engine::move_long(std::byte* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) {
    copy(to, static_cast<const std::byte*>(from), bytes);
  }
}

void engine::store_fence() noexcept {
#if defined(__aarch64__)
  asm volatile("dmb ishst" ::: "memory");
#elif !defined(__x86_64__)
  __sync_synchronize();
#endif  // x86-64: stores are seen in order, and copy() has fenced those that are not
}

void engine::full_fence() noexcept {
#if defined(__x86_64__)
  asm volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");  // half the time of mfence
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  __sync_synchronize();
#endif
}

}  // namespace sinew::rma
