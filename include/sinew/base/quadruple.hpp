// SPDX-License-Identifier: BSD-3-Clause
// The real number of 128 bits of IEEE 754, which compilers for x86-64 and for arm64 call by
// different names.
#pragma once

#include <limits>

namespace sinew {

#if defined(__SIZEOF_FLOAT128__)
__extension__ using quadruple = __float128;
#else  // arm64: C's long double is one
using quadruple = long double;
static_assert(std::numeric_limits<long double>::digits == 113);
#endif

}  // namespace sinew
