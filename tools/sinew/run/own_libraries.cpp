// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/own_libraries.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::tool {
namespace {

struct foreign_place {
  mpi_abi abi;
  std::string_view folder;   ///< below a tree's libraries
  std::string_view library;  ///< its MPI library's name
};
constexpr std::array places = {foreign_place{mpi_abi::mpich, "/sinew/mpich", "libmpi.so.12"},
                               foreign_place{mpi_abi::openmpi, "/sinew/openmpi", "libmpi.so.40"}};

constexpr std::array bindings_over_mpi = {std::string_view("libcaf_sinew"),
                                          std::string_view("libmpifort_abi.")};

}  // namespace

bool is_binding_over_mpi(std::string_view file_name) {
  return std::any_of(bindings_over_mpi.begin(), bindings_over_mpi.end(),
                     [file_name](std::string_view each) { return file_name.starts_with(each); });
}

bool has_own_name(std::string_view file_name) {
  return file_name.starts_with("libsinew") || is_binding_over_mpi(file_name);
}

std::string_view name_of(mpi_abi abi) {
  switch (abi) {
    case mpi_abi::standard:
      return "the standard ABI";
    case mpi_abi::mpich:
      return "MPICH's ABI";
    case mpi_abi::openmpi:
      return "Open MPI's ABI";
    default:
      return "an ABI that Sinew does not have";
  }
}

std::string tree_libraries() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || size == static_cast<ssize_t>(path.size())) {
    return {};
  }
  std::string folder(path.data(), static_cast<std::size_t>(size));
  for (int up = 0; up < 2; ++up) {
    folder.resize(std::min(folder.size(), folder.rfind('/')));
  }
  return folder + "/lib";
}

std::string library_folder() {
  std::string folder = tree_libraries();
  return ::access((folder + "/libmpi_abi.so.1").c_str(), R_OK) == 0 ? folder : std::string();
}

std::vector<std::string> foreign_folders(const std::string& libraries) {
  std::vector<std::string> found;
  for (const foreign_place& each : places) {
    std::string folder = libraries + std::string(each.folder);
    if (::access(folder.c_str(), X_OK) == 0) {
      found.push_back(std::move(folder));
    }
  }
  return found;
}

bool has_foreign(const std::string& libraries, const std::string& file_name) {
  const std::vector<std::string> all = foreign_folders(libraries);
  return std::any_of(all.begin(), all.end(), [&](const std::string& folder) {
    return ::access((folder + "/" + file_name).c_str(), R_OK) == 0;
  });
}

bool is_ours(std::string_view folder, std::string_view file_name) {
  SINEW_EXPECT(folder.ends_with('/'));
  folder.remove_suffix(1);
  bool has_name = file_name.starts_with("libmpi_abi.so");
  for (const foreign_place& each : places) {
    if (folder.ends_with(each.folder)) {
      folder.remove_suffix(each.folder.size());
      has_name = true;
    }
  }
  return has_name && ::access((std::string(folder) + "/libsinew.so.0").c_str(), F_OK) == 0;
}

// The order in which wheels of mpi4py look. The wheels of MPICH and Open MPI have a text of the
// first name, for compilers, which is not a library.
mpi_abi abi_of_python(const std::string& program, const std::string& virtual_environment) {
  std::error_code none;
  const std::filesystem::path place = std::filesystem::absolute(program, none);
  for (const std::filesystem::path& folder :
       {place.parent_path().parent_path(), std::filesystem::path(virtual_environment)}) {
    if (folder.empty() || folder == "/usr") {
      continue;  // no Python environment
    }
    const std::string link =
        std::filesystem::read_symlink(folder / "lib/libmpi.so", none).filename();
    for (const foreign_place& each : places) {
      if (link.starts_with(each.library)) {
        return each.abi;
      }
    }
    for (const foreign_place& each : places) {
      if (std::filesystem::exists(folder / "lib" / each.library, none)) {
        return each.abi;
      }
    }
  }
  return mpi_abi::mpich;
}

// Wheels of mpi4py look into Python's own folders before they ask the dynamic linker, unless
// MPI4PY_LIBMPI names a library; which also says the ABI.
std::vector<variable> variables_for(std::span<const mpi_abi> abis, mpi_abi python) {
  const std::string own = library_folder();
  if (own.empty()) {
    return {};
  }
  std::string path = own;
  std::string of_python;
  for (const foreign_place& each : places) {
    const std::string folder = own + std::string(each.folder);
    const std::string library = folder + "/" + std::string(each.library);
    if (std::find(abis.begin(), abis.end(), each.abi) != abis.end() &&
        ::access(library.c_str(), R_OK) == 0) {
      path += ":" + folder;
      of_python = of_python.empty() || each.abi == python ? library : of_python;
    }
  }
  std::vector<variable> all = {{"LD_LIBRARY_PATH", path, true}};
  if (!of_python.empty()) {
    all.push_back({"MPI4PY_LIBMPI", of_python});
  }
  return all;
}

void assign(std::vector<std::string>& environment, const std::string& name,
            const std::string& value) {
  const std::string start = name + "=";
  std::erase_if(environment, [&start](const std::string& each) { return each.starts_with(start); });
  environment.push_back(start + value);
}

void offer_libraries(std::vector<std::string>& environment, const std::string& program) {
  const auto find = [&environment](const std::string& start) {
    return std::find_if(environment.begin(), environment.end(),
                        [&start](const std::string& each) { return each.starts_with(start); });
  };
  const std::string virtual_start = "VIRTUAL_ENV=";
  const auto set = find(virtual_start);
  const mpi_abi python = abi_of_python(
      program, set == environment.end() ? std::string() : set->substr(virtual_start.size()));
  for (const variable& each : variables_for(all_abis, python)) {
    const std::string start = each.name + "=";
    const auto now = find(start);
    if (now == environment.end()) {
      environment.push_back(start + each.value);
    } else if (each.in_front) {
      // An empty element would mean the current folder.
      now->insert(start.size(), now->size() == start.size() ? each.value : each.value + ":");
    }
  }
}

}  // namespace sinew::tool
