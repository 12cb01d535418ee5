// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK: looks for wrong calls while the program runs. What is found in a call is an
// error of that call, by the error handler that decides; what is found at MPI_Finalize is told.
// Each finding names the ranks, the calls and their lines.
#pragma once

#include <cstdint>
#include <string>

#include "abi/mpi/watch.hpp"

namespace sinew::mpi::check {

/// As in the setting.
enum class what : std::uint8_t { collectives, kinds, buffers, windows, leaks };

[[nodiscard]] bool wanted() noexcept;  ///< any
[[nodiscard]] bool wanted(what it) noexcept;

// --- of each call (watch.cpp) ---

/// It has run. Throws what has been found.
void end(const watch::call& call);
/// The same, and it has failed.
void forget(const watch::call& call) noexcept;

// --- MPI_Finalize ---

/// Tells what the program has left. All ranks of MPI_COMM_WORLD, before they part. Suspends.
void finish();

// --- for the checks ---

/// "MPI_Isend, in exchange (halo.c:38)".
[[nodiscard]] std::string text_of(const char* call, const void* site);
/// Throws it as an error of the call, and reports it.
[[noreturn, gnu::cold]] void found(const watch::call& call, int code, const std::string& sentence);
/// Adds it to the file of SINEW_MPI_CHECK_REPORT, if there is one.
void report(const std::string& ranks, int code, const std::string& sentence);

}  // namespace sinew::mpi::check
