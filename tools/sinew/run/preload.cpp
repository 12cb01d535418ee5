// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/preload.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "sinew/run/elf_file.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {
namespace {

/// The program behind "#!", or empty.
std::string script_interpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) {
    return {};
  }
  std::istringstream words(line.substr(2));
  std::string program;
  words >> program;
  if (program.ends_with("/env")) {
    std::string name;
    words >> name;
    return name.empty() ? program : find_program(name).path;
  }
  return program;
}

/// The sanitizer's library that this program is linked to, or empty.
std::string sanitizer_of(elf_file& elf) {
  for (const std::string& name : elf.needed()) {
    for (const std::string_view mark :
         {"libasan.", "libtsan.", "libubsan.", "liblsan.", "libhwasan."}) {
      if (name.starts_with(mark)) {
        return name;
      }
    }
  }
  return {};
}

std::string why_not_elf(const std::string& program) {
  elf_file elf(program);
  if (!elf.is_elf()) {
    return "is no program of this machine (ELF, 64 bits)";
  }
  if (!elf.is_x86_64()) {
    return "is built for another processor than x86-64";
  }
  const std::string linker = elf.interpreter();
  if (linker.empty()) {
    return "is statically linked: nothing can be put in front of its C library";
  }
  if (!linker.ends_with("/ld-linux-x86-64.so.2")) {
    return "uses another C library than glibc (" + linker + ")";
  }
  const std::string sanitizer = sanitizer_of(elf);
  return sanitizer.empty()
             ? sanitizer
             : "is built with a sanitizer (" + sanitizer + "), which follows kernel threads only";
}

}  // namespace

std::string why_no_fibers(const std::string& program) {
  if (const std::string why = why_environment_is_ignored(program); !why.empty()) {
    return why + ", so nothing may be loaded in front of it";
  }
  const std::string interpreter = script_interpreter(program);
  // One step: the kernel, too, wants a script's interpreter to be a program.
  return interpreter.empty() ? why_not_elf(program) : why_not_elf(interpreter);
}

std::string preload_value(std::string_view library, const std::string& folder,
                          const std::string& before) {
  return folder + "/" + std::string(library) + (before.empty() ? "" : ":" + before);
}

bool has_preloaded(std::string_view library, const std::string& folder) {
  return !folder.empty() && ::access((folder + "/" + std::string(library)).c_str(), R_OK) == 0;
}

bool takes_clock(const std::string& program) {
  elf_file elf(program);
  return !elf.is_elf() || sanitizer_of(elf).empty();
}

}  // namespace sinew::tool
