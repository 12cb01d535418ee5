// SPDX-License-Identifier: BSD-3-Clause
// Where the libraries of this installation lie, and what lets a program find them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

/// What an MPI library's programs and it have agreed on: the types, numbers and names of its calls.
enum class mpi_abi { standard, mpich, openmpi, unknown };
/// For people: "MPICH's ABI".
[[nodiscard]] std::string_view name_of(mpi_abi abi);

/// ../lib of the running tool, or empty.
[[nodiscard]] std::string tree_libraries();
/// The same if our MPI library lies there; else empty.
[[nodiscard]] std::string library_folder();
/// The folders below `libraries`, an installation's, with libraries of other MPIs' ABIs
/// (abi/foreign).
[[nodiscard]] std::vector<std::string> foreign_folders(const std::string& libraries);
/// Whether there is a library of that name in one of them.
[[nodiscard]] bool has_foreign(const std::string& libraries, const std::string& file_name);
/// As only libraries of Sinew's are called, of whatever installation.
[[nodiscard]] bool has_own_name(std::string_view file_name);
/// The same, and it needs our MPI library.
[[nodiscard]] bool is_binding_over_mpi(std::string_view file_name);
/// Of whatever installation: others may lie in the same folder. `folder` ends with a slash.
[[nodiscard]] bool is_ours(std::string_view folder, std::string_view file_name);

/// A variable of the environment.
struct variable {
  std::string name;
  std::string value;
  bool in_front = false;  ///< a path: what the variable holds already comes behind it
};
/// The ABI of the MPI that lies in the Python environment of this interpreter, or else in this one
/// (VIRTUAL_ENV): other packages there were built for it, and share mpi4py's handles. MPICH's if
/// there is none.
[[nodiscard]] mpi_abi abi_of_python(const std::string& program,
                                    const std::string& virtual_environment);
/// Those that let a program find this installation's libraries of these ABIs; none if it has none.
/// mpi4py gets the library of ABI `python`, if that is among them.
[[nodiscard]] std::vector<variable> variables_for(std::span<const mpi_abi> abis, mpi_abi python);
inline constexpr mpi_abi all_abis[] = {mpi_abi::standard, mpi_abi::mpich, mpi_abi::openmpi};

/// Sets a variable, or replaces it.
void assign(std::vector<std::string>& environment, const std::string& name,
            const std::string& value);
/// The environment with variables_for() all ABIs, for this program. What the user has set stays,
/// if it is no path.
void offer_libraries(std::vector<std::string>& environment, const std::string& program);

}  // namespace sinew::tool
