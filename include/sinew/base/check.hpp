// SPDX-License-Identifier: BSD-3-Clause
// Three words for programmers, compiled in debug and test builds: EXPECT on entry, ASSERT inside,
// ENSURE on exit. One for users, always on: CHECK, which throws sinew::error.
#pragma once

#include <string>

namespace sinew::detail {

/// Prints the failed assertion with its place and aborts. Grade: cold.
[[noreturn]] void assertion_failed(const char* kind, const char* condition, const char* file,
                                   int line);

/// Throws sinew::error{what, why, hint}. Grade: cold.
[[noreturn]] void check_failed(std::string what, std::string why, std::string hint);

}  // namespace sinew::detail

#if defined(SINEW_CHECKED)
#define SINEW_ASSERTION_(kind, condition) \
  ((condition) ? void(0) : ::sinew::detail::assertion_failed(kind, #condition, __FILE__, __LINE__))
#else
#define SINEW_ASSERTION_(kind, condition) void(sizeof(!(condition)))
#endif

#define SINEW_EXPECT(condition) SINEW_ASSERTION_("expected on entry", condition)
#define SINEW_ASSERT(condition) SINEW_ASSERTION_("asserted", condition)
#define SINEW_ENSURE(condition) SINEW_ASSERTION_("ensured on exit", condition)

/// SINEW_CHECK(condition, what, why, hint): the strings are evaluated only on failure.
#define SINEW_CHECK(condition, what, why, hint) \
  ((condition) ? void(0) : ::sinew::detail::check_failed((what), (why), (hint)))
