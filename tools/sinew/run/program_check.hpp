// SPDX-License-Identifier: BSD-3-Clause
// What a program is, which MPI it was built with, and whether it runs on Sinew.
#pragma once

#include <string>
#include <vector>

namespace sinew::tool {

struct program_facts {
  std::string kind;        ///< "a program for x86-64"
  std::string mpi;         ///< of what ABI, and by which library; "none" if it names no MPI
  std::string found;       ///< the path of that library as a rank finds it; empty: none
  std::string interfaces;  ///< by which of MPI's interfaces it calls: "C, Fortran (mpi_f08)"
  /// Why it does not run, or not on Sinew; a sentence each.
  std::vector<std::string> faults;
  /// What cannot be seen from here; a sentence each.
  std::vector<std::string> remarks;
};

/// Of a program, a library or a script, as a rank in this environment would load it. Starts the
/// dynamic linker (dynamic_linker.hpp). Cold.
[[nodiscard]] program_facts examine(const std::string& path,
                                    const std::vector<std::string>& environment);

/// Why what this program loads cannot work together: its parts were built with different MPIs.
/// Else empty.
[[nodiscard]] std::string why_two_mpis(const std::string& program,
                                       const std::vector<std::string>& environment);

}  // namespace sinew::tool
