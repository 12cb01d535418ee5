// SPDX-License-Identifier: BSD-3-Clause
// Counts what the calling thread allocates with operator new, and makes a chosen allocation fail.
// Replaces the operators of the whole program: include it in one source file of a program. Those of
// ThreadSanitizer cannot be replaced: there nothing is counted and nothing fails.
#pragma once

#include <cstdlib>
#include <new>

namespace sinew::test {

inline thread_local long allocations = 0;
/// The allocation that fails, counted down; 0: none.
inline thread_local long fails_at = 0;

}  // namespace sinew::test

#ifndef SINEW_TSAN
// Not inlined: gcc would take free() beside a new-expression for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++sinew::test::allocations;
  if (sinew::test::fails_at > 0 && --sinew::test::fails_at == 0) {
    throw std::bad_alloc();
  }
  if (void* room = std::malloc(bytes == 0 ? 1 : bytes)) {
    return room;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++sinew::test::allocations;
  if (sinew::test::fails_at > 0 && --sinew::test::fails_at == 0) {
    throw std::bad_alloc();
  }
  void* room = nullptr;
  if (::posix_memalign(&room, static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes) == 0) {
    return room;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* room, std::align_val_t) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete(void* room, std::size_t, std::align_val_t) noexcept {
  std::free(room);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
[[gnu::noinline]] void operator delete[](void* room, std::align_val_t) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete[](void* room, std::size_t, std::align_val_t) noexcept {
  std::free(room);
}
// The array and nothrow forms end in these by default, but not with the address sanitizer.
[[gnu::noinline]] void operator delete(void* room) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete(void* room, std::size_t) noexcept { std::free(room); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete[](void* room) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete[](void* room, std::size_t) noexcept { std::free(room); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& no) noexcept {
  return operator new(bytes, no);
}
#endif
