// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/other_mpi.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "sinew/base/check.hpp"
#include "sinew/run/dynamic_linker.hpp"
#include "sinew/run/process_tree.hpp"

namespace sinew::tool {
namespace {

struct mpi_name {
  std::string_view begins;
  mpi_abi abi;
  bool speaks_pmi1;
};

const mpi_name* find_name(std::string_view file_name) {
  // Those of the standard ABI, of MPICH and Open MPI and what descends from them, and of HPE Cray.
  // The first that fits counts: MPICH's ABI is known by its number. A program in Fortran or C++ may
  // name the library of that binding alone.
  static constexpr std::array<mpi_name, 17> names = {
      {{"libmpi_abi.so", mpi_abi::standard, false},
       {"libmpi.so.12", mpi_abi::mpich, true},
       {"libmpifort.so.12", mpi_abi::mpich, true},
       {"libmpichfort.so.12", mpi_abi::mpich, true},
       {"libmpicxx.so.12", mpi_abi::mpich, true},
       {"libmpi.so.40", mpi_abi::openmpi, false},
       {"libmpi_mpifh.so.40", mpi_abi::openmpi, false},
       {"libmpi_usempi", mpi_abi::openmpi, false},
       {"libmpi_cxx.so.40", mpi_abi::openmpi, false},
       {"libmpi.so", mpi_abi::unknown, false},
       {"libmpich.so.12", mpi_abi::mpich, true},
       {"libmpich.so", mpi_abi::unknown, true},
       {"libmpi_cray.", mpi_abi::unknown, false},
       {"libmpi_gnu", mpi_abi::unknown, false},
       {"libmpi_amd", mpi_abi::unknown, false},
       {"libmpi_intel", mpi_abi::unknown, false},
       {"libmpi_nvidia", mpi_abi::unknown, false}}};
  const auto found = std::find_if(names.begin(), names.end(), [&](const mpi_name& each) {
    return file_name.starts_with(each.begins);
  });
  return found == names.end() ? nullptr : &*found;
}

/// Whether the file at this path is an MPI library, and not of Sinew.
bool is_other_mpi(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  const auto file_name = std::string_view(path).substr(name);
  return name != 0 && is_mpi_library(file_name) && !is_ours(path.substr(0, name), file_name);
}

}  // namespace

bool is_mpi_library(std::string_view file_name) { return find_name(file_name) != nullptr; }

mpi_abi abi_of(std::string_view file_name) {
  const mpi_name* const found = find_name(file_name);
  SINEW_EXPECT(found != nullptr);
  return found->abi;
}

bool speaks_pmi1(std::string_view file_name) {
  const mpi_name* const found = find_name(file_name);
  return found != nullptr && found->speaks_pmi1;
}

std::string linked_other_mpi(const std::string& program,
                             const std::vector<std::string>& environment) {
  for (const linked_library& each : link(program, environment, asked::libraries).libraries) {
    if (is_other_mpi(each.path)) {
      return each.path;
    }
  }
  return {};
}

std::string loaded_other_mpi(pid_t process) {
  for (const pid_t each : process_tree(process, 64)) {
    std::ifstream maps(folder_of(each) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      line.erase(0, std::min(line.find('/'), line.size()));
      if (is_other_mpi(line)) {
        return line;
      }
    }
  }
  return {};
}

}  // namespace sinew::tool
