// SPDX-License-Identifier: BSD-3-Clause
// What is installed on the machine: programs of PATH, and libraries that pkg-config knows.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

/// A program's path by the folders of PATH. Cold.
[[nodiscard]] std::optional<std::string> program_in_path(const std::string& name);

/// The value of an environment variable; empty if there is none.
[[nodiscard]] inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Whether a program's source is Fortran, by its name.
[[nodiscard]] inline bool is_fortran(std::string_view source) { return source.ends_with(".f90"); }

/// The files that measuring programs share: of the folder `common` below their sources, by name.
/// Cold.
[[nodiscard]] std::vector<std::string> common_sources(const std::string& sources);

/// What a program of PATH prints, its words apart; none if it is not there or fails. Suspends.
/// Cold.
[[nodiscard]] std::vector<std::string> answer_of(const std::string& program,
                                                 const std::vector<std::string>& words);

/// The version of the package that a file belongs to, as the system's package manager tells it;
/// "unknown" if it tells none. Suspends. Cold.
[[nodiscard]] std::string packaged_version(const std::string& file);

/// A library by its name for pkg-config. Suspends. Cold.
struct installed_package {
  std::string version;
  std::vector<std::string> flags;  ///< of compiler and linker; they may follow the source
};
[[nodiscard]] std::optional<installed_package> find_package(const std::string& name);

/// A library by the name of its CMake package, which is looked for in the folders of
/// CMAKE_PREFIX_PATH and NAME_ROOT, /usr/local and /usr. Its version, "unknown" if it tells none;
/// nothing where it is not, or CMake is not. Cold.
[[nodiscard]] std::optional<std::string> find_cmake_package(const std::string& name);

/// The compiler of Go. Suspends. Cold.
struct installed_go {
  std::string path;
  std::string version;
};
[[nodiscard]] std::optional<installed_go> find_go();

/// The program that runs Java, in JAVA_HOME or PATH, if it has virtual threads (version 21 and
/// later). Suspends. Cold.
struct installed_java {
  std::string path;
  std::string version;
};
[[nodiscard]] std::optional<installed_java> find_java();

}  // namespace sinew::tool
