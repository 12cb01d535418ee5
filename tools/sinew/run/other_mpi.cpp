#include "sinew/run/other_mpi.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/run/elf_file.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/process_tree.hpp"

namespace sinew::tool {
namespace {

struct mpi_name {
  std::string_view begins;
  bool speaks_pmi1;
};

const mpi_name* find_name(std::string_view file_name) {
  // Those of the standard ABI, of MPICH and Open MPI and what descends from them, and of HPE Cray.
  // The first that fits counts: MPICH's ABI is known by its number.
  static constexpr std::array<mpi_name, 9> names = {{{"libmpi_abi.so", false},
                                                     {"libmpi.so.12", true},
                                                     {"libmpi.so", false},
                                                     {"libmpich.so", true},
                                                     {"libmpi_cray.", false},
                                                     {"libmpi_gnu", false},
                                                     {"libmpi_amd", false},
                                                     {"libmpi_intel", false},
                                                     {"libmpi_nvidia", false}}};
  const auto found = std::find_if(names.begin(), names.end(), [&](const mpi_name& each) {
    return file_name.starts_with(each.begins);
  });
  return found == names.end() ? nullptr : &*found;
}

/// Below a tree's libraries, those of other MPIs' ABIs.
constexpr std::array<std::string_view, 2> foreign_names = {"/sinew/mpich", "/sinew/openmpi"};

/// Of whatever tree: others may lie in the same folder. `folder` ends with a slash.
bool is_ours(std::string_view folder, std::string_view file_name) {
  SINEW_EXPECT(folder.ends_with('/'));
  folder.remove_suffix(1);
  bool has_name = file_name.starts_with("libmpi_abi.so");
  for (const std::string_view name : foreign_names) {
    if (folder.ends_with(name)) {
      folder.remove_suffix(name.size());
      has_name = true;
    }
  }
  return has_name && ::access((std::string(folder) + "/libsinew.so").c_str(), F_OK) == 0;
}

/// The first other MPI's library among lines that name a file each, behind what else they have:
/// those of /proc/PID/maps, and what the dynamic linker lists ("name => path (address)").
std::string find_other_mpi(std::istream& lines) {
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find('/'), line.size()));
    line.resize(std::min(line.find(" ("), line.size()));
    const std::size_t name = line.rfind('/') + 1;
    const auto file_name = std::string_view(line).substr(name);
    if (is_mpi_library(file_name) && !is_ours(line.substr(0, name), file_name)) {
      return line;
    }
  }
  return {};
}

/// What the dynamic linker prints with --list (ld.so(8)): it loads the program's libraries, and
/// runs nothing of them. One that takes longer than a second has nothing to say.
std::string listed_libraries(const std::string& linker, const std::string& program,
                             const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const boot::descriptor in(ends[0]);
  boot::descriptor out(ends[1]);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&streams, out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&streams, 0, 2);
  std::string option = "--list";
  const std::array<char*, 4> words = {const_cast<char*>(linker.c_str()), option.data(),
                                      const_cast<char*>(program.c_str()), nullptr};
  std::vector<char*> variables;
  variables.reserve(environment.size() + 1);
  for (const std::string& each : environment) {
    variables.push_back(const_cast<char*>(each.c_str()));
  }
  variables.push_back(nullptr);
  pid_t child = -1;
  const int failure =
      ::posix_spawn(&child, linker.c_str(), &streams, nullptr, words.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&streams);
  if (failure != 0) {
    return {};
  }
  out.reset();
  std::string text;
  std::array<char, 4096> bytes;
  const std::int64_t until = now_ns() + second_ns;
  for (ssize_t got = 1; got > 0 && wait_ready(in.get(), POLLIN, until);) {
    got = ::read(in.get(), bytes.data(), bytes.size());
    text.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::kill(child, SIGKILL);
  // Wait: for the end of a process that has just been killed, or has closed its output.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::vector<std::string> foreign_folders(const std::string& libraries) {
  std::vector<std::string> found;
  for (const std::string_view name : foreign_names) {
    std::string folder = libraries + std::string(name);
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

bool is_mpi_library(std::string_view file_name) { return find_name(file_name) != nullptr; }

bool speaks_pmi1(std::string_view file_name) {
  const mpi_name* const found = find_name(file_name);
  return found != nullptr && found->speaks_pmi1;
}

std::string linked_other_mpi(const std::string& program,
                             const std::vector<std::string>& environment) {
  elf_file file(program);
  const std::string linker = file.is_elf() ? file.interpreter() : std::string();
  if (linker.empty()) {
    return {};
  }
  std::istringstream lines(listed_libraries(linker, program, environment));
  return find_other_mpi(lines);
}

std::string loaded_other_mpi(pid_t process) {
  for (const pid_t each : process_tree(process, 64)) {
    std::ifstream maps(folder_of(each) + "/maps");
    if (std::string found = find_other_mpi(maps); !found.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace sinew::tool
