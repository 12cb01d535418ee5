// Three words for programmers, compiled in debug and test builds: EXPECT on entry, ASSERT inside,
// ENSURE on exit. One for users, always on: CHECK, which throws sinew::error.
#pragma once

#include <string>

namespace sinew::detail {

/// Prints the failed claim with its place and aborts. Grade: cold.
[[noreturn]] void claim_failed(const char* kind, const char* claim, const char* file, int line);

/// Throws sinew::error{what, why, hint}. Grade: cold.
[[noreturn]] void check_failed(std::string what, std::string why, std::string hint);

}  // namespace sinew::detail

#if defined(SINEW_CHECKED)
#define SINEW_CLAIM_(kind, claim) \
  ((claim) ? void(0) : ::sinew::detail::claim_failed(kind, #claim, __FILE__, __LINE__))
#else
#define SINEW_CLAIM_(kind, claim) void(sizeof(!(claim)))
#endif

#define SINEW_EXPECT(claim) SINEW_CLAIM_("expected on entry", claim)
#define SINEW_ASSERT(claim) SINEW_CLAIM_("asserted", claim)
#define SINEW_ENSURE(claim) SINEW_CLAIM_("ensured on exit", claim)

/// SINEW_CHECK(condition, what, why, hint): the strings are evaluated only on failure.
#define SINEW_CHECK(condition, what, why, hint) \
  ((condition) ? void(0) : ::sinew::detail::check_failed((what), (why), (hint)))
