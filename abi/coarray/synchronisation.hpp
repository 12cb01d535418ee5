// SPDX-License-Identifier: BSD-3-Clause
// Locks, events and atomic variables: elements of 16 bytes in the heap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::coarray {

/// One element of a coarray of locks or events.
struct synchronisation {
  std::uint64_t word;  ///< a lock of rma, or the number of posts not yet consumed
  std::uint64_t left;  ///< of a lock: how its holder left (image_words), if it held it then
};
// Two words without a gap: the compiler passes numbers of elements.
static_assert(sizeof(synchronisation) == 16 && offsetof(synchronisation, left) == 8);

/// This image leaves as `status` (of image_words): the locks that it holds are released, and
/// `left` records how.
void abandon_locks(std::uint64_t status);

/// A program may look at a variable until it changes. From time to time such a look helps others.
/// `by`: what looks.
void look_around(const char* by) noexcept;

}  // namespace sinew::coarray
