// SPDX-License-Identifier: BSD-3-Clause
// Whether a program runs on another MPI than Sinew's: what it is linked to, and what it has opened.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/own_libraries.hpp"

namespace sinew::tool {

/// A name that MPI libraries have, those of other implementations and ours.
[[nodiscard]] bool is_mpi_library(std::string_view file_name);
/// Whose ABI the library with this name has, which is an MPI library's.
[[nodiscard]] mpi_abi abi_of(std::string_view file_name);
/// Whether the MPI whose library has this name speaks PMI-1, as our launcher does.
[[nodiscard]] bool speaks_pmi1(std::string_view file_name);

/// The path of another MPI's library among all that the dynamic linker loads for this program in
/// this environment, or empty. Asks the dynamic linker (dynamic_linker.hpp).
[[nodiscard]] std::string linked_other_mpi(const std::string& program,
                                           const std::vector<std::string>& environment);

/// The path of another MPI's library that this process or one of its descendants has loaded, or
/// empty.
[[nodiscard]] std::string loaded_other_mpi(pid_t process);

}  // namespace sinew::tool
