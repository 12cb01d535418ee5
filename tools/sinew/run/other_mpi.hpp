// Whether a program runs on another MPI than Sinew's: what it is linked to, and what it has opened.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

/// A name that MPI libraries have, those of other implementations and ours.
[[nodiscard]] bool is_mpi_library(std::string_view file_name);
/// The folders below `libraries`, this installation's, with libraries of other MPIs' ABIs
/// (abi/foreign).
[[nodiscard]] std::vector<std::string> foreign_folders(const std::string& libraries);
/// Whether there is a library of that name in one of them.
[[nodiscard]] bool has_foreign(const std::string& libraries, const std::string& file_name);
/// Whether the MPI whose library has this name speaks PMI-1, as our launcher does.
[[nodiscard]] bool speaks_pmi1(std::string_view file_name);

/// The path of another MPI's library among all that the dynamic linker loads for this program in
/// this environment, or empty. Starts the dynamic linker, which takes a millisecond, and waits for
/// it for a second at most.
[[nodiscard]] std::string linked_other_mpi(const std::string& program,
                                           const std::vector<std::string>& environment);

/// The path of another MPI's library that this process or one of its descendants has loaded, or
/// empty.
[[nodiscard]] std::string loaded_other_mpi(pid_t process);

}  // namespace sinew::tool
